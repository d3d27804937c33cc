package registry

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Key names one instance: the application in upper case and the instance id
// exactly as the client wrote it.
type Key struct {
	App string
	ID  string
}

// NewKey returns the key for an application name in any case and an id.
func NewKey(app, id string) Key { return Key{App: strings.ToUpper(app), ID: id} }

func (k Key) String() string { return k.App + "/" + k.ID }

func (k Key) compare(o Key) int {
	if c := strings.Compare(k.App, o.App); c != 0 {
		return c
	}
	return strings.Compare(k.ID, o.ID)
}

// Status is an instance status. The zero value None means that there is none,
// as in "no override".
type Status uint8

// The statuses of the Eureka protocol, in the alphabetical order of their names.
const (
	None Status = iota
	Down
	OutOfService
	Starting
	Unknown
	Up
)

var statusNames = [...]string{"", "DOWN", "OUT_OF_SERVICE", "STARTING", "UNKNOWN", "UP"}

// String returns the protocol's name, or "" for None.
func (s Status) String() string {
	if int(s) >= len(statusNames) {
		return ""
	}
	return statusNames[s]
}

// ParseStatus reads one of the protocol's five names in any case.
// It returns None for anything else.
func ParseStatus(name string) Status {
	for s := Down; s <= Up; s++ {
		if strings.EqualFold(name, statusNames[s]) {
			return s
		}
	}
	return None
}

// MarshalText implements encoding.TextMarshaler.
func (s Status) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler. It takes what MarshalText
// gives and nothing else.
func (s *Status) UnmarshalText(text []byte) error {
	i := slices.Index(statusNames[:], string(text))
	if i < 0 {
		return fmt.Errorf("unknown status %q", text)
	}
	*s = Status(i)
	return nil
}

// Counts is the number of listed instances by status, indexed by Status-1, that
// is in the alphabetical order of the status names.
type Counts [5]int

// Of returns the number of instances with status s, zero for None.
func (c Counts) Of(s Status) int {
	if s == None || s > Up {
		return 0
	}
	return c[s-1]
}

func (c *Counts) add(s Status, n int) {
	if s != None && s <= Up {
		c[s-1] += n
	}
}

// Pair is one metadata entry. Order is kept because clients compare bodies.
type Pair struct{ Key, Value string }

// Port is a port number (0 to 65535) and whether the client declared it enabled.
type Port struct {
	Number  int  `json:",omitzero"`
	Enabled bool `json:",omitzero"`
}

// DataCenter is the client's dataCenterInfo: its name (Netflix, Amazon or MyOwn)
// and, for Amazon, its metadata.
type DataCenter struct {
	Name     string `json:",omitzero"`
	Metadata []Pair `json:",omitzero"`
}

// Record is what a client said about itself in its last registration. It is
// immutable once it has been handed to the engine.
type Record struct {
	App      string `json:",omitzero"` // upper case
	ID       string `json:",omitzero"`
	HostName string `json:",omitzero"`
	IPAddr   string `json:",omitzero"` // as the client wrote it; not always an address

	VIP, SecureVIP   string     `json:",omitzero"` // comma lists, verbatim
	Port, SecurePort Port       `json:",omitzero"`
	CountryID        int        `json:",omitzero"`
	DataCenter       DataCenter `json:",omitzero"`
	Metadata         []Pair     `json:",omitzero"`

	AppGroup, SID, ASG              string        `json:",omitzero"`
	HomePageURL, StatusPageURL      string        `json:",omitzero"`
	HealthCheckURL, SecureHealthURL string        `json:",omitzero"`
	Status                          Status        `json:",omitzero"` // as registered; None counts as Up
	Dirty                           int64         `json:",omitzero"` // lastDirtyTimestamp, Unix ms
	RenewalInterval, LeaseDuration  time.Duration `json:",omitzero"` // zero: the policy's default

	// From is the peer that sent this copy of the record; "" if the client did.
	From string `json:",omitzero"`
}

// Key returns the record's key.
func (r *Record) Key() Key { return Key{App: r.App, ID: r.ID} }

// Ports returns the ports that the client declared enabled. Most clients send a
// secure port they do not have, disabled.
func (r *Record) Ports() []int {
	var out []int
	for _, p := range []Port{r.Port, r.SecurePort} {
		if p.Enabled && p.Number > 0 && p.Number <= 65535 {
			out = append(out, p.Number)
		}
	}
	return out
}

// withoutMetadata returns a copy for the change log, where deleted records are
// kept for a while: clients delete by id and read nothing else.
func (r *Record) withoutMetadata() *Record {
	slim := *r
	slim.Metadata = nil
	if len(r.DataCenter.Metadata) > 0 {
		slim.DataCenter.Metadata = []Pair{{"instance-id", r.ID}}
	}
	return &slim
}

// size estimates the length of the encoded record in bytes. Segments are cut by
// it; nothing else depends on its exactness.
func (r *Record) size() int {
	n := 640 + 2*len(r.App) + len(r.ID) + len(r.HostName) + len(r.IPAddr) + len(r.VIP) + len(r.SecureVIP) +
		len(r.AppGroup) + len(r.SID) + len(r.ASG) +
		len(r.HomePageURL) + len(r.StatusPageURL) + len(r.HealthCheckURL) + len(r.SecureHealthURL)
	for _, m := range r.Metadata {
		n += len(m.Key) + len(m.Value) + 6
	}
	for _, m := range r.DataCenter.Metadata {
		n += len(m.Key) + len(m.Value) + 6
	}
	return n
}
