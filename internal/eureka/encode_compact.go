package eureka

import "slices"

// compactAmazon lists what the compact form keeps of an Amazon machine's
// metadata.
var compactAmazon = [...]string{amazonInstanceID, "public-ipv4", "public-hostname", "local-ipv4", "availability-zone"}

// compactPairs returns the pairs that the compact form keeps of an Amazon data
// centre block.
func compactPairs(in *Instance) []Pair {
	if in.DataCenter.Name != DataCenterAmazon || len(in.DataCenter.Metadata) == 0 {
		return nil
	}
	kept := make([]Pair, 0, len(compactAmazon))
	for _, p := range in.DataCenter.Metadata {
		if slices.Contains(compactAmazon[:], p.Key) {
			kept = append(kept, p)
		}
	}
	return kept
}

// AppendCompactInstanceJSON appends an instance the way clients read it that
// asked for the compact form: what is needed to find and call it, without lease,
// metadata, URLs and override. The time of the last change is a number there.
func AppendCompactInstanceJSON(dst []byte, in *Instance) []byte {
	dst = appendMemberJSON(dst, `{"instanceId":`, in.InstanceID)
	dst = appendMemberJSON(dst, `,"app":`, in.App)
	dst = appendMemberJSON(dst, `,"ipAddr":`, in.IPAddr)
	dst = appendOptionalJSON(dst, `,"vipAddress":`, in.VIP)
	dst = appendOptionalJSON(dst, `,"secureVipAddress":`, in.SecureVIP)
	dst = appendDataCenterJSON(dst, in, compactPairs(in))
	dst = appendMemberJSON(dst, `,"hostName":`, in.HostName)
	dst = appendMemberJSON(dst, `,"status":`, string(in.Status.wire()))
	dst = appendNumberJSON(dst, `,"lastUpdatedTimestamp":`, in.LastUpdatedMS)
	dst = appendMemberJSON(dst, `,"actionType":`, string(in.ActionType.wire()))
	dst = appendOptionalJSON(dst, `,"asgName":`, in.ASGName)
	dst = appendPortJSON(dst, `,"port":`, in.Port)
	dst = appendPortJSON(dst, `,"securePort":`, in.SecurePort)
	return append(dst, '}')
}

// AppendCompactInstanceXML is AppendCompactInstanceJSON in XML.
func AppendCompactInstanceXML(dst []byte, in *Instance) []byte {
	dst = append(dst, `<instance>`...)
	dst = appendElementXML(dst, "instanceId", in.InstanceID)
	dst = appendElementXML(dst, "app", in.App)
	dst = appendElementXML(dst, "ipAddr", in.IPAddr)
	dst = appendOptionalXML(dst, "vipAddress", in.VIP)
	dst = appendOptionalXML(dst, "secureVipAddress", in.SecureVIP)
	dst = appendDataCenterXML(dst, in, compactPairs(in))
	dst = appendElementXML(dst, "hostName", in.HostName)
	dst = appendElementXML(dst, "status", string(in.Status.wire()))
	dst = appendNumberXML(dst, "lastUpdatedTimestamp", in.LastUpdatedMS)
	dst = appendElementXML(dst, "actionType", string(in.ActionType.wire()))
	dst = appendOptionalXML(dst, "asgName", in.ASGName)
	dst = appendPortXML(dst, "port", in.Port)
	dst = appendPortXML(dst, "securePort", in.SecurePort)
	return append(dst, `</instance>`...)
}
