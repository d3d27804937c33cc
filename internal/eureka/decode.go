package eureka

import (
	"bytes"
	"strings"
)

// DecodeError says why a registration body cannot be read. It never repeats
// what the body contains.
type DecodeError struct {
	// Field names the member at fault, "" if the document as a whole is.
	Field string
	// Reason is a short phrase.
	Reason string
}

// Error returns the field and the reason.
func (e *DecodeError) Error() string {
	if e.Field == "" {
		return e.Reason
	}
	return e.Field + ": " + e.Reason
}

// DecodeInstance reads a registration body. JSON and XML are told apart by
// their first character, since Content-Type is often absent or wrong and a
// body that begins with neither "{" nor "<" can be read as neither.
//
// Everything that has a sensible default takes it when it is absent, null or
// unreadable: only ports are refused, because a wrong port is a wrong address,
// and text that is no text. The last of several values for one key counts.
// The size of the body is the caller's to bound; depth, number of values,
// metadata entries and text lengths are bounded here. Errors are *DecodeError.
func DecodeInstance(body []byte) (Instance, error) {
	body = bytes.Trim(bytes.TrimPrefix(body, []byte("\uFEFF")), " \t\r\n")
	if len(body) == 0 {
		return Instance{}, &DecodeError{Reason: "the body is empty"}
	}
	var root node
	var err error
	switch body[0] {
	case '{':
		root, err = parseJSON(body)
	case '<':
		root, err = parseXML(body)
	default:
		err = &DecodeError{Reason: "the body is neither JSON nor XML"}
	}
	if err != nil {
		return Instance{}, err
	}
	var d decoder
	in := d.instance(root)
	if d.err != nil {
		return Instance{}, d.err
	}
	return in, nil
}

// decoder turns a parsed document into an Instance and keeps the first error.
type decoder struct {
	err error
}

func (d *decoder) fail(field, reason string) {
	if d.err == nil {
		d.err = &DecodeError{Field: field, Reason: reason}
	}
}

func (d *decoder) instance(n node) Instance {
	text := func(key string) string { return d.text(n.get(key), key) }
	upper := func(key string) string { return d.upper(n, key) }
	in := Instance{
		InstanceID:   text("instanceId"),
		HostName:     text("hostName"),
		App:          upper("app"),
		AppGroupName: upper("appGroupName"),
		IPAddr:       text("ipAddr"),
		SID:          serviceID(text("sid")),

		Status:           statusOr(text("status"), StatusUp),
		OverriddenStatus: statusOr(d.text(n.get("overriddenStatus", "overriddenstatus"), "overriddenStatus"), StatusUnknown),

		Port:       d.port(n.get("port"), "port", Port{Number: 7001, Enabled: true}),
		SecurePort: d.port(n.get("securePort"), "securePort", Port{Number: 7002}),

		CountryID:  countryID(n.get("countryId")),
		DataCenter: d.dataCenter(n.get("dataCenterInfo")),
		Lease:      lease(n.get("leaseInfo")),
		Metadata:   d.pairs(n.get("metadata"), "metadata"),

		HomePageURL:          text("homePageUrl"),
		StatusPageURL:        text("statusPageUrl"),
		HealthCheckURL:       text("healthCheckUrl"),
		SecureHealthCheckURL: text("secureHealthCheckUrl"),

		VIP:       text("vipAddress"),
		SecureVIP: text("secureVipAddress"),

		CoordinatingServer: n.get("isCoordinatingDiscoveryServer").isTrue(),
		LastUpdatedMS:      n.get("lastUpdatedTimestamp").millis(),
		LastDirtyMS:        n.get("lastDirtyTimestamp").millis(),
		ActionType:         actionType(text("actionType")),
		ASGName:            text("asgName"),
	}
	in.InstanceID = d.bounded(effectiveID(&in), "instanceId")
	completeAmazon(&in)
	return in
}

// text reads an optional text field; numbers and flags count as their text.
func (d *decoder) text(n node, field string) string {
	if n.kind == kindObject || n.kind == kindArray {
		d.fail(field, "not a text")
	}
	return d.bounded(n.text, field)
}

// upper reads an optional text field in upper case.
func (d *decoder) upper(n node, field string) string {
	return d.bounded(strings.ToUpper(d.text(n.get(field), field)), field)
}

// bounded returns s, or "" with an error if it is longer than a field may be.
func (d *decoder) bounded(s, field string) string {
	if len(s) > MaxFieldBytes {
		d.fail(field, "too long")
		return ""
	}
	return s
}

// port reads a port: an object with "$" and "@enabled", or the number alone. A
// bare JSON number is enabled if it is a port at all; text alone, as in XML
// without the attribute, has the flag its field has by default.
func (d *decoder) port(n node, field string, absent Port) Port {
	port, number := absent, n
	switch n.kind {
	case kindNull:
		return absent
	case kindArray:
		d.fail(field, "not a port")
		return absent
	case kindObject:
		number = n.get("$")
		if flag := n.get("@enabled", "enabled"); flag.kind != kindNull {
			port.Enabled = flag.isTrue()
		}
	default: // a bare number, or text
	}
	if number.isBlank() {
		return port
	}
	value, ok := number.integer()
	if !ok {
		d.fail(field, "not a number")
	}
	if value < minPort || value > maxPort {
		d.fail(field, "out of range")
	}
	port.Number = int(value)
	if n.kind == kindNumber {
		port.Enabled = value > 0
	}
	return port
}

// The bounds of a port number. Negative ones occur in the field and are kept.
const (
	minPort = -1 << 31
	maxPort = 1<<16 - 1
)

// dataCenter reads the data centre block. The class counts for nothing: what
// clients send there disagrees with the name too often.
func (d *decoder) dataCenter(n node) DataCenter {
	switch n.kind {
	case kindNull:
		return DataCenter{Absent: true}
	case kindObject:
	default:
		return DataCenter{Name: dataCenterName(d.text(n, "dataCenterInfo"))}
	}
	dc := DataCenter{Name: dataCenterName(d.text(n.get("name"), "dataCenterInfo.name"))}
	if dc.Name == DataCenterAmazon {
		dc.Metadata = d.pairs(n.get("metadata"), "dataCenterInfo.metadata")
	}
	return dc
}

// isMarker reports whether a metadata member says nothing: a null, a reserved
// key, or the mark of an empty map.
func (m member) isMarker() bool {
	return m.value.kind == kindNull || reservedKey(m.key) || m.key == "class" && m.value.text == classEmptyMap
}

// pairs reads a metadata object. Nulls and type markers are dropped, nested
// values become their JSON text. An empty array is what PHP makes of an empty
// map.
func (d *decoder) pairs(n node, field string) []Pair {
	if n.isBlank() || n.kind == kindArray && len(n.members) == 0 {
		return nil
	}
	if n.kind != kindObject {
		d.fail(field, "not an object")
		return nil
	}
	var pairs []Pair
	for _, m := range lastMembers(n.members) {
		if m.isMarker() {
			continue
		}
		p := Pair{Key: m.key, Value: m.value.string()}
		if len(p.Key) > MaxFieldBytes || len(p.Value) > MaxMetadataValueBytes {
			d.fail(field, "an entry is too long")
			return nil
		}
		pairs = append(pairs, p)
	}
	if len(pairs) > MaxMetadataPairs {
		d.fail(field, "too many entries")
		return nil
	}
	return pairs
}
