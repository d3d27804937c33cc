package main

const jvmBody = `{"instance":{"instanceId":{{quote .LANE_ID}},"hostName":"{{.LANE_HOST}}","app":"{{.LANE_APP}}","ipAddr":"{{.LANE_IP}}","status":"{{.STATUS}}",
"overriddenStatus":"UNKNOWN","port":{"$":{{.LANE_PORT}},"@enabled":"true"},"securePort":{"$":{{.LANE_SECURE_PORT}},"@enabled":"false"},
"countryId":1,"dataCenterInfo":{"@class":"com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo","name":"MyOwn"},
"leaseInfo":{"renewalIntervalInSecs":{{.LANE_RENEW_SECONDS}},"durationInSecs":{{.LANE_LEASE_SECONDS}}},
"homePageUrl":"http://{{.LANE_HOST}}:{{.LANE_PORT}}","statusPageUrl":"http://{{.LANE_HOST}}:{{.LANE_PORT}}/health",
"healthCheckUrl":"http://{{.LANE_HOST}}:{{.LANE_PORT}}/health","vipAddress":"{{.LANE_VIP}}","secureVipAddress":"{{.LANE_VIP}}",
"metadata":{{.LANE_METADATA}}}}`

// nacosSync keeps the case of the application, sends a secure port of 0, and names
// an overridden status in every heartbeat, which must not become an override.
func nacosSync() profile {
	const body = `{"instance":{"instanceId":{{quote .LANE_ID}},"app":"{{.LANE_APP}}","appGroupName":null,"ipAddr":"{{.LANE_IP}}","sid":"na",
"homePageUrl":null,"statusPageUrl":null,"healthCheckUrl":null,"secureHealthCheckUrl":null,"vipAddress":"{{.LANE_VIP}}",
"secureVipAddress":"{{.LANE_VIP}}","countryId":1,"hostName":"{{.LANE_HOST}}","status":"UP","overriddenStatus":"UNKNOWN",
"dataCenterInfo":{"@class":"com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo","name":"MyOwn"},
"leaseInfo":{"renewalIntervalInSecs":{{.LANE_RENEW_SECONDS}},"durationInSecs":{{.LANE_LEASE_SECONDS}},"registrationTimestamp":0,
"lastRenewalTimestamp":0,"evictionTimestamp":0,"serviceUpTimestamp":0},"isCoordinatingDiscoveryServer":false,
"lastUpdatedTimestamp":{{.DIRTY}},"lastDirtyTimestamp":{{.DIRTY}},"actionType":null,"asgName":null,
"port":{"$":{{.LANE_PORT}},"@enabled":"true"},"securePort":{"$":0,"@enabled":"false"},"metadata":{{.LANE_METADATA}}}}`
	const path = "apps/{{.LANE_APP}}/{{.LANE_ID}}"
	return profile{
		version: "0c35e09", id: plainID, header: accept("application/json, application/*+json"), gzip: true,
		register:  []request{post("apps/{{.LANE_APP}}", body, anySuccess()...)},
		heartbeat: put(path + "?status=UP&lastDirtyTimestamp={{.DIRTY}}&overriddenstatus=UP"), stop: []request{remove(path)},
		reads: &reads{byApp: "apps/{{.WATCHED}}", enums: true, required: []string{keyStatus}},
	}
}

// micronaut says by the status resource that it is UP, and sends metadata apart.
func micronaut() profile {
	const path = "apps/{{.LANE_APP}}/{{.LANE_ID}}"
	return profile{
		version: "32bfaab", id: plainID, header: typedJSON(), gzip: true, rejoins: true,
		register: []request{
			post("apps/{{.LANE_APP}}", jvmBody, anySuccess()...),
			put(path + "/status?value=UP"), put(path + "/metadata?zone=zone-1"),
		},
		heartbeat: put(path), stop: []request{remove(path)},
		reads: &reads{full: pathApps, enums: true, required: []string{keyID, keyApp, keyHost, keyIP, "port", keyStatus}},
	}
}

// armeria refuses an instance that lacks any of its keys.
func armeria() profile {
	const path = "apps/{{.LANE_APP}}/{{.LANE_ID}}"
	register := []request{post("apps/{{.LANE_APP}}", jvmBody)}
	return profile{
		version: "0241e20", id: plainID, header: accept(typeJSON), gzip: true, rejoins: true, register: register, report: register,
		heartbeat: put(path + "?status={{.STATUS}}&lastDirtyTimestamp={{.DIRTY}}"), stop: []request{remove(path)},
		reads: &reads{full: "apps/", enums: true, required: []string{keyID, "port", "securePort", keyStatus, "leaseInfo", keyMetadata}},
	}
}

// stork never renews: it asks for a lease that lasts.
func stork() profile {
	const id = "{{.LANE_APP}}::{{.LANE_IP}}::{{.LANE_PORT}}"
	const body = `{"instance":{"instanceId":"` + id + `","hostName":"{{.LANE_HOST}}","app":"{{.LANE_APP}}","ipAddr":"{{.LANE_IP}}","status":"UP",
"vipAddress":"{{.LANE_VIP}}","secureVipAddress":"{{.LANE_VIP}}","port":{"$":{{.LANE_PORT}},"@enabled":"true"},
"dataCenterInfo":{"@class":"com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo","name":"MyOwn"},
"leaseInfo":{"renewalIntervalInSecs":10000,"durationInSecs":10000},"metadata":{{.LANE_METADATA}}}}`
	leave := remove("apps/{{.LANE_APP}}/" + id)
	leave.header = accept("application/xml")
	return profile{
		version: "edfeeea", id: id, register: []request{post("apps/{{.LANE_APP}}", body)}, stop: []request{leave},
		reads: &reads{
			byApp: "apps/{{.WATCHED}}", header: accept("application/json;charset=UTF-8"),
			required: []string{keyID, keyStatus, keyOverridden, keyPort, keyMetadata},
		},
	}
}
