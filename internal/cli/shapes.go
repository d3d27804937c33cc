package cli

import "time"

// The shapes below are what the registry's JSON API answers. A test holds them
// against its description.

type explanation struct {
	App          string     `json:"app"`
	ID           string     `json:"id"`
	Listed       bool       `json:"listed"`
	Status       string     `json:"status,omitempty"`
	ClientStatus string     `json:"clientStatus,omitempty"`
	Override     string     `json:"override,omitempty"`
	Verdict      verdict    `json:"verdict"`
	Checks       []check    `json:"checks"`
	Binding      binding    `json:"binding"`
	Lease        *lease     `json:"lease,omitempty"`
	Floor        floor      `json:"floor"`
	Policy       policy     `json:"policy"`
	Changes      []change   `json:"changes"`
	ViewFresh    bool       `json:"viewFresh"`
	UpdatedAt    *time.Time `json:"updatedAt,omitempty"`
}

type verdict struct {
	Class     string     `json:"class"`
	Reason    string     `json:"reason,omitempty"`
	Witness   string     `json:"witness,omitempty"`
	Confirmed string     `json:"confirmed,omitempty"`
	Detail    string     `json:"detail,omitempty"`
	NextCheck *time.Time `json:"nextCheck,omitempty"`
	InForce   string     `json:"inForce,omitempty"`
}

type check struct {
	Name    string `json:"name"`
	Class   string `json:"class"`
	Fires   bool   `json:"fires"`
	Ignored bool   `json:"ignored,omitempty"`
	Detail  string `json:"detail,omitempty"`
	Waits   string `json:"waits,omitempty"`
}

type binding struct {
	Source  string   `json:"source,omitempty"`
	Pod     *pod     `json:"pod,omitempty"`
	Unbound string   `json:"unbound,omitempty"`
	KeptBy  string   `json:"keptBy,omitempty"`
	Hidden  string   `json:"hiddenBehindNamespace,omitempty"`
	Rivals  []string `json:"rivals,omitempty"`
}

type pod struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid"`
	Node      string `json:"node,omitempty"`
	Phase     string `json:"phase,omitempty"`
	Container string `json:"container,omitempty"`
	Ready     bool   `json:"ready"`
	Deleting  bool   `json:"deleting"`
}

type podExplanation struct {
	Pod                pod        `json:"pod"`
	AnnotationProblems []string   `json:"annotationProblems,omitempty"`
	Registrations      []claim    `json:"registrations"`
	Instances          []identity `json:"instances"`
}

type claim struct {
	App    string `json:"app"`
	By     string `json:"by"`
	Listed string `json:"listed,omitempty"`
	Reason string `json:"reason,omitempty"`
	Detail string `json:"detail,omitempty"`
}

type identity struct {
	App string `json:"app"`
	ID  string `json:"id"`
}

type lease struct {
	Namespace              string    `json:"namespace"`
	RenewalIntervalSeconds int       `json:"renewalIntervalSeconds"`
	DurationSeconds        int       `json:"durationSeconds"`
	LastRenewal            time.Time `json:"lastRenewal"`
}

type floor struct {
	InService    int `json:"inService"`
	Live         int `json:"live"`
	MinInService int `json:"minInService"`
}

type policy struct {
	Source                  string `json:"source"`
	Mode                    string `json:"mode"`
	NotReady                string `json:"notReady"`
	Disruption              string `json:"disruption"`
	ContainerDown           string `json:"containerDown"`
	HardNotice              string `json:"hardNotice"`
	PlannedNotice           string `json:"plannedNotice"`
	Cordon                  string `json:"cordon"`
	Unreachable             string `json:"unreachable"`
	UnreachableAfterSeconds int    `json:"unreachableAfterSeconds"`
	ReadyGraceSeconds       int    `json:"readyGraceSeconds"`
	SelfPreservation        string `json:"selfPreservation"`
	RenewalThresholdPercent int    `json:"renewalThresholdPercent"`
	MaxHoldSeconds          int    `json:"maxHoldSeconds"`
	MaxEvictionPercent      int    `json:"maxEvictionPercent"`
}

type change struct {
	At        time.Time `json:"at"`
	App       string    `json:"app"`
	ID        string    `json:"id"`
	Namespace string    `json:"namespace,omitempty"`
	Pod       string    `json:"pod,omitempty"`
	Node      string    `json:"node,omitempty"`
	Effect    string    `json:"effect"`
	Class     string    `json:"class"`
	Reason    string    `json:"reason"`
	Witness   string    `json:"witness,omitempty"`
	Confirmed string    `json:"confirmed,omitempty"`
	Detail    string    `json:"detail,omitempty"`
	TookMS    float64   `json:"tookMilliseconds"`
}

type changes struct {
	Changes []change `json:"changes"`
}

type lastN struct {
	Registered []registered `json:"registered"`
	Ended      []ended      `json:"ended"`
}

type registered struct {
	At  *time.Time `json:"at"`
	App string     `json:"app"`
	ID  string     `json:"id"`
}

type ended struct {
	At     *time.Time `json:"at"`
	App    string     `json:"app"`
	ID     string     `json:"id"`
	Reason string     `json:"reason"`
}

// instances is a part of the registry.
type instances struct {
	Matched   int        `json:"matched"`
	Instances []instance `json:"instances"`
}

type instance struct {
	App                    string            `json:"app"`
	ID                     string            `json:"id"`
	Status                 string            `json:"status"`
	Reason                 string            `json:"reason,omitempty"`
	Override               string            `json:"override,omitempty"`
	Namespace              string            `json:"namespace,omitempty"`
	Bound                  bool              `json:"bound"`
	Node                   string            `json:"node,omitempty"`
	Address                string            `json:"address,omitempty"`
	HostName               string            `json:"hostName"`
	IPAddr                 string            `json:"ipAddr"`
	Port                   int               `json:"port,omitempty"`
	SecurePort             int               `json:"securePort,omitempty"`
	VIP                    string            `json:"vipAddress,omitempty"`
	Metadata               map[string]string `json:"metadata,omitempty"`
	LastRenewal            *time.Time        `json:"lastRenewal,omitempty"`
	RenewalIntervalSeconds int               `json:"renewalIntervalSeconds,omitempty"`
	LeaseDurationSeconds   int               `json:"leaseDurationSeconds,omitempty"`
	UpdatedAt              time.Time         `json:"updatedAt"`
}

type fetching struct {
	Known                  int         `json:"known"`
	Unknown                int         `json:"unknown"`
	SlowestIntervalSeconds float64     `json:"slowestIntervalSeconds"`
	Consumers              []consumer  `json:"consumers"`
	Departures             []departure `json:"departures"`
}

type consumer struct {
	Address         string     `json:"address,omitempty"`
	UserAgent       string     `json:"userAgent,omitempty"`
	Pod             string     `json:"pod,omitempty"`
	FirstFetch      *time.Time `json:"firstFetch"`
	LastFetch       *time.Time `json:"lastFetch"`
	IntervalSeconds float64    `json:"intervalSeconds,omitempty"`
	Fetches         int64      `json:"fetches"`
	VersionsBehind  int64      `json:"versionsBehind"`
}

type departure struct {
	App         string     `json:"app"`
	ID          string     `json:"id"`
	Cause       string     `json:"cause"`
	At          *time.Time `json:"at"`
	KnownAt     *time.Time `json:"knownAt,omitempty"`
	TookSeconds float64    `json:"tookSeconds,omitempty"`
	GivenUp     bool       `json:"givenUp,omitempty"`
	Known       int        `json:"consumersKnown"`
	Unknown     int        `json:"consumersUnknown"`
}

type observeReport struct {
	Since    *time.Time       `json:"since,omitempty"`
	Reasons  []observedReason `json:"reasons"`
	Findings []finding        `json:"findings"`
}

type observedReason struct {
	Reason       string `json:"reason"`
	Effect       string `json:"effect"`
	Class        string `json:"class"`
	Found        int    `json:"found"`
	Contradicted int    `json:"contradicted"`
	Withdrawn    int    `json:"withdrawn"`
	Confirmed    int    `json:"confirmed"`
}

type finding struct {
	change

	Outcome   string     `json:"outcome,omitempty"`
	SettledAt *time.Time `json:"settledAt,omitempty"`
}

type namespaces struct {
	Namespaces []namespace `json:"namespaces"`
}

type namespace struct {
	Name                      string  `json:"name"`
	Leases                    int     `json:"leases"`
	PodKept                   int     `json:"podKept"`
	RenewalsExpectedPerMinute float64 `json:"renewalsExpectedPerMinute"`
	RenewalsReceivedPerMinute float64 `json:"renewalsReceivedPerMinute"`
	RenewalsInLastMinute      int64   `json:"renewalsInLastMinute"`
	ThresholdPercent          int     `json:"thresholdPercent"`
	SelfPreservation          string  `json:"selfPreservation"`
	LeasesHeld                int     `json:"leasesHeld"`
}

type view struct {
	Fresh         bool       `json:"fresh"`
	PodsReadable  bool       `json:"podsReadable"`
	NodesReadable bool       `json:"nodesReadable"`
	LastCanary    *time.Time `json:"lastCanary,omitempty"`
	LastNodeLease *time.Time `json:"lastNodeLease,omitempty"`
	Pods          int        `json:"pods"`
	Nodes         int        `json:"nodes"`
	Instances     int        `json:"instances"`
	SharedApps    int        `json:"appsInSeveralNamespaces"`
	Watches       []watch    `json:"watches,omitempty"`
}

type watch struct {
	Resource string `json:"resource"`
	Synced   bool   `json:"synced"`
	Problem  string `json:"problem,omitempty"`
}

// selfPreservationEngaged is the state of a namespace whose leases do not expire.
const selfPreservationEngaged = "Engaged"
