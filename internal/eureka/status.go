package eureka

import "strings"

// Status is an instance status as it appears on the wire, always one of the
// five constants below.
type Status string

// The closed set of statuses. Strict clients refuse a document with any other.
const (
	StatusDown         Status = "DOWN"
	StatusOutOfService Status = "OUT_OF_SERVICE"
	StatusStarting     Status = "STARTING"
	StatusUnknown      Status = "UNKNOWN"
	StatusUp           Status = "UP"
)

// statusNames lists the statuses in alphabetical order, the order in which the
// reconcile hash and StatusCounts hold them.
var statusNames = [...]Status{StatusDown, StatusOutOfService, StatusStarting, StatusUnknown, StatusUp}

// ParseStatus reads a status a client sent: surrounding space and case do not
// matter, and everything outside the closed set is StatusUnknown.
func ParseStatus(s string) Status {
	status, _ := KnownStatus(strings.TrimSpace(s))
	return status
}

// KnownStatus reports whether s is exactly one of the five names in any case,
// and which. For any other text it returns StatusUnknown and false.
func KnownStatus(s string) (Status, bool) {
	for _, name := range statusNames {
		if strings.EqualFold(s, string(name)) {
			return name, true
		}
	}
	return StatusUnknown, false
}

// index returns the status's place in statusNames; anything outside the closed
// set counts as StatusUnknown.
func (s Status) index() int {
	switch s {
	case StatusDown:
		return 0
	case StatusOutOfService:
		return 1
	case StatusStarting:
		return 2
	case StatusUp:
		return 4
	default:
		return 3
	}
}

// wire returns the status if it belongs to the closed set, else StatusUnknown.
func (s Status) wire() Status {
	return statusNames[s.index()]
}
