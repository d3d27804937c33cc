package eureka

// Bounds and defaults of the wire fields.
const (
	// DefaultRenewalIntervalSecs and DefaultDurationSecs are what a lease
	// without figures of its own is written with, in seconds.
	DefaultRenewalIntervalSecs = 30
	DefaultDurationSecs        = 90

	// MaxLeaseSecs is the longest renewal interval and lease duration a
	// registration can declare, 24 days in seconds; more is cut to it. It is
	// the longest that still fits in 32 bits of milliseconds.
	MaxLeaseSecs = 24 * 24 * 60 * 60

	// MaxTimestampMS is the end of the year 9999 in Unix milliseconds; later
	// times are cut to it.
	MaxTimestampMS = 253402300799999

	// MaxMetadataPairs is the largest number of metadata entries.
	MaxMetadataPairs = 1000

	// MaxFieldBytes bounds every text field and metadata key, in bytes.
	MaxFieldBytes = 8 << 10

	// MaxMetadataValueBytes bounds one metadata value, in bytes.
	MaxMetadataValueBytes = 64 << 10
)

// The data centre names of the wire. A name outside this set is read and
// written as DataCenterMyOwn.
const (
	DataCenterAmazon  = "Amazon"
	DataCenterMyOwn   = "MyOwn"
	DataCenterNetflix = "Netflix"
)

// ActionType says how an instance last changed.
type ActionType string

// The closed set of action types.
const (
	ActionAdded    ActionType = "ADDED"
	ActionModified ActionType = "MODIFIED"
	ActionDeleted  ActionType = "DELETED"
)

// Instance holds the wire fields of one instance. Text is valid UTF-8 after
// decoding; "" means that an optional field is unset and is not written.
// Times are Unix milliseconds, 0 means absent.
type Instance struct {
	InstanceID   string // effective id: after decoding empty only if there is no host name either
	HostName     string
	App          string // upper case
	AppGroupName string // upper case, optional
	IPAddr       string
	SID          string // optional; the placeholders "na" and "unknown" are read as unset

	Status           Status // effective status
	OverriddenStatus Status // StatusUnknown means no override

	Port       Port
	SecurePort Port

	CountryID  int // 0 is written as 1
	DataCenter DataCenter
	Lease      Lease
	Metadata   []Pair // in the order sent, keys unique

	HomePageURL          string
	StatusPageURL        string
	HealthCheckURL       string
	SecureHealthCheckURL string

	VIP       string // verbatim, may be a comma list
	SecureVIP string

	CoordinatingServer bool
	LastUpdatedMS      int64
	LastDirtyMS        int64
	ActionType         ActionType // "" is written as ActionAdded
	ASGName            string
}

// Port is a port number with its flag. Numbers run from the smallest 32-bit
// integer, since clients without a secure port send -1, to 65535.
type Port struct {
	Number  int
	Enabled bool
}

// DataCenter is the data centre block.
type DataCenter struct {
	// Absent is set by decoding when the body had no such block. Only Validate
	// looks at it.
	Absent bool
	// Name is one of the DataCenter constants; "" means the block had no name.
	Name string
	// Metadata exists for DataCenterAmazon only.
	Metadata []Pair
}

// Lease is the lease block.
type Lease struct {
	// RenewalIntervalSecs and DurationSecs are seconds in 0..MaxLeaseSecs; 0
	// means that the client left the choice to the server.
	RenewalIntervalSecs int
	DurationSecs        int

	RegistrationMS int64
	LastRenewalMS  int64
	EvictionMS     int64
	ServiceUpMS    int64
}

// Pair is one metadata entry.
type Pair struct {
	Key   string
	Value string
}

// lookup returns the value of key in pairs, "" if there is none.
func lookup(pairs []Pair, key string) string {
	for _, p := range pairs {
		if p.Key == key {
			return p.Value
		}
	}
	return ""
}
