package eureka

import (
	"math"
	"strings"
)

// effectiveID returns the id an instance is known by. Without one of its own
// it is what old Spring clients put into the metadata, prefixed with the host
// name; else the id Amazon gave the machine; else the host name.
func effectiveID(in *Instance) string {
	if in.InstanceID != "" {
		return in.InstanceID
	}
	if id := lookup(in.Metadata, "instanceId"); strings.TrimSpace(id) != "" {
		if strings.HasPrefix(id, in.HostName) {
			return id
		}
		return in.HostName + ":" + id
	}
	if id := lookup(in.DataCenter.Metadata, amazonInstanceID); id != "" {
		return id
	}
	return in.HostName
}

// amazonInstanceID is the metadata key of the id Amazon gave a machine.
const amazonInstanceID = "instance-id"

// completeAmazon gives an Amazon data centre block the machine id it lacks, as
// the reference server does; Java clients identify such instances by it.
func completeAmazon(in *Instance) {
	dc := &in.DataCenter
	if dc.Name != DataCenterAmazon || in.InstanceID == "" {
		return
	}
	for i := range dc.Metadata {
		if dc.Metadata[i].Key != amazonInstanceID {
			continue
		}
		if dc.Metadata[i].Value == "" {
			dc.Metadata[i].Value = in.InstanceID
		}
		return
	}
	dc.Metadata = append(dc.Metadata, Pair{amazonInstanceID, in.InstanceID})
}

// dataCenterName folds a name into the closed set. "" stays, so that Validate
// can tell a block without a name.
func dataCenterName(s string) string {
	s = strings.TrimSpace(s)
	switch {
	case s == "":
		return ""
	case strings.EqualFold(s, DataCenterAmazon):
		return DataCenterAmazon
	case strings.EqualFold(s, DataCenterNetflix):
		return DataCenterNetflix
	default:
		return DataCenterMyOwn
	}
}

// statusOr reads a status, or returns absent if there is none.
func statusOr(s string, absent Status) Status {
	if strings.TrimSpace(s) == "" {
		return absent
	}
	return ParseStatus(s)
}

// actionType folds a text into the closed set, "" if it is outside.
func actionType(s string) ActionType {
	switch a := ActionType(strings.ToUpper(strings.TrimSpace(s))); a {
	case ActionAdded, ActionModified, ActionDeleted:
		return a
	default:
		return ""
	}
}

// serviceID drops the placeholders that clients send for "unset".
func serviceID(s string) string {
	if s == "na" || s == "unknown" {
		return ""
	}
	return s
}

// countryID reads the country; zero and junk are the default, 1.
func countryID(n node) int {
	id, ok := n.integer()
	if !ok || id == 0 || id < math.MinInt32 || id > math.MaxInt32 {
		return 1
	}
	return int(id)
}

// lease reads the lease block; whatever is unreadable there is absent.
func lease(n node) Lease {
	return Lease{
		RenewalIntervalSecs: n.get("renewalIntervalInSecs").seconds(),
		DurationSecs:        n.get("durationInSecs").seconds(),
		RegistrationMS:      n.get("registrationTimestamp").millis(),
		LastRenewalMS:       n.get("lastRenewalTimestamp").millis(),
		EvictionMS:          n.get("evictionTimestamp").millis(),
		ServiceUpMS:         n.get("serviceUpTimestamp").millis(),
	}
}
