package eureka

import "strings"

// plainInstance is an instance as most clients register it.
func plainInstance() Instance {
	return Instance{
		InstanceID: "10.1.2.3:orders:8080", HostName: "node-3.example", App: "ORDERS", IPAddr: "10.1.2.3",
		Status: StatusUp, OverriddenStatus: StatusUnknown,
		Port: Port{8080, true}, SecurePort: Port{8443, false}, CountryID: 1,
		DataCenter: DataCenter{Name: DataCenterMyOwn},
		Lease: Lease{
			RenewalIntervalSecs: 30, DurationSecs: 90,
			RegistrationMS: 1700000000000, LastRenewalMS: 1700000030000, ServiceUpMS: 1700000000500,
		},
		Metadata:    []Pair{{"zone", "eu-1"}},
		HomePageURL: "http://node-3.example:8080/", StatusPageURL: "http://node-3.example:8080/info",
		HealthCheckURL: "http://node-3.example:8080/health",
		VIP:            "orders", SecureVIP: "orders",
		LastUpdatedMS: 1700000000500, LastDirtyMS: 1700000000000, ActionType: ActionAdded,
	}
}

// amazonInstance has every optional field, and no metadata of its own.
func amazonInstance() Instance {
	in := plainInstance()
	in.InstanceID, in.HostName, in.IPAddr = "i-0abc", "ip-10-2-0-9.ec2.internal", "10.2.0.9"
	in.App, in.AppGroupName, in.SID, in.ASGName = "BILLING", "MONEY", "s-7", "billing-v003"
	in.Status, in.OverriddenStatus = StatusOutOfService, StatusOutOfService
	in.SecurePort = Port{8443, true}
	in.CountryID = 49
	in.DataCenter = DataCenter{Name: DataCenterAmazon, Metadata: []Pair{
		{"instance-id", "i-0abc"}, {"availability-zone", "eu-west-1a"}, {"local-ipv4", "10.2.0.9"}, {"ami-id", "ami-1"},
	}}
	in.Metadata = nil
	in.SecureHealthCheckURL = "https://ip-10-2-0-9.ec2.internal:8443/health"
	in.VIP, in.SecureVIP = "Billing,billing:8080", "billing-s"
	in.CoordinatingServer = true
	in.Lease.EvictionMS = 1700000090000
	in.ActionType = ActionDeleted
	return in
}

// bareInstance has nothing that can be left out.
func bareInstance() Instance {
	return Instance{InstanceID: "bare", HostName: "bare", App: "BARE", IPAddr: "192.0.2.1", SecurePort: Port{Number: -1}}
}

// hostileInstance has keys and values that no format carries as they are.
func hostileInstance() Instance {
	in := plainInstance()
	in.InstanceID = `"><img src=x onerror=1>`
	in.HomePageURL = "http://h/?a=1&b=\"2\"\\"
	in.Metadata = []Pair{
		{"build_id", "7"},
		{"a$b", "x"},
		{"2nd key", "y"},
		{"user.name", "z"},
		{"k:v", "<&>\"'"},
		{"ctl", "a\x00b\x1fc\td\ne\rf\x7f"},
		{"path/to\\it", "]]>"},
		{"größe", "ß"},
		{"鍵", "値"},
		{"🔑", "🔒"},
		{"-.", ""},
		{"_", "_"},
		{"$", "$"},
		{"__-_.0041", "\u2028"},
		{"\x00\n", "nul"},
		{"bad\xff", "bad\xc3\x28"},
		{"noncharacter\uffff", "\ufffe"},
		{"xmlns", "http://h/"},
		{"instance", "named like an element"},
		{"metadata", "m"},
		{"@class", "dropped"},
		{"", "dropped"},
	}
	return in
}

func appendDocument(f Format, version, hash string, apps ...[]Instance) []byte {
	doc := f.AppendHead(nil, version, hash)
	for i, app := range apps {
		if i > 0 {
			doc = append(doc, f.Separator()...)
		}
		doc = f.AppendAppOpen(doc, app[0].App)
		for j := range app {
			if j > 0 {
				doc = append(doc, f.Separator()...)
			}
			doc = f.AppendInstance(doc, &app[j])
		}
		doc = append(doc, f.AppClose()...)
	}
	return append(doc, f.Tail()...)
}

// documents returns one document of every kind, by name.
func documents(f Format) map[string][]byte {
	plain, amazon, hostile, bare := plainInstance(), amazonInstance(), hostileInstance(), bareInstance()
	second, gone := plainInstance(), plainInstance()
	second.InstanceID, second.Status, second.ActionType = "10.1.2.4:orders:8080", StatusDown, ActionModified
	gone.InstanceID, gone.ActionType, gone.Lease.EvictionMS, gone.Metadata = "10.1.2.5:orders:8080", ActionDeleted, 1700000060000, nil
	docs := map[string][]byte{
		"registry_empty":     appendDocument(f, "1", ""),
		"registry_one":       appendDocument(f, "1", "UP_1_", []Instance{plain}),
		"registry_many":      appendDocument(f, "42", "DOWN_1_OUT_OF_SERVICE_1_UP_1_", []Instance{plain, second}, []Instance{amazon}),
		"registry_hostile":   appendDocument(f, "1", "UNKNOWN_1_UP_1_", []Instance{bare}, []Instance{hostile}),
		"delta_empty":        appendDocument(f, "1826070912000001", "UP_7_"),
		"delta_one":          appendDocument(f, "1826070912000002", "UP_8_", []Instance{plain}),
		"delta_many":         appendDocument(f, "1826070912000003", "DOWN_1_UP_1_", []Instance{amazon}, []Instance{plain, second, gone}),
		"vip_none":           appendDocument(f, "-1", ""),
		"vip_one":            appendDocument(f, "-1", "UP_1_", []Instance{plain}),
		"vip_many":           appendDocument(f, "-1", "DOWN_1_UP_1_", []Instance{plain, second}),
		"application_one":    f.AppendApplicationDocument(nil, "ORDERS", []Instance{plain}),
		"application_many":   f.AppendApplicationDocument(nil, "ORDERS", []Instance{plain, second}),
		"application_amazon": f.AppendApplicationDocument(nil, "BILLING", []Instance{amazon}),
	}
	if f == JSON || f == XML {
		docs["instance"] = f.AppendInstanceDocument(nil, &plain)
		docs["instance_amazon"] = f.AppendInstanceDocument(nil, &amazon)
		docs["instance_bare"] = f.AppendInstanceDocument(nil, &bare)
		docs["instance_hostile_texts"] = f.AppendInstanceDocument(nil, &hostile)
	}
	return docs
}

// registration returns a minimal JSON body with more members, each of which
// replaces an earlier one of the same name.
func registration(members ...string) []byte {
	all := append([]string{
		`"instanceId":"i"`, `"hostName":"h"`, `"app":"a"`, `"ipAddr":"192.0.2.9"`,
		`"dataCenterInfo":{"name":"MyOwn"}`,
	}, members...)
	return []byte(`{"instance":{` + strings.Join(all, ",") + `}}`)
}

// registrationXML is registration in XML.
func registrationXML(elements ...string) []byte {
	return []byte(`<instance><instanceId>i</instanceId><hostName>h</hostName><app>a</app><ipAddr>192.0.2.9</ipAddr>` +
		`<dataCenterInfo><name>MyOwn</name></dataCenterInfo>` + strings.Join(elements, "") + `</instance>`)
}

// registered is what both bodies decode to without further members.
func registered() Instance {
	return Instance{
		InstanceID: "i", HostName: "h", App: "A", IPAddr: "192.0.2.9",
		Status: StatusUp, OverriddenStatus: StatusUnknown,
		Port: Port{7001, true}, SecurePort: Port{7002, false}, CountryID: 1,
		DataCenter: DataCenter{Name: DataCenterMyOwn},
	}
}
