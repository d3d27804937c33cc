package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// field is one member of a registration; an empty value leaves it out.
type field struct{ name, json, xml string }

var (
	metadataKeys   = []string{"zone", "build_id", "a$b", "user.name", "größe", "_", "__", "k-1"}
	metadataValues = []string{"", "eu-1", "<&>\"'", "a b", "ß", "1"}
)

// registration draws a registration, mostly one that a client would send.
func (g *generator) registration() step {
	k := g.key()
	s := step{
		kind: register, method: http.MethodPost, target: "/apps/" + url.PathEscape(k.app), accept: pick(g, accepts),
		header: http.Header{}, tags: tags{}, key: key{strings.ToUpper(k.app), k.id},
	}
	fields := g.fields(&s, k)
	if g.oneIn(5) {
		s.header.Set("Content-Type", "application/xml")
		s.body = bodyXML(fields)
		return s
	}
	s.header.Set("Content-Type", mediaJSON)
	if g.oneIn(7) {
		odd := pick(g, oddBodies)
		s.tags[odd.name] = true
		fields = replace(fields, odd.fields...)
		if odd.dirty.sent {
			s.dirty = odd.dirty
		}
		s.body = bodyJSON(fields)
		if odd.whole != nil {
			s.body = odd.whole(s.body)
		}
		return s
	}
	s.body = bodyJSON(fields)
	return s
}

func (g *generator) fields(s *step, k key) []field {
	s.says = pick(g, statuses)
	fields := []field{
		text(wireID, k.id), text("hostName", "192.0.2.10"), text("app", k.app), text("ipAddr", "192.0.2.10"),
		text(wireStatus, string(s.says)), text(wireOverridden, "UNKNOWN"),
		{wirePort, `{"$":8080,"@enabled":"true"}`, `<port enabled="true">8080</port>`},
		{wireSecurePort, `{"$":443,"@enabled":"false"}`, `<securePort enabled="false">443</securePort>`},
		g.dataCenter(),
	}
	if !g.oneIn(20) {
		s.dirty = dirty{pick(g, stamps), true}
		fields = append(fields, text(wireDirty, s.text()), text("lastUpdatedTimestamp", "1500"))
	}
	if g.oneIn(2) {
		fields = append(fields, g.lease())
	}
	if g.oneIn(2) {
		fields = append(fields, g.metadata())
	}
	for _, name := range []string{"vipAddress", "secureVipAddress"} {
		if v := pick(g, vips); v != "" {
			fields = append(fields, text(name, v))
		}
	}
	for _, optional := range []field{
		text("homePageUrl", "http://192.0.2.10:8080/?a=1&b=2"), text("statusPageUrl", "http://192.0.2.10:8080/info"),
		text("healthCheckUrl", "http://192.0.2.10:8080/health"), text("secureHealthCheckUrl", "https://192.0.2.10/health"),
		text("asgName", "orders-v001"), text("appGroupName", "shop"), text("sid", "na"),
	} {
		if g.oneIn(3) {
			fields = append(fields, optional)
		}
	}
	return fields
}

func (g *generator) dataCenter() field {
	const plain = "com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo"
	switch g.r.IntN(6) {
	case 0:
		return field{
			wireDataCenter, `{"@class":"com.netflix.appinfo.AmazonInfo","name":"Amazon","metadata":{"instance-id":"i-1","availability-zone":"eu-1a","ami-id":"ami-1"}}`,
			`<dataCenterInfo class="com.netflix.appinfo.AmazonInfo"><name>Amazon</name><metadata><instance-id>i-1</instance-id>` +
				`<availability-zone>eu-1a</availability-zone><ami-id>ami-1</ami-id></metadata></dataCenterInfo>`,
		}
	case 1:
		return field{
			wireDataCenter, `{"@class":"com.netflix.appinfo.MyDataCenterInfo","name":"Netflix"}`,
			`<dataCenterInfo class="com.netflix.appinfo.MyDataCenterInfo"><name>Netflix</name></dataCenterInfo>`,
		}
	default:
		return field{
			wireDataCenter, `{"@class":"` + plain + `","name":"MyOwn"}`,
			`<dataCenterInfo class="` + plain + `"><name>MyOwn</name></dataCenterInfo>`,
		}
	}
}

func (g *generator) lease() field {
	interval, duration := pick(g, []int{0, 10, 30}), pick(g, []int{0, 90, 10_000})
	return field{
		wireLease, fmt.Sprintf(`{"renewalIntervalInSecs":%d,"durationInSecs":%d,"registrationTimestamp":0,"evictionTimestamp":0}`, interval, duration),
		fmt.Sprintf(`<leaseInfo><renewalIntervalInSecs>%d</renewalIntervalInSecs><durationInSecs>%d</durationInSecs></leaseInfo>`, interval, duration),
	}
}

func (g *generator) metadata() field {
	pairs := map[string]string{}
	var elements strings.Builder
	for range g.r.IntN(3) {
		name, value := pick(g, metadataKeys), pick(g, metadataValues)
		if _, twice := pairs[name]; twice {
			continue
		}
		pairs[name] = value
		escaped := strings.NewReplacer("_", "__", "$", "_-").Replace(name)
		elements.WriteString("<" + escaped + ">" + escapeXML(value) + "</" + escaped + ">")
	}
	encoded, err := json.Marshal(pairs)
	if err != nil {
		panic(err) // strings always encode
	}
	return field{wireMetadata, string(encoded), "<metadata>" + elements.String() + "</metadata>"}
}

func text(name, value string) field {
	element := name
	if name == wireOverridden {
		element = "overriddenstatus"
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		panic(err) // strings always encode
	}
	return field{name, string(encoded), "<" + element + ">" + escapeXML(value) + "</" + element + ">"}
}

func escapeXML(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}

func replace(fields []field, with ...field) []field {
	for _, w := range with {
		kept := fields[:0:0]
		for _, f := range fields {
			if f.name != w.name {
				kept = append(kept, f)
			}
		}
		if w.json != "" {
			kept = append(kept, w)
		}
		fields = kept
	}
	return fields
}

func bodyJSON(fields []field) string {
	members := make([]string, 0, len(fields))
	for _, f := range fields {
		members = append(members, `"`+f.name+`":`+f.json)
	}
	return `{"instance":{` + strings.Join(members, ",") + `}}`
}

func bodyXML(fields []field) string {
	var b strings.Builder
	b.WriteString("<instance>")
	for _, f := range fields {
		b.WriteString(f.xml)
	}
	b.WriteString("</instance>")
	return b.String()
}
