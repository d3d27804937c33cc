package eureka

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// leniency is one way in which clients depart from the documented body, in
// JSON, in XML or in both, and what it is taken for.
type leniency struct {
	json, xml string
	want      func(*Instance)
}

// bodies returns the registration per format, in both if neither is special.
func (l leniency) bodies() map[Format][]byte {
	switch {
	case l.json == "" && l.xml == "":
		return map[Format][]byte{JSON: registration(), XML: registrationXML()}
	case l.json == "":
		return map[Format][]byte{XML: registrationXML(l.xml)}
	case l.xml == "":
		return map[Format][]byte{JSON: registration(l.json)}
	}
	return map[Format][]byte{JSON: registration(l.json), XML: registrationXML(l.xml)}
}

var leniencies = map[string]leniency{
	"nothing optional": {want: func(*Instance) {}},
	"nulls are absent": {
		json: `"status":null,"port":null,"securePort":null,"metadata":null,"leaseInfo":null,"countryId":null,` +
			`"vipAddress":null,"asgName":null,"actionType":null,"overriddenStatus":null,"lastDirtyTimestamp":null,` +
			`"isCoordinatingDiscoveryServer":null`,
		want: func(*Instance) {},
	},
	"empty texts are absent": {
		json: `"status":"","overriddenstatus":"","vipAddress":"","countryId":"","lastDirtyTimestamp":"","leaseInfo":{"durationInSecs":""}`,
		xml: `<status></status><overriddenstatus></overriddenstatus><vipAddress/><countryId/><lastDirtyTimestamp> </lastDirtyTimestamp>` +
			`<leaseInfo><durationInSecs></durationInSecs></leaseInfo><port/><securePort></securePort>`,
		want: func(*Instance) {},
	},
	"unknown members are ignored": {
		json: `"flags":{"a":[1,{"b":null}]},"extra":true`,
		xml:  `<flags><a>1</a></flags><extra b="c"/>`,
		want: func(*Instance) {},
	},
	"texts of other types count as their text": {
		json: `"instanceId":42,"vipAddress":true`,
		want: func(in *Instance) { in.InstanceID, in.VIP = "42", "true" },
	},
	"numbers as text": {
		json: `"port":{"$":"8080","@enabled":"true"},"countryId":"49","lastDirtyTimestamp":"1700000000000"`,
		xml:  `<port enabled="true"> 8080 </port><countryId>49</countryId><lastDirtyTimestamp>1700000000000</lastDirtyTimestamp>`,
		want: func(in *Instance) {
			in.Port, in.CountryID, in.LastDirtyMS = Port{8080, true}, 49, 1700000000000
		},
	},
	"text as numbers": {
		json: `"lastDirtyTimestamp":1700000000000,"lastUpdatedTimestamp":1.7e12,"isCoordinatingDiscoveryServer":true`,
		want: func(in *Instance) {
			in.LastDirtyMS, in.LastUpdatedMS, in.CoordinatingServer = 1700000000000, 1700000000000, true
		},
	},
	"the last duplicate counts": {
		json: `"status":"DOWN","status":"STARTING","metadata":{"a":"1","b":"2","a":"3"},"vipAddress":"v","vipAddress":null`,
		xml:  `<status>DOWN</status><status>STARTING</status><metadata><a>1</a><b>2</b><a>3</a></metadata>`,
		want: func(in *Instance) { in.Status, in.Metadata = StatusStarting, []Pair{{"a", "3"}, {"b", "2"}} },
	},

	"flag as bool": {
		json: `"port":{"$":8080,"@enabled":true},"securePort":{"$":8443,"@enabled":true}`,
		want: func(in *Instance) { in.Port, in.SecurePort = Port{8080, true}, Port{8443, true} },
	},
	"flag without its at sign": {
		json: `"port":{"$":8080,"enabled":false},"securePort":{"$":8443,"enabled":"TRUE"}`,
		want: func(in *Instance) { in.Port, in.SecurePort = Port{8080, false}, Port{8443, true} },
	},
	"empty flag is false": {
		json: `"port":{"@enabled":"","$":"6001"},"securePort":{"@enabled":false,"$":"0"}`,
		xml:  `<port enabled="">6001</port><securePort enabled="false">0</securePort>`,
		want: func(in *Instance) { in.Port, in.SecurePort = Port{6001, false}, Port{0, false} },
	},
	"absent flag is the field's default": {
		json: `"port":{"$":8080},"securePort":{"$":8443}`,
		xml:  `<port>8080</port><securePort>8443</securePort>`,
		want: func(in *Instance) { in.Port, in.SecurePort = Port{8080, true}, Port{8443, false} },
	},
	"absent number is the field's default": {
		json: `"port":{"@enabled":"true"},"securePort":{"@enabled":"true","$":null}`,
		xml:  `<port enabled="true"></port><securePort enabled="true"/>`,
		want: func(in *Instance) { in.SecurePort.Enabled = true },
	},
	"bare number is an enabled port": {
		json: `"port":8080,"securePort":8443`,
		want: func(in *Instance) { in.Port, in.SecurePort = Port{8080, true}, Port{8443, true} },
	},
	"bare zero is a disabled port": {
		json: `"securePort":0`,
		want: func(in *Instance) { in.SecurePort = Port{0, false} },
	},
	"negative port is kept": {
		json: `"securePort":{"$":-1,"@enabled":"false"}`,
		xml:  `<securePort enabled="false">-1</securePort>`,
		want: func(in *Instance) { in.SecurePort = Port{-1, false} },
	},

	"status of any case": {
		json: `"status":"out_of_service","overriddenStatus":" Down "`,
		xml:  `<status>out_of_service</status><overriddenStatus> Down </overriddenStatus>`,
		want: func(in *Instance) { in.Status, in.OverriddenStatus = StatusOutOfService, StatusDown },
	},
	"unknown status": {
		json: `"status":"PAUSED","overriddenStatus":"NONE"`,
		xml:  `<status>PAUSED</status><overriddenstatus>NONE</overriddenstatus>`,
		want: func(in *Instance) { in.Status = StatusUnknown },
	},
	"later spelling of the override counts": {
		json: `"overriddenStatus":"UP","overriddenstatus":"DOWN"`,
		xml:  `<overriddenStatus>UP</overriddenStatus><overriddenstatus>DOWN</overriddenstatus>`,
		want: func(in *Instance) { in.OverriddenStatus = StatusDown },
	},
	"unknown action type": {json: `"actionType":"MOVED"`, want: func(*Instance) {}},
	"placeholder service id": {
		json: `"sid":"na"`, xml: `<sid>unknown</sid>`, want: func(*Instance) {},
	},
	"names of any case": {
		json: `"app":"my-App","appGroupName":"Group"`,
		xml:  `<app>my-App</app><appGroupName>Group</appGroupName>`,
		want: func(in *Instance) { in.App, in.AppGroupName = "MY-APP", "GROUP" },
	},
	"zero and junk country": {json: `"countryId":0`, xml: `<countryId>de</countryId>`, want: func(*Instance) {}},

	"zero lease": {
		json: `"leaseInfo":{"durationInSecs":0,"renewalIntervalInSecs":-3,"registrationTimestamp":-1}`,
		xml:  `<leaseInfo><durationInSecs>0</durationInSecs><renewalIntervalInSecs>-3</renewalIntervalInSecs></leaseInfo>`,
		want: func(*Instance) {},
	},
	"lease as text with unknown keys": {
		json: `"leaseInfo":{"durationInSecs":"10000","renewalIntervalInSecs":"5","evictionDurationInSecs":7,"x":[1],"serviceUpTimestamp":"12"}`,
		xml: `<leaseInfo><durationInSecs>10000</durationInSecs><renewalIntervalInSecs>5</renewalIntervalInSecs>` +
			`<evictionDurationInSecs>7</evictionDurationInSecs><serviceUpTimestamp>12</serviceUpTimestamp></leaseInfo>`,
		want: func(in *Instance) {
			in.Lease = Lease{DurationSecs: 10000, RenewalIntervalSecs: 5, ServiceUpMS: 12}
		},
	},
	"huge lease and times are cut": {
		json: `"leaseInfo":{"durationInSecs":99999999999999999999,"renewalIntervalInSecs":1e300},"lastDirtyTimestamp":1e400`,
		want: func(in *Instance) {
			in.Lease = Lease{DurationSecs: MaxLeaseSecs, RenewalIntervalSecs: MaxLeaseSecs}
			in.LastDirtyMS = MaxTimestampMS
		},
	},
	"junk numbers are absent": {
		json: `"leaseInfo":{"durationInSecs":"soon","renewalIntervalInSecs":"inf"},"lastDirtyTimestamp":"NaN","lastUpdatedTimestamp":"-7"`,
		want: func(*Instance) {},
	},
	"lease that is no object": {json: `"leaseInfo":"90"`, xml: `<leaseInfo/>`, want: func(*Instance) {}},

	"data centre of any class": {
		json: `"dataCenterInfo":{"@class":"com.netflix.appinfo.MyDataCenterInfo","name":"myown","metadata":{"a":"b"}}`,
		xml:  `<dataCenterInfo class="com.netflix.appinfo.AmazonInfo"><name>myown</name><metadata/></dataCenterInfo>`,
		want: func(*Instance) {},
	},
	"data centre of unknown name": {
		json: `"dataCenterInfo":{"name":"Garage","metadata":7}`,
		xml:  `<dataCenterInfo><name>Garage</name></dataCenterInfo>`,
		want: func(*Instance) {},
	},
	"data centre as bare name": {
		json: `"dataCenterInfo":"netflix"`,
		xml:  `<dataCenterInfo>netflix</dataCenterInfo>`,
		want: func(in *Instance) { in.DataCenter.Name = DataCenterNetflix },
	},
	"data centre without name": {
		json: `"dataCenterInfo":{"@class":"com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo"}`,
		xml:  `<dataCenterInfo/>`,
		want: func(in *Instance) { in.DataCenter.Name = "" },
	},
	"data centre null": {
		json: `"dataCenterInfo":null`,
		want: func(in *Instance) { in.DataCenter = DataCenter{Absent: true} },
	},
	"Amazon without metadata": {
		json: `"dataCenterInfo":{"name":"AMAZON"}`,
		xml:  `<dataCenterInfo><name>AMAZON</name></dataCenterInfo>`,
		want: func(in *Instance) {
			in.DataCenter = DataCenter{Name: DataCenterAmazon, Metadata: []Pair{{"instance-id", "i"}}}
		},
	},
	"Amazon with an empty machine id": {
		json: `"dataCenterInfo":{"name":"Amazon","metadata":{"instance-id":"","mac":1}}`,
		xml:  `<dataCenterInfo><metadata><instance-id/><mac>1</mac></metadata><name>Amazon</name></dataCenterInfo>`,
		want: func(in *Instance) {
			in.DataCenter = DataCenter{Name: DataCenterAmazon, Metadata: []Pair{{"instance-id", "i"}, {"mac", "1"}}}
		},
	},

	"metadata of other types": {
		json: `"metadata":{"n":1.50,"b":false,"z":null,"o":{"k":[1,"x",null,true,{}]},"s":""}`,
		xml:  `<metadata><n>1.50</n><b>false</b><o><k>x</k></o><s/></metadata>`,
		want: nil, // differs per format, see TestNestedMetadataBecomesJSONText
	},
	"metadata markers": {
		json: `"metadata":{"@class":"java.util.Collections$EmptyMap","class":"java.util.Collections$EmptyMap","":"x"}`,
		xml:  `<metadata class="java.util.Collections$EmptyMap"><class>java.util.Collections$EmptyMap</class></metadata>`,
		want: func(*Instance) {},
	},
	"empty metadata": {json: `"metadata":[]`, xml: "<metadata>\n </metadata>", want: func(*Instance) {}},
	"metadata named like fields": {
		json: `"metadata":{"class":"gold","port":"1","enabled":"x"}`,
		xml:  `<metadata><class>gold</class><port enabled="true">1</port><enabled>x</enabled></metadata>`,
		want: func(in *Instance) { in.Metadata = []Pair{{"class", "gold"}, {"port", "1"}, {"enabled", "x"}} },
	},

	"id from metadata gets the host name in front": {
		json: `"instanceId":"","metadata":{"instanceId":"abc"},"dataCenterInfo":{"name":"Amazon","metadata":{"instance-id":"i-7"}}`,
		xml: `<instanceId/><metadata><instanceId>abc</instanceId></metadata>` +
			`<dataCenterInfo><name>Amazon</name><metadata><instance-id>i-7</instance-id></metadata></dataCenterInfo>`,
		want: func(in *Instance) {
			in.InstanceID, in.Metadata = "h:abc", []Pair{{"instanceId", "abc"}}
			in.DataCenter = DataCenter{Name: DataCenterAmazon, Metadata: []Pair{{"instance-id", "i-7"}}}
		},
	},
	"id from metadata that begins with the host name": {
		json: `"instanceId":null,"metadata":{"instanceId":"h:abc"}`,
		want: func(in *Instance) { in.InstanceID, in.Metadata = "h:abc", []Pair{{"instanceId", "h:abc"}} },
	},
	"id from Amazon": {
		json: `"instanceId":"","dataCenterInfo":{"name":"Amazon","metadata":{"instance-id":"i-7"}}`,
		xml:  `<instanceId></instanceId><dataCenterInfo><name>Amazon</name><metadata><instance-id>i-7</instance-id></metadata></dataCenterInfo>`,
		want: func(in *Instance) {
			in.InstanceID = "i-7"
			in.DataCenter = DataCenter{Name: DataCenterAmazon, Metadata: []Pair{{"instance-id", "i-7"}}}
		},
	},
	"id from the host name": {
		json: `"instanceId":null`, xml: `<instanceId/>`,
		want: func(in *Instance) { in.InstanceID = "h" },
	},
	"no id at all": {
		json: `"instanceId":null,"hostName":null`, xml: `<instanceId/><hostName/>`,
		want: func(in *Instance) { in.InstanceID, in.HostName = "", "" },
	},
	"white space is kept": {
		json: `"vipAddress":" v ","metadata":{"k":" v "}`,
		xml:  `<vipAddress> v </vipAddress><metadata><k> v </k></metadata>`,
		want: func(in *Instance) { in.VIP, in.Metadata = " v ", []Pair{{"k", " v "}} },
	},
}

func TestLenienciesOfClients(t *testing.T) {
	for name, l := range leniencies {
		if l.want == nil {
			continue
		}
		want := registered()
		l.want(&want)
		for f, body := range l.bodies() {
			t.Run(fmt.Sprintf("%s in %s", name, f), func(t *testing.T) {
				got, err := DecodeInstance(body)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("instance differs (-want +got):\n%s", diff)
				}
				for _, out := range formats {
					if err := check(out, out.AppendInstanceDocument(nil, &got)); err != nil {
						t.Errorf("written in %s: %v", out, err)
					}
				}
			})
		}
	}
}

func TestNestedMetadataBecomesJSONText(t *testing.T) {
	l := leniencies["metadata of other types"]
	tests := map[Format]struct {
		body []byte
		want []Pair
	}{
		JSON: {registration(l.json), []Pair{{"n", "1.50"}, {"b", "false"}, {"o", `{"k":[1,"x",null,true,{}]}`}, {"s", ""}}},
		XML:  {registrationXML(l.xml), []Pair{{"n", "1.50"}, {"b", "false"}, {"o", `{"k":"x"}`}, {"s", ""}}},
	}
	for f, test := range tests {
		got, err := DecodeInstance(test.body)
		if err != nil {
			t.Errorf("%s: %v", f, err)
			continue
		}
		if diff := cmp.Diff(test.want, got.Metadata); diff != "" {
			t.Errorf("%s: metadata differs (-want +got):\n%s", f, diff)
		}
	}
}

func TestDocumentsAroundTheInstance(t *testing.T) {
	plain := string(registrationXML())
	bare := strings.TrimSuffix(strings.TrimPrefix(string(registration()), `{"instance":`), "}")
	tests := map[string]string{
		"JSON with space and mark": "\uFEFF\r\n" + string(registration()) + "\n",
		"JSON bare":                bare,
		"JSON with a second root":  `{"x":[{}],"instance":` + bare + `,"y":1}`,
		"XML with space and mark":  "\uFEFF\n" + plain + "\n",
		"XML with prolog":          `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` + "\n<!-- hello -->" + plain + "<!-- bye -->",
		"XML labelled Latin-1":     `<?xml version="1.0" encoding="ISO-8859-1"?>` + plain,
		"XML with namespaces": `<e:instance xmlns:e="urn:e" xmlns="urn:d" e:a="b"><e:instanceId>i</e:instanceId><hostName>h</hostName>` +
			`<e:app>a</e:app><ipAddr>192.0.2.9</ipAddr><e:dataCenterInfo><e:name>MyOwn</e:name></e:dataCenterInfo></e:instance>`,
		"XML with CDATA":    strings.Replace(plain, "<app>a</app>", "<app><![CDATA[a]]></app>", 1),
		"XML with comments": strings.Replace(plain, "<app>a</app>", "<!-- x --><app>a<!-- y --></app><?z?>", 1),
		"XML indented":      strings.ReplaceAll(plain, "><", ">\n  <"),
	}
	for name, body := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := DecodeInstance([]byte(body))
			if err != nil {
				t.Fatalf("%v\n%s", err, body)
			}
			if diff := cmp.Diff(registered(), got); diff != "" {
				t.Errorf("instance differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTextIsRepaired(t *testing.T) {
	tests := map[string]struct {
		body []byte
		want string
	}{
		"invalid bytes in JSON":         {registration("\"vipAddress\":\"a\xffb\""), "a\uFFFDb"},
		"half a surrogate pair in JSON": {registration(`"vipAddress":"a\ud83db"`), "a\uFFFDb"},
		"control characters in JSON":    {registration(`"vipAddress":"a\u0000b"`), "a\x00b"},
		"invalid bytes in XML":          {registrationXML("<vipAddress>a\xffb</vipAddress>"), "a\uFFFDb"},
		"references in XML":             {registrationXML("<vipAddress>&lt;&amp;&#x41;&#66;</vipAddress>"), "<&AB"},
	}
	for name, test := range tests {
		got, err := DecodeInstance(test.body)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got.VIP != test.want {
			t.Errorf("%s: got %q, want %q", name, got.VIP, test.want)
		}
	}
}

func TestMetadataNamesAreDecodedInXML(t *testing.T) {
	body := registrationXML(`<metadata><a__b>1</a__b><c_d>2</c_d><k_-1>3</k_-1><_.0032nd>4</_.0032nd><k:v>5</k:v><a__b>6</a__b></metadata>`)
	got, err := DecodeInstance(body)
	if err != nil {
		t.Fatal(err)
	}
	want := []Pair{{"a_b", "6"}, {"c_d", "2"}, {"k$1", "3"}, {"2nd", "4"}, {"k:v", "5"}}
	if diff := cmp.Diff(want, got.Metadata); diff != "" {
		t.Errorf("metadata differs (-want +got):\n%s", diff)
	}
}

func TestUnreadableBodiesAreRefusedWithTheReason(t *testing.T) {
	pairs := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,"k%d":"v"`, i)
		}
		return `"metadata":{` + b.String()[1:] + `}`
	}
	long := func(n int) string { return strings.Repeat("x", n+1) }
	tests := map[string]struct {
		body string
		want DecodeError
	}{
		"empty":               {"", DecodeError{"", "the body is empty"}},
		"space":               {" \n", DecodeError{"", "the body is empty"}},
		"form":                {"app=demo", DecodeError{"", "the body is neither JSON nor XML"}},
		"JSON array":          {"[]", DecodeError{"", "the body is neither JSON nor XML"}},
		"JSON cut":            {`{"instance":{"app":"A"`, DecodeError{"", "the body is not well-formed JSON"}},
		"JSON with a tail":    {`{"instance":{}} {}`, DecodeError{"", "the body is not well-formed JSON"}},
		"JSON comma":          {`{"instance":{"app":"A",}}`, DecodeError{"", "the body is not well-formed JSON"}},
		"JSON wrong bracket":  {`{"instance":{"app":"A"]}`, DecodeError{"", "the body is not well-formed JSON"}},
		"JSON number as key":  {`{"instance":{1:2}}`, DecodeError{"", "the body is not well-formed JSON"}},
		"JSON without root":   {`{}`, DecodeError{"instance", "not an object under the root"}},
		"JSON null root":      {`{"instance":null}`, DecodeError{"instance", "not an object under the root"}},
		"JSON array root":     {`{"instance":[{"app":"A"}]}`, DecodeError{"instance", "not an object under the root"}},
		"JSON too deep":       {`{"a":` + strings.Repeat("[", 1000), DecodeError{"", "the body is nested too deeply"}},
		"JSON too many":       {`{"a":[0` + strings.Repeat(",0", maxNodes) + `]}`, DecodeError{"", "the body has too many values"}},
		"XML cut":             {`<instance><app>A`, DecodeError{"", "the body is not well-formed XML"}},
		"XML crossed":         {`<instance><app></instance></app>`, DecodeError{"", "the body is not well-formed XML"}},
		"XML with a tail":     {`<instance/>x`, DecodeError{"", "the body is not well-formed XML"}},
		"XML with two roots":  {`<instance/><instance/>`, DecodeError{"", "the body is not well-formed XML"}},
		"XML end first":       {`</instance>`, DecodeError{"", "the body is not well-formed XML"}},
		"XML unknown entity":  {`<instance><app>&e;</app></instance>`, DecodeError{"", "the body is not well-formed XML"}},
		"XML control":         {"<instance><app>\x01</app></instance>", DecodeError{"", "the body is not well-formed XML"}},
		"XML other root":      {`<application/>`, DecodeError{"", "the root element is not instance"}},
		"XML without root":    {`<!-- nothing -->`, DecodeError{"", "the root element is not instance"}},
		"XML declaration":     {`<!DOCTYPE i [<!ENTITY e SYSTEM "http://127.0.0.1/x">]><instance>&e;</instance>`, DecodeError{"", "document type declarations are not accepted"}},
		"XML inner directive": {`<instance><!DOCTYPE i></instance>`, DecodeError{"", "document type declarations are not accepted"}},
		"XML late directive":  {`<instance/><!DOCTYPE i>`, DecodeError{"", "document type declarations are not accepted"}},
		"XML encoding":        {`<?xml version="1.0" encoding="UTF-16"?><instance/>`, DecodeError{"", "the XML encoding is not UTF-8"}},
		"XML too deep":        {`<instance>` + strings.Repeat("<a>", 1000), DecodeError{"", "the body is nested too deeply"}},
		"XML too many":        {`<instance>` + strings.Repeat("<a/>", maxNodes), DecodeError{"", "the body has too many values"}},

		"port above range":      {string(registration(`"port":{"$":70000}`)), DecodeError{"port", "out of range"}},
		"port below range":      {string(registration(`"securePort":-2147483649`)), DecodeError{"securePort", "out of range"}},
		"port beyond integers":  {string(registration(`"port":1e99`)), DecodeError{"port", "out of range"}},
		"port as word":          {string(registration(`"port":{"$":"eighty"}`)), DecodeError{"port", "not a number"}},
		"port as flag":          {string(registration(`"port":true`)), DecodeError{"port", "not a number"}},
		"port as array":         {string(registration(`"port":[8080]`)), DecodeError{"port", "not a port"}},
		"port with inner value": {string(registration(`"port":{"$":{}}`)), DecodeError{"port", "not a number"}},
		"XML port as word":      {string(registrationXML(`<port enabled="true">eighty</port>`)), DecodeError{"port", "not a number"}},
		"host as object":        {string(registration(`"hostName":{}`)), DecodeError{"hostName", "not a text"}},
		"host as array":         {string(registration(`"hostName":["h"]`)), DecodeError{"hostName", "not a text"}},
		"XML host with child":   {string(registrationXML(`<hostName><a/></hostName>`)), DecodeError{"hostName", "not a text"}},
		"data centre as array":  {string(registration(`"dataCenterInfo":[]`)), DecodeError{"dataCenterInfo", "not a text"}},
		"metadata as text":      {string(registration(`"metadata":"a=b"`)), DecodeError{"metadata", "not an object"}},
		"metadata as array":     {string(registration(`"metadata":["a"]`)), DecodeError{"metadata", "not an object"}},
		"Amazon metadata":       {string(registration(`"dataCenterInfo":{"name":"Amazon","metadata":7}`)), DecodeError{"dataCenterInfo.metadata", "not an object"}},
		"too many pairs":        {string(registration(pairs(MaxMetadataPairs + 1))), DecodeError{"metadata", "too many entries"}},
		"long field":            {string(registration(`"vipAddress":"` + long(MaxFieldBytes) + `"`)), DecodeError{"vipAddress", "too long"}},
		"long metadata key":     {string(registration(`"metadata":{"` + long(MaxFieldBytes) + `":1}`)), DecodeError{"metadata", "an entry is too long"}},
		"long metadata value":   {string(registration(`"metadata":{"k":"` + long(MaxMetadataValueBytes) + `"}`)), DecodeError{"metadata", "an entry is too long"}},
		"long id from metadata": {string(registration(`"instanceId":"","metadata":{"instanceId":"` + long(MaxFieldBytes) + `"}`)), DecodeError{"instanceId", "too long"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := DecodeInstance([]byte(test.body))
			got, ok := errors.AsType[*DecodeError](err)
			if !ok {
				t.Fatalf("got error %v, want a DecodeError", err)
			}
			if diff := cmp.Diff(test.want, *got); diff != "" {
				t.Errorf("error differs (-want +got):\n%s", diff)
			}
			if want := strings.TrimPrefix(test.want.Field+": "+test.want.Reason, ": "); err.Error() != want {
				t.Errorf("got text %q, want %q", err, want)
			}
		})
	}
}

func TestBoundsThemselvesAreAccepted(t *testing.T) {
	body := registration(
		`"vipAddress":"`+strings.Repeat("x", MaxFieldBytes)+`"`,
		`"metadata":{"k":"`+strings.Repeat("x", MaxMetadataValueBytes)+`"}`,
		`"port":65535`, `"securePort":-2147483648`,
		`"deep":`+strings.Repeat("[", maxDepth-2)+strings.Repeat("]", maxDepth-2),
	)
	got, err := DecodeInstance(body)
	if err != nil {
		t.Fatal(err)
	}
	if got.Port.Number != 65535 || got.SecurePort.Number != -1<<31 {
		t.Errorf("got ports %v and %v", got.Port, got.SecurePort)
	}
}
