package eureka

import (
	"strconv"
	"unicode/utf8"
)

// The ends of the JSON documents begun by AppendApplicationOpenJSON and
// AppendApplicationsHeadJSON.
const (
	ApplicationCloseJSON = `]}`
	ApplicationsTailJSON = `]}}`
)

// The type markers that Java clients need: the class of the data centre block
// and the stand-in for empty metadata.
const (
	classAmazonInfo        = `com.netflix.appinfo.AmazonInfo`
	classDefaultDataCenter = `com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo`
	classEmptyMap          = `java.util.Collections$EmptyMap`
)

// AppendApplicationsHeadJSON appends the start of an applications document up
// to the opening bracket of the array of applications.
func AppendApplicationsHeadJSON(dst []byte, version, hash string) []byte {
	dst = appendMemberJSON(dst, `{"applications":{"versions__delta":`, version)
	dst = appendMemberJSON(dst, `,"apps__hashcode":`, hash)
	return append(dst, `,"application":[`...)
}

// AppendApplicationOpenJSON appends the start of an application up to the
// opening bracket of its array of instances.
func AppendApplicationOpenJSON(dst []byte, name string) []byte {
	dst = appendMemberJSON(dst, `{"name":`, name)
	return append(dst, `,"instance":[`...)
}

// AppendInstanceJSON appends one instance object, without a root, in the
// reference server's order. It does not allocate when dst has room.
// Types are fixed because typed clients refuse others: ports, country and
// lease figures are numbers, every other value is a string. Unset optional
// fields are left out, never null.
func AppendInstanceJSON(dst []byte, in *Instance) []byte {
	dst = appendMemberJSON(dst, `{"instanceId":`, in.InstanceID)
	dst = appendMemberJSON(dst, `,"hostName":`, in.HostName)
	dst = appendMemberJSON(dst, `,"app":`, in.App)
	dst = appendMemberJSON(dst, `,"ipAddr":`, in.IPAddr)
	dst = appendOptionalJSON(dst, `,"sid":`, in.SID)
	dst = appendMemberJSON(dst, `,"status":`, string(in.Status.wire()))
	dst = appendMemberJSON(dst, `,"overriddenStatus":`, string(in.OverriddenStatus.wire()))
	dst = appendPortJSON(dst, `,"port":`, in.Port)
	dst = appendPortJSON(dst, `,"securePort":`, in.SecurePort)
	dst = appendNumberJSON(dst, `,"countryId":`, int64(in.wireCountryID()))
	dst = appendDataCenterJSON(dst, in, in.DataCenter.Metadata)
	dst = appendLeaseJSON(dst, &in.Lease)
	dst = append(dst, `,"metadata":`...)
	dst = appendPairsJSON(dst, in.Metadata)
	dst = appendOptionalJSON(dst, `,"appGroupName":`, in.AppGroupName)
	dst = appendOptionalJSON(dst, `,"homePageUrl":`, in.HomePageURL)
	dst = appendOptionalJSON(dst, `,"statusPageUrl":`, in.StatusPageURL)
	dst = appendOptionalJSON(dst, `,"healthCheckUrl":`, in.HealthCheckURL)
	dst = appendOptionalJSON(dst, `,"secureHealthCheckUrl":`, in.SecureHealthCheckURL)
	dst = appendOptionalJSON(dst, `,"vipAddress":`, in.VIP)
	dst = appendOptionalJSON(dst, `,"secureVipAddress":`, in.SecureVIP)
	dst = append(dst, `,"isCoordinatingDiscoveryServer":"`...)
	dst = strconv.AppendBool(dst, in.CoordinatingServer)
	dst = append(dst, `","lastUpdatedTimestamp":"`...)
	dst = strconv.AppendInt(dst, in.LastUpdatedMS, 10)
	dst = append(dst, `","lastDirtyTimestamp":"`...)
	dst = strconv.AppendInt(dst, in.LastDirtyMS, 10)
	dst = append(dst, '"')
	dst = appendMemberJSON(dst, `,"actionType":`, string(in.ActionType.wire()))
	dst = appendOptionalJSON(dst, `,"asgName":`, in.ASGName)
	return append(dst, '}')
}

// appendPortJSON appends a port object; the flag is a string on the wire.
func appendPortJSON(dst []byte, key string, p Port) []byte {
	dst = append(dst, key...)
	dst = appendNumberJSON(dst, `{"$":`, int64(p.Number))
	dst = append(dst, `,"@enabled":"`...)
	dst = strconv.AppendBool(dst, p.Enabled)
	return append(dst, `"}`...)
}

// appendDataCenterJSON appends the data centre block: class before name,
// metadata for Amazon only, as Java clients refuse anything else.
func appendDataCenterJSON(dst []byte, in *Instance, metadata []Pair) []byte {
	name, class := in.DataCenter.wire()
	dst = append(dst, `,"dataCenterInfo":{"@class":"`...)
	dst = append(dst, class...)
	dst = append(dst, `","name":"`...)
	dst = append(dst, name...)
	dst = append(dst, '"')
	if name == DataCenterAmazon {
		dst = append(dst, `,"metadata":`...)
		if len(metadata) > 0 {
			dst = appendPairsJSON(dst, metadata)
		} else {
			dst = appendMemberJSON(dst, `{"instance-id":`, in.InstanceID)
			dst = append(dst, '}')
		}
	}
	return append(dst, '}')
}

func appendLeaseJSON(dst []byte, l *Lease) []byte {
	renewal, duration := l.wireSecs()
	dst = appendNumberJSON(dst, `,"leaseInfo":{"renewalIntervalInSecs":`, renewal)
	dst = appendNumberJSON(dst, `,"durationInSecs":`, duration)
	dst = appendNumberJSON(dst, `,"registrationTimestamp":`, l.RegistrationMS)
	dst = appendNumberJSON(dst, `,"lastRenewalTimestamp":`, l.LastRenewalMS)
	dst = appendNumberJSON(dst, `,"evictionTimestamp":`, l.EvictionMS)
	dst = appendNumberJSON(dst, `,"serviceUpTimestamp":`, l.ServiceUpMS)
	return append(dst, '}')
}

// appendPairsJSON appends an object of strings, or the empty map marker.
func appendPairsJSON(dst []byte, pairs []Pair) []byte {
	separator := byte('{')
	for _, p := range pairs {
		if reservedKey(p.Key) {
			continue
		}
		dst = append(dst, separator)
		separator = ','
		dst = appendStringJSON(dst, p.Key)
		dst = append(dst, ':')
		dst = appendStringJSON(dst, p.Value)
	}
	if separator == '{' {
		return append(dst, `{"@class":"`+classEmptyMap+`"}`...)
	}
	return append(dst, '}')
}

func appendNumberJSON(dst []byte, key string, n int64) []byte {
	return strconv.AppendInt(append(dst, key...), n, 10)
}

func appendOptionalJSON(dst []byte, key, value string) []byte {
	if value == "" {
		return dst
	}
	return appendMemberJSON(dst, key, value)
}

// appendMemberJSON appends a key, which the caller gives with its punctuation,
// and a string.
func appendMemberJSON(dst []byte, key, value string) []byte {
	return appendStringJSON(append(dst, key...), value)
}

// appendStringJSON appends a quoted string. Control characters are escaped and
// every invalid byte becomes U+FFFD, so the result is always valid.
func appendStringJSON(dst []byte, s string) []byte {
	dst = append(dst, '"')
	done := 0
	for i := 0; i < len(s); {
		c := s[i]
		size := 1
		if c >= utf8.RuneSelf {
			var r rune
			r, size = utf8.DecodeRuneInString(s[i:])
			if r != utf8.RuneError || size > 1 {
				i += size
				continue
			}
		} else if c >= ' ' && c != '"' && c != '\\' {
			i++
			continue
		}
		dst = append(dst, s[done:i]...)
		dst = appendEscapedJSON(dst, c)
		i += size
		done = i
	}
	dst = append(dst, s[done:]...)
	return append(dst, '"')
}

// appendEscapedJSON appends a byte that cannot stand in a string as it is.
func appendEscapedJSON(dst []byte, c byte) []byte {
	switch {
	case c >= utf8.RuneSelf:
		return utf8.AppendRune(dst, utf8.RuneError)
	case c == '"' || c == '\\':
		return append(dst, '\\', c)
	case c == '\n':
		return append(dst, `\n`...)
	case c == '\r':
		return append(dst, `\r`...)
	case c == '\t':
		return append(dst, `\t`...)
	default:
		return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xF])
	}
}

const hexDigits = "0123456789abcdef"
