package main

import (
	"net/http"
	"strings"
)

// enabled fills in how a client spells that a port is in use.
func enabled(body, yes, no string) string {
	return strings.NewReplacer("%ENABLED%", yes, "%DISABLED%", no).Replace(body)
}

// hikoQiu registers and then says by the status resource that it is UP. It never
// registers again.
func hikoQiu() profile {
	const body = `{"instance":{"instanceId":{{quote .LANE_ID}},"hostName":"{{.LANE_HOST}}","app":"{{upper .LANE_APP}}","ipAddr":"{{.LANE_IP}}",
"status":"UP","overriddenstatus":"UNKNOWN","port":{"$":{{.LANE_PORT}},"@enabled":"true"},"securePort":{"$":{{.LANE_SECURE_PORT}},"@enabled":"false"},
"dataCenterInfo":{"name":"MyOwn","@class":"com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo"},
"leaseInfo":{"eviction_duration_in_secs":30,"renewalIntervalInSecs":{{.LANE_RENEW_SECONDS}},"durationInSecs":{{.LANE_LEASE_SECONDS}}},
"metadata":{{.LANE_METADATA}},"vipAddress":"{{.LANE_VIP}}","secureVipAddress":"{{.LANE_VIP}}","homePageUrl":"http://{{.LANE_IP}}:{{.LANE_PORT}}",
"statusPageUrl":"http://{{.LANE_IP}}:{{.LANE_PORT}}/info","healthCheckUrl":"http://{{.LANE_IP}}:{{.LANE_PORT}}/health"}}`
	header := typedJSON()
	header["User-Agent"] = "go-resty/1.12.0 (https://github.com/go-resty/resty)"
	up := put(instancePath+"/status?value=UP", anySuccess()...)
	return profile{
		version: "ac92e3f", id: plainID, header: header, gzip: true,
		register:  []request{post("apps/{{upper .LANE_APP}}", body, anySuccess()...), up},
		heartbeat: put(instancePath, anySuccess()...), stop: []request{remove(instancePath, anySuccess()...)},
		override: []request{put(instancePath+"/status?value={{.OVERRIDE}}", anySuccess()...)}, clear: []request{up},
		reads: &reads{
			full:    pathApps,
			texts:   []string{keyPortEnabled, "isCoordinatingDiscoveryServer", "lastUpdatedTimestamp", "lastDirtyTimestamp", "dataCenterInfo.metadata"},
			numbers: []string{keyPort, keySecurePort, keyCountry},
		},
	}
}

// fargoXML is the body of the clients that stand on fargo, with its empty elements
// and zeros.
const fargoXML = `<instance><instanceId></instanceId><hostName>%HOST%</hostName><app>{{.LANE_APP}}</app><ipAddr>{{.LANE_IP}}</ipAddr>` +
	`<vipAddress>{{.LANE_VIP}}</vipAddress><secureVipAddress>{{.LANE_VIP}}</secureVipAddress><status>{{.STATUS}}</status>` +
	`<overriddenstatus></overriddenstatus><homePageUrl></homePageUrl><statusPageUrl></statusPageUrl><healthCheckUrl></healthCheckUrl>` +
	`<countryId>0</countryId><dataCenterInfo><name>MyOwn</name><metadata></metadata></dataCenterInfo><leaseInfo>` +
	`<renewalIntervalInSecs>{{.LANE_RENEW_SECONDS}}</renewalIntervalInSecs><durationInSecs>{{.LANE_LEASE_SECONDS}}</durationInSecs>` +
	`<registrationTimestamp>0</registrationTimestamp><lastRenewalTimestamp>0</lastRenewalTimestamp><evictionTimestamp>0</evictionTimestamp>` +
	`<serviceUpTimestamp>0</serviceUpTimestamp></leaseInfo><metadata>{{xml .LANE_METADATA}}%METADATA%</metadata>` +
	`<port enabled="true">{{.LANE_PORT}}</port><securePort enabled="false">0</securePort></instance>`

func postXML(path, body string, ok ...int) request {
	r := post(path, body, ok...)
	r.header = map[string]string{"Content-Type": "application/xml", "Accept": "application/xml"}
	return r
}

// goMicro leaves the instance id to the registry and expects it to be made of the
// host name and a key of the metadata.
func goMicro() profile {
	const host, id = "{{.LANE_IP}}:{{.LANE_PORT}}", "{{.LANE_IP}}:{{.LANE_PORT}}:{{.LANE_ID}}"
	const path = "apps/{{.LANE_APP}}/" + id
	body := strings.NewReplacer("%HOST%", host, "%METADATA%", "<instanceId>{{.LANE_ID}}</instanceId>").Replace(fargoXML)
	return profile{
		version: "v2", id: id, gzip: true,
		register: []request{
			{method: http.MethodGet, path: path, header: accept("application/xml"), ok: []int{http.StatusNotFound}},
			postXML("apps/{{.LANE_APP}}", body),
		},
		heartbeat: put(path), stop: []request{remove(path, anySuccess()...)},
	}
}

// krakenD registers as STARTING and is UP only by an override that it sets itself.
func krakenD() profile {
	const path = "apps/{{.LANE_APP}}/{{.LANE_HOST}}"
	body := strings.NewReplacer("%HOST%", "{{.LANE_HOST}}", "%METADATA%", "").Replace(fargoXML)
	return profile{
		version: "62d0125", id: hostID, initial: "STARTING", gzip: true,
		register: []request{
			{method: http.MethodGet, path: path, header: accept("application/xml"), ok: []int{http.StatusNotFound}},
			postXML("apps/{{.LANE_APP}}", body),
			put(path+"/status?value=UP", anySuccess()...),
		},
		heartbeat: put(path), stop: []request{remove(path, anySuccess()...)},
	}
}

const rustXML = `<?xml version="1.0" encoding="UTF-8"?><instance><hostName>{{.LANE_HOST}}</hostName><app>{{.LANE_APP}}</app><ipAddr>{{.LANE_IP}}</ipAddr>
<vipAddress>{{.LANE_VIP}}</vipAddress><secureVipAddress>{{.LANE_VIP}}</secureVipAddress><status>UP</status><port enabled="true">{{.LANE_PORT}}</port>
<securePort enabled="false">{{.LANE_SECURE_PORT}}</securePort><homePageUrl>http://{{.LANE_HOST}}/</homePageUrl>
<statusPageUrl>http://{{.LANE_HOST}}/status</statusPageUrl><healthCheckUrl>http://{{.LANE_HOST}}/health</healthCheckUrl>
<dataCenterInfo class="com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo"><name>MyOwn</name></dataCenterInfo>
<leaseInfo><evictionDurationInSecs>{{.LANE_LEASE_SECONDS}}</evictionDurationInSecs></leaseInfo>
<metadata>{{xml .LANE_METADATA}}</metadata></instance>`

// rustEureka tries one prefix after the other until a registration is answered with
// a success. Its decoder knows no instance ids and reads no server of today.
func rustEureka() profile {
	const path = "eureka/v2/apps/{{.LANE_APP}}/{{.LANE_HOST}}"
	header := map[string]string{"User-Agent": "Rust Reqwest/lane", "Accept-Charset": "utf-8"}
	return profile{
		version: "0.2.0", id: hostID, header: header,
		register: []request{
			postXML("service/apps/{{.LANE_APP}}", rustXML, http.StatusNotFound),
			postXML("eureka/v2/apps/{{.LANE_APP}}", rustXML, anySuccess()...),
		},
		heartbeat: put(path), stop: []request{remove(path)},
	}
}

// rustEurekaClient escapes whatever it may in a path and is exact about statuses.
func rustEurekaClient() profile {
	const path = "apps/{{strict .LANE_APP}}/{{strict .LANE_ID}}"
	body := strings.Replace(rustXML, "<instance>", "<instance><instanceId>{{.LANE_ID}}</instanceId>", 1)
	return profile{
		version: "family", id: plainID, header: accept("application/xml"), register: []request{postXML("apps/{{strict .LANE_APP}}", body)},
		heartbeat: put(path), stop: []request{remove(path)},
		override: []request{put(path + "/status?value={{.OVERRIDE}}")}, clear: []request{remove(path + "/status")},
	}
}
