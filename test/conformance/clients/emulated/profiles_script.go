package main

// waspEureka decodes the body of every answer, so an answer without a type is a
// failure even if it is empty.
func waspEureka() profile {
	const body = `{"instance":{"instanceId":{{quote .LANE_ID}},"hostName":"{{.LANE_HOST}}","app":"{{.LANE_APP}}","ipAddr":"{{.LANE_IP}}",
"vipAddress":"{{.LANE_VIP}}","secureVipAddress":"{{.LANE_VIP}}","port":{"$":{{.LANE_PORT}},"@enabled":true},
"leaseInfo":{"durationInSecs":{{.LANE_LEASE_SECONDS}},"renewalIntervalInSecs":{{.LANE_RENEW_SECONDS}}},
"dataCenterInfo":{"name":"MyOwn","@class":"com.netflix.appinfo.MyDataCenterInfo"},"metadata":{{.LANE_METADATA}}}}`
	const path = "apps/{{.LANE_APP}}/{{.LANE_ID}}"
	return profile{
		version: "1.1.1", id: plainID, header: typedJSON(), gzip: true, answersAreJSON: true,
		register: []request{post("apps/{{.LANE_APP}}", body)}, heartbeat: put(path + "?status=UP"), stop: []request{remove(path)},
		override: []request{put(path + "/status?value={{.OVERRIDE}}")}, clear: []request{remove(path + "/status")},
		reads: &reads{full: pathApps, required: []string{keyPort, keyStatus}},
	}
}

// pythonEureka is of the time of Python 2: times are texts or empty, and the data
// center is of a class that is none.
func pythonEureka() profile {
	const body = `{"instance":{"instanceId":{{quote .LANE_ID}},"hostName":"{{.LANE_HOST}}","app":"{{upper .LANE_APP}}","ipAddr":"{{.LANE_IP}}",
"status":"UP","overriddenstatus":"UNKNOWN","homePageUrl":null,"statusPageUrl":null,"healthCheckUrl":null,
"vipAddress":"{{.LANE_VIP}}","secureVipAddress":"{{.LANE_VIP}}","port":{"$":{{.LANE_PORT}},"@enabled":true},
"securePort":{"$":{{.LANE_SECURE_PORT}},"@enabled":false},"countryId":1,
"leaseInfo":{"durationInSecs":{{.LANE_LEASE_SECONDS}},"renewalIntervalInSecs":{{.LANE_RENEW_SECONDS}},"registrationTimestamp":"",
"lastRenewalTimestamp":"1700000000","evictionTimestamp":"","serviceUpTimestamp":""},
"dataCenterInfo":{"@class":"com.netflix.appinfo.DataCenterInfo","name":"MyOwn"},"isCoordinatingDiscoveryServer":"false",
"metadata":{{.LANE_METADATA}}}}`
	return profile{
		version: "0.6.1", id: plainID, register: []request{post("apps/{{upper .LANE_APP}}", body, anySuccess()...)},
		heartbeat: put(instancePath, anySuccess()...), stop: []request{remove(instancePath, anySuccess()...)},
		reads: &reads{full: pathApps, header: accept(typeJSON)},
	}
}

const phpBody = `{"instance":{"instanceId":{{quote .LANE_ID}},"hostName":"{{.LANE_HOST}}","app":"{{.LANE_APP}}","ipAddr":"{{.LANE_IP}}","status":"UP",
"overriddenstatus":"UNKNOWN","port":{"$":"{{.LANE_PORT}}","@enabled":%ENABLED%},"securePort":{"$":"{{.LANE_SECURE_PORT}}","@enabled":%DISABLED%},
"countryId":"1","dataCenterInfo":{"@class":"com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo","name":"MyOwn"},
"leaseInfo":{"renewalIntervalInSecs":{{.LANE_RENEW_SECONDS}},"durationInSecs":{{.LANE_LEASE_SECONDS}}},
"homePageUrl":"http://{{.LANE_HOST}}:{{.LANE_PORT}}/","statusPageUrl":"http://{{.LANE_HOST}}:{{.LANE_PORT}}/info",
"healthCheckUrl":"http://{{.LANE_HOST}}:{{.LANE_PORT}}/health","vipAddress":"{{.LANE_VIP}}","secureVipAddress":"{{.LANE_VIP}}",
"isCoordinatingDiscoveryServer":"false","metadata":{{.LANE_METADATA}}}}`

// phpLoparev puts instances out and back by the status resource.
func phpLoparev() profile {
	const path = "apps/{{.LANE_APP}}/{{.LANE_ID}}"
	return profile{
		version: "1c8c7d7", id: plainID, header: typedJSON(), register: []request{post("apps/{{.LANE_APP}}", enabled(phpBody, `"true"`, `"false"`), anySuccess()...)},
		heartbeat: put(path), stop: []request{remove(path)},
		override: []request{put(path + "/status?value={{.OVERRIDE}}")}, clear: []request{put(path + "/status?value=UP")},
		reads: &reads{full: pathApps},
	}
}

func phpPiwvh() profile {
	const path = "apps/{{.LANE_APP}}/{{.LANE_ID}}"
	return profile{
		version: "4dc2688", id: plainID, header: typedJSON(), register: []request{post("apps/{{.LANE_APP}}", enabled(phpBody, "true", "false"))},
		heartbeat: put(path), stop: []request{remove(path)},
		reads: &reads{byApp: "apps/{{.WATCHED}}"},
	}
}

// luaResty stops renewing for good after one answer that is not 200.
func luaResty() profile {
	const body = `{"instance":{"instanceId":{{quote .LANE_ID}},"hostName":"{{.LANE_HOST}}","app":"{{upper .LANE_APP}}","ipAddr":"{{.LANE_IP}}",
"vipAddress":"{{.LANE_VIP}}","status":"UP","port":{"$":{{.LANE_PORT}},"@enabled":"true"},"securePort":{"$":{{.LANE_SECURE_PORT}},"@enabled":"false"},
"dataCenterInfo":{"@class":"com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo","name":"MyOwn"},
"leaseInfo":{"renewalIntervalInSecs":{{.LANE_RENEW_SECONDS}},"durationInSecs":{{.LANE_LEASE_SECONDS}}},"metadata":{{.LANE_METADATA}}}}`
	header := accept(typeJSON)
	header["User-Agent"] = "ngx_lua-EurekaClient/v0.3.2"
	return profile{
		version: "d2991c1", id: plainID, header: header, register: []request{post("apps/{{upper .LANE_APP}}", body)},
		heartbeat: put(instancePath), stop: []request{remove(instancePath)},
		override: []request{put(instancePath + "/status?value={{.OVERRIDE}}")}, clear: []request{remove(instancePath + "/status?value=UP")},
		reads: &reads{full: pathApps, noNulls: true},
	}
}

// eurexa sends bare numbers for ports and goes by its host name.
func eurexa() profile {
	const body = `{"instance":{"hostName":"{{.LANE_HOST}}","app":"{{.LANE_APP}}","ipAddr":"{{.LANE_IP}}","vipAddress":"{{.LANE_VIP}}",
"secureVipAddress":"{{.LANE_VIP}}","status":"UP","port":{{.LANE_PORT}},"securePort":{{.LANE_SECURE_PORT}},"homePageUrl":null,
"statusPageUrl":null,"healthCheckUrl":null,"dataCenterInfo":{"name":"MyOwn","metadata":{}},
"leaseInfo":{"evictionDurationInSecs":{{.LANE_LEASE_SECONDS}}},"metadata":{{.LANE_METADATA}}}}`
	const path = "apps/{{.LANE_APP}}/{{.LANE_HOST}}"
	return profile{
		version: "d428d57", id: hostID, header: typedJSON(), register: []request{post("apps/{{.LANE_APP}}", body, anySuccess()...)},
		heartbeat: put(path), stop: []request{remove(path)},
	}
}
