package main

// steeltoeBody is what both generations register; the older one sends numbers for
// the times of the lease, the newer one texts.
func steeltoeBody(leaseTime string) string {
	return `{"instance":{"instanceId":{{quote .LANE_ID}},"app":"{{upper .LANE_APP}}","ipAddr":"{{.LANE_IP}}","sid":"na",
"port":{"@enabled":"true","$":{{.LANE_PORT}}},"securePort":{"@enabled":"false","$":{{.LANE_SECURE_PORT}}},
"homePageUrl":"http://{{.LANE_HOST}}:{{.LANE_PORT}}/","statusPageUrl":"http://{{.LANE_HOST}}:{{.LANE_PORT}}/info",
"healthCheckUrl":"http://{{.LANE_HOST}}:{{.LANE_PORT}}/health","vipAddress":"{{.LANE_VIP}}","secureVipAddress":"{{.LANE_VIP}}",
"countryId":1,"dataCenterInfo":{"@class":"com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo","name":"MyOwn"},
"hostName":"{{.LANE_HOST}}","status":"{{.STATUS}}","overriddenstatus":"UNKNOWN",
"leaseInfo":{"renewalIntervalInSecs":{{.LANE_RENEW_SECONDS}},"durationInSecs":{{.LANE_LEASE_SECONDS}},"registrationTimestamp":` + leaseTime +
		`,"lastRenewalTimestamp":` + leaseTime + `,"evictionTimestamp":` + leaseTime + `,"serviceUpTimestamp":` + leaseTime + `},
"isCoordinatingDiscoveryServer":"false","lastUpdatedTimestamp":"{{.DIRTY}}","lastDirtyTimestamp":"{{.DIRTY}}","actionType":"ADDED",
"metadata":{{.LANE_METADATA}}}}`
}

func steeltoe3() profile {
	header := accept(typeJSON)
	header["X-Discovery-AllowRedirect"] = "false"
	register := []request{post("apps/{{upper .LANE_APP}}", steeltoeBody("0"))}
	return profile{
		version: "3.x", id: plainID, header: header, gzip: true, register: register, rejoins: true, report: register,
		heartbeat: put(instancePath + "?status={{.STATUS}}&lastDirtyTimestamp={{.DIRTY}}"), stop: []request{remove(instancePath)},
		reads: &reads{
			full: "apps/", delta: "apps/delta", noNulls: true, enums: true,
			required: []string{keyID, keyApp, keyHost, keyIP, keyStatus, keyPort, keySecurePort, "leaseInfo", "dataCenterInfo.name"},
		},
	}
}

func steeltoe4() profile {
	const path = "apps/{{upper .LANE_APP}}/{{form .LANE_ID}}"
	header := accept(typeJSON)
	header["X-Discovery-AllowRedirect"], header["User-Agent"] = "false", "Steeltoe/4.0.0"
	register := []request{post("apps/{{upper .LANE_APP}}", steeltoeBody(`"0"`), anySuccess()...)}
	return profile{
		version: "4.x", id: plainID, header: header, gzip: true, register: register, rejoins: true, report: register,
		heartbeat: put(path+"?lastDirtyTimestamp={{.DIRTY}}", anySuccess()...), stop: []request{remove(path, anySuccess()...)},
		reads: &reads{
			full: pathApps, delta: "apps/delta", enums: true,
			required: []string{keyID, keyApp, keyHost, keyIP, "dataCenterInfo.name", keyPort, keySecurePort, keyCountry},
			texts:    []string{keyPortEnabled, "isCoordinatingDiscoveryServer", "lastDirtyTimestamp", "lastUpdatedTimestamp"},
			numbers:  []string{keyPort, keySecurePort, keyCountry, "leaseInfo.renewalIntervalInSecs", "leaseInfo.durationInSecs"},
		},
	}
}
