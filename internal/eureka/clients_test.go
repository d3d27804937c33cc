package eureka

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// essence is what registering an instance depends on.
type essence struct {
	ID, Host, App, IP, VIP string
	Status                 Status
	Port, Secure           Port
	Lease                  Lease
	DirtyMS                int64
	Metadata               []Pair
}

// registrations are bodies in the shape that widespread clients send.
var registrations = map[string]struct {
	body string
	want essence
}{
	"Java with Jersey": {
		`{"instance":{"instanceId":"pod-a:billing:8080","hostName":"10.1.4.7","app":"BILLING","ipAddr":"10.1.4.7","status":"UP",
		 "overriddenStatus":"UNKNOWN","port":{"$":8080,"@enabled":"true"},"securePort":{"$":443,"@enabled":"false"},"countryId":1,
		 "dataCenterInfo":{"@class":"com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo","name":"MyOwn"},
		 "leaseInfo":{"renewalIntervalInSecs":30,"durationInSecs":90,"registrationTimestamp":0,"lastRenewalTimestamp":0,
		 "evictionTimestamp":0,"serviceUpTimestamp":0},"metadata":{"management.port":"8081"},"vipAddress":"billing",
		 "isCoordinatingDiscoveryServer":"false","lastUpdatedTimestamp":"1760000000000","lastDirtyTimestamp":"1760000000100"}}`,
		essence{
			"pod-a:billing:8080", "10.1.4.7", "BILLING", "10.1.4.7", "billing", StatusUp,
			Port{8080, true},
			Port{443, false},
			Lease{RenewalIntervalSecs: 30, DurationSecs: 90},
			1760000000100,
			[]Pair{{"management.port", "8081"}},
		},
	},
	"Spring with nulls": {
		`{"instance":{"instanceId":"pod-a:billing:8080","app":"BILLING","appGroupName":null,"ipAddr":"10.1.4.7","sid":"na",
		 "homePageUrl":null,"secureHealthCheckUrl":null,"vipAddress":"billing","secureVipAddress":"billing","countryId":1,
		 "dataCenterInfo":{"@class":"com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo","name":"MyOwn"},"hostName":"10.1.4.7",
		 "status":"STARTING","overriddenStatus":"UNKNOWN","leaseInfo":{"renewalIntervalInSecs":30,"durationInSecs":90,
		 "registrationTimestamp":0,"lastRenewalTimestamp":0,"evictionTimestamp":0,"serviceUpTimestamp":0},
		 "isCoordinatingDiscoveryServer":false,"lastUpdatedTimestamp":1760000000000,"lastDirtyTimestamp":1760000000100,
		 "actionType":null,"asgName":null,"port":{"$":8080,"@enabled":"true"},"securePort":{"$":443,"@enabled":"false"},
		 "metadata":{"@class":"java.util.Collections$EmptyMap"}}}`,
		essence{
			"pod-a:billing:8080", "10.1.4.7", "BILLING", "10.1.4.7", "billing", StatusStarting,
			Port{8080, true},
			Port{443, false},
			Lease{RenewalIntervalSecs: 30, DurationSecs: 90},
			1760000000100, nil,
		},
	},
	"JavaScript": {
		`{"instance":{"app":"jq-Service","hostName":"local host","ipAddr":"127.0.0.1","port":{"$":8080,"@enabled":true},
		 "vipAddress":"jq","dataCenterInfo":{"name":"MyOwn"},"status":"UP"}}`,
		essence{"local host", "local host", "JQ-SERVICE", "127.0.0.1", "jq", StatusUp, Port{8080, true}, Port{7002, false}, Lease{}, 0, nil},
	},
	"Go, fargo in XML": {
		`<instance><instanceId></instanceId><hostName>demo-go:6001</hostName><app>demo</app><ipAddr>192.0.2.20</ipAddr>
		 <vipAddress>demo</vipAddress><status>UP</status><overriddenstatus></overriddenstatus><port enabled="true">6001</port>
		 <securePort enabled="false">0</securePort><countryId>0</countryId><dataCenterInfo><name>MyOwn</name><metadata></metadata></dataCenterInfo>
		 <leaseInfo><renewalIntervalInSecs>0</renewalIntervalInSecs><durationInSecs>0</durationInSecs></leaseInfo>
		 <metadata><instanceId>7f</instanceId></metadata></instance>`,
		essence{
			"demo-go:6001:7f", "demo-go:6001", "DEMO", "192.0.2.20", "demo", StatusUp,
			Port{6001, true},
			Port{0, false},
			Lease{},
			0,
			[]Pair{{"instanceId", "7f"}},
		},
	},
	"Go, fargo in JSON": {
		`{"instance":{"app":"DEMO","status":"UP","hostName":"demo-go","ipAddr":"192.0.2.20",
		 "securePort":{"@enabled":false,"$":"0"},"port":{"@enabled":"","$":"6001"},"metadata":null,
		 "dataCenterInfo":{"@class":"com.netflix.appinfo.MyDataCenterInfo","name":"MyOwn"},
		 "leaseInfo":{"durationInSecs":0,"renewalIntervalInSecs":0}}}`,
		essence{"demo-go", "demo-go", "DEMO", "192.0.2.20", "", StatusUp, Port{6001, false}, Port{0, false}, Lease{}, 0, nil},
	},
	"Go with bool flags": {
		`{"instance":{"hostName":"h","app":"demo","ipAddr":"192.0.2.21","status":"UP","vipAddress":"demo",
		 "port":{"$":80,"@enabled":true},"securePort":{"$":443,"@enabled":false},"dataCenterInfo":{"name":"MyOwn"},
		 "leaseInfo":{"evictionDurationInSecs":30},"lastDirtyTimestamp":5}}`,
		essence{"h", "h", "DEMO", "192.0.2.21", "demo", StatusUp, Port{80, true}, Port{443, false}, Lease{}, 5, nil},
	},
	"Python 2": {
		`{"instance":{"instanceId":"py:1","hostName":"py","app":"PY","ipAddr":"192.0.2.31","overriddenstatus":"UNKNOWN","status":"UP",
		 "homePageUrl":null,"port":{"$":9000,"@enabled":true},"leaseInfo":{"renewalIntervalInSecs":30,"durationInSecs":90,
		 "registrationTimestamp":"","lastRenewalTimestamp":"1700000000","evictionTimestamp":""},
		 "dataCenterInfo":{"@class":"com.netflix.appinfo.DataCenterInfo","name":"MyOwn"},
		 "metadata":{"@class":"java.util.Collections$EmptyMap"},"lastDirtyTimestamp":"1700000000000"}}`,
		essence{
			"py:1", "py", "PY", "192.0.2.31", "", StatusUp,
			Port{9000, true},
			Port{7002, false},
			Lease{RenewalIntervalSecs: 30, DurationSecs: 90, LastRenewalMS: 1700000000},
			1700000000000, nil,
		},
	},
	".NET": {
		`{"instance":{"instanceId":"net:web:5000","hostName":"net","app":"WEB","ipAddr":"192.0.2.32","status":"UP","overriddenstatus":"UNKNOWN",
		 "port":{"@enabled":"true","$":5000},"securePort":{"@enabled":"false","$":443},"countryId":1,
		 "leaseInfo":{"renewalIntervalInSecs":30,"durationInSecs":90,"registrationTimestamp":"0","serviceUpTimestamp":"0"},
		 "dataCenterInfo":{"@class":"com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo","name":"MyOwn"},
		 "vipAddress":"web","isCoordinatingDiscoveryServer":"false","lastDirtyTimestamp":"1700000000000"}}`,
		essence{
			"net:web:5000", "net", "WEB", "192.0.2.32", "web", StatusUp,
			Port{5000, true},
			Port{443, false},
			Lease{RenewalIntervalSecs: 30, DurationSecs: 90},
			1700000000000, nil,
		},
	},
	"Elixir with bare ports": {
		`{"instance":{"hostName":"ex","app":"ex","ipAddr":"192.0.2.33","status":"UP","vipAddress":"ex","port":4000,"securePort":4001,
		 "homePageUrl":null,"dataCenterInfo":{"name":"MyOwn","metadata":{}},"leaseInfo":{"evictionDurationInSecs":30},"metadata":{}}}`,
		essence{"ex", "ex", "EX", "192.0.2.33", "ex", StatusUp, Port{4000, true}, Port{4001, true}, Lease{}, 0, nil},
	},
	"Rust in XML": {
		`<?xml version="1.0"?><instance><hostName>rs</hostName><app>rs</app><ipAddr>192.0.2.34</ipAddr><vipAddress>rs</vipAddress>
		 <status>UP</status><port enabled="true">80</port><dataCenterInfo class="com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo">
		 <name>Amazon</name><metadata><instance-id>i-9</instance-id></metadata></dataCenterInfo>
		 <leaseInfo><evictionDurationInSecs>30</evictionDurationInSecs></leaseInfo></instance>`,
		essence{"i-9", "rs", "RS", "192.0.2.34", "rs", StatusUp, Port{80, true}, Port{7002, false}, Lease{}, 0, nil},
	},
	"Stork with a negative port": {
		`{"instance":{"instanceId":"demo-neg","hostName":"localhost","app":"DEMO","ipAddr":"192.0.2.60","status":"UP","vipAddress":null,
		 "port":{"$":8080,"@enabled":"true"},"securePort":{"$":-1,"@enabled":"false"},"dataCenterInfo":{"name":"MyOwn"},
		 "leaseInfo":{"renewalIntervalInSecs":10000,"durationInSecs":10000}}}`,
		essence{
			"demo-neg", "localhost", "DEMO", "192.0.2.60", "", StatusUp,
			Port{8080, true},
			Port{-1, false},
			Lease{RenewalIntervalSecs: 10000, DurationSecs: 10000},
			0, nil,
		},
	},
}

func TestRegistrationsOfRealClients(t *testing.T) {
	for name, test := range registrations {
		t.Run(name, func(t *testing.T) {
			in, err := DecodeInstance([]byte(test.body))
			if err != nil {
				t.Fatal(err)
			}
			got := essence{in.InstanceID, in.HostName, in.App, in.IPAddr, in.VIP, in.Status, in.Port, in.SecurePort, in.Lease, in.LastDirtyMS, in.Metadata}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("instance differs (-want +got):\n%s", diff)
			}
			if err := Validate(&in, in.App); err != nil {
				t.Errorf("validating: %v", err)
			}
		})
	}
}
