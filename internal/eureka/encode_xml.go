package eureka

import (
	"strconv"
	"unicode/utf8"
)

// The ends of the XML documents begun by AppendApplicationOpenXML and
// AppendApplicationsHeadXML.
const (
	ApplicationCloseXML = `</application>`
	ApplicationsTailXML = `</applications>`
)

// AppendApplicationsHeadXML appends the start of an applications document up
// to its first application. There is no XML declaration, as in the reference
// server's answers.
func AppendApplicationsHeadXML(dst []byte, version, hash string) []byte {
	dst = append(dst, `<applications>`...)
	dst = appendElementXML(dst, "versions__delta", version)
	return appendElementXML(dst, "apps__hashcode", hash)
}

// AppendApplicationOpenXML appends the start of an application up to its
// first instance.
func AppendApplicationOpenXML(dst []byte, name string) []byte {
	dst = append(dst, `<application>`...)
	return appendElementXML(dst, "name", name)
}

// AppendInstanceXML appends one instance element in the reference server's
// order. It does not allocate when dst has room. Nothing is indented: some
// readers take white space inside empty metadata for content.
func AppendInstanceXML(dst []byte, in *Instance) []byte {
	dst = append(dst, `<instance>`...)
	dst = appendElementXML(dst, "instanceId", in.InstanceID)
	dst = appendElementXML(dst, "hostName", in.HostName)
	dst = appendElementXML(dst, "app", in.App)
	dst = appendElementXML(dst, "ipAddr", in.IPAddr)
	dst = appendOptionalXML(dst, "sid", in.SID)
	dst = appendElementXML(dst, "status", string(in.Status.wire()))
	dst = appendElementXML(dst, "overriddenstatus", string(in.OverriddenStatus.wire()))
	dst = appendPortXML(dst, "port", in.Port)
	dst = appendPortXML(dst, "securePort", in.SecurePort)
	dst = appendNumberXML(dst, "countryId", int64(in.wireCountryID()))
	dst = appendDataCenterXML(dst, in, in.DataCenter.Metadata)
	dst = appendLeaseXML(dst, &in.Lease)
	dst = appendPairsXML(dst, in.Metadata)
	dst = appendOptionalXML(dst, "appGroupName", in.AppGroupName)
	dst = appendOptionalXML(dst, "homePageUrl", in.HomePageURL)
	dst = appendOptionalXML(dst, "statusPageUrl", in.StatusPageURL)
	dst = appendOptionalXML(dst, "healthCheckUrl", in.HealthCheckURL)
	dst = appendOptionalXML(dst, "secureHealthCheckUrl", in.SecureHealthCheckURL)
	dst = appendOptionalXML(dst, "vipAddress", in.VIP)
	dst = appendOptionalXML(dst, "secureVipAddress", in.SecureVIP)
	dst = append(dst, `<isCoordinatingDiscoveryServer>`...)
	dst = strconv.AppendBool(dst, in.CoordinatingServer)
	dst = append(dst, `</isCoordinatingDiscoveryServer>`...)
	dst = appendNumberXML(dst, "lastUpdatedTimestamp", in.LastUpdatedMS)
	dst = appendNumberXML(dst, "lastDirtyTimestamp", in.LastDirtyMS)
	dst = appendElementXML(dst, "actionType", string(in.ActionType.wire()))
	dst = appendOptionalXML(dst, "asgName", in.ASGName)
	return append(dst, `</instance>`...)
}

func appendPortXML(dst []byte, name string, p Port) []byte {
	dst = append(dst, '<')
	dst = append(dst, name...)
	dst = append(dst, ` enabled="`...)
	dst = strconv.AppendBool(dst, p.Enabled)
	dst = append(dst, `">`...)
	dst = strconv.AppendInt(dst, int64(p.Number), 10)
	return appendEndXML(dst, name)
}

func appendDataCenterXML(dst []byte, in *Instance, metadata []Pair) []byte {
	name, class := in.DataCenter.wire()
	dst = append(dst, `<dataCenterInfo class="`...)
	dst = append(dst, class...)
	dst = append(dst, `">`...)
	dst = appendElementXML(dst, "name", name)
	if name == DataCenterAmazon {
		if len(metadata) > 0 {
			dst = appendPairsXML(dst, metadata)
		} else {
			dst = append(dst, `<metadata>`...)
			dst = appendElementXML(dst, "instance-id", in.InstanceID)
			dst = append(dst, `</metadata>`...)
		}
	}
	return append(dst, `</dataCenterInfo>`...)
}

func appendLeaseXML(dst []byte, l *Lease) []byte {
	renewal, duration := l.wireSecs()
	dst = append(dst, `<leaseInfo>`...)
	dst = appendNumberXML(dst, "renewalIntervalInSecs", renewal)
	dst = appendNumberXML(dst, "durationInSecs", duration)
	dst = appendNumberXML(dst, "registrationTimestamp", l.RegistrationMS)
	dst = appendNumberXML(dst, "lastRenewalTimestamp", l.LastRenewalMS)
	dst = appendNumberXML(dst, "evictionTimestamp", l.EvictionMS)
	dst = appendNumberXML(dst, "serviceUpTimestamp", l.ServiceUpMS)
	return append(dst, `</leaseInfo>`...)
}

// appendPairsXML appends a metadata element, self-closed with the empty map
// marker if there is nothing in it.
func appendPairsXML(dst []byte, pairs []Pair) []byte {
	open := false
	for _, p := range pairs {
		if reservedKey(p.Key) {
			continue
		}
		if !open {
			dst = append(dst, `<metadata>`...)
			open = true
		}
		dst = append(dst, '<')
		dst = appendXMLName(dst, p.Key)
		dst = append(dst, '>')
		dst = appendTextXML(dst, p.Value)
		dst = append(dst, '<', '/')
		dst = appendXMLName(dst, p.Key)
		dst = append(dst, '>')
	}
	if !open {
		return append(dst, `<metadata class="`+classEmptyMap+`"/>`...)
	}
	return append(dst, `</metadata>`...)
}

func appendNumberXML(dst []byte, name string, n int64) []byte {
	dst = appendStartXML(dst, name)
	dst = strconv.AppendInt(dst, n, 10)
	return appendEndXML(dst, name)
}

func appendOptionalXML(dst []byte, name, value string) []byte {
	if value == "" {
		return dst
	}
	return appendElementXML(dst, name, value)
}

func appendElementXML(dst []byte, name, value string) []byte {
	dst = appendStartXML(dst, name)
	dst = appendTextXML(dst, value)
	return appendEndXML(dst, name)
}

func appendStartXML(dst []byte, name string) []byte {
	dst = append(dst, '<')
	dst = append(dst, name...)
	return append(dst, '>')
}

func appendEndXML(dst []byte, name string) []byte {
	dst = append(dst, '<', '/')
	dst = append(dst, name...)
	return append(dst, '>')
}

// appendTextXML appends character data. Characters that XML 1.0 cannot carry,
// not even as references, are dropped; invalid bytes become U+FFFD. A carriage
// return is written as a reference because parsers turn it into a line feed.
func appendTextXML(dst []byte, s string) []byte {
	done := 0
	for i := 0; i < len(s); {
		r, size := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(s[i:])
		}
		if plainTextXML(r, size) {
			i += size
			continue
		}
		dst = append(dst, s[done:i]...)
		dst = append(dst, referenceXML(r)...)
		i += size
		done = i
	}
	return append(dst, s[done:]...)
}

// plainTextXML reports whether a character of the given encoded size can stand
// in character data as it is.
func plainTextXML(r rune, size int) bool {
	switch {
	case r < ' ':
		return r == '\t' || r == '\n'
	case r == '&' || r == '<' || r == '>':
		return false
	case r == utf8.RuneError:
		return size > 1
	default:
		return r != 0xFFFE && r != 0xFFFF
	}
}

// referenceXML returns what is written for a character that is not plain text.
func referenceXML(r rune) string {
	switch r {
	case '&':
		return "&amp;"
	case '<':
		return "&lt;"
	case '>':
		return "&gt;"
	case '\r':
		return "&#xD;"
	case utf8.RuneError:
		return "\uFFFD"
	default:
		return ""
	}
}
