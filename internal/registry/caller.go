package registry

import (
	"net/netip"
	"time"
)

// Caller is who sent a request, as far as that is known.
type Caller struct {
	// Addr is the source address; invalid when it is unknown, for example behind
	// a declared proxy.
	Addr netip.Addr
	// PodUID is the pod that owns Addr; empty when the source is no pod.
	PodUID string
	// Known says that it was asked who sends, which most heartbeats need not be.
	Known bool
}

// Binding ties a registration to a pod. The zero value is an instance outside
// pods: plain Eureka semantics in the partition "".
type Binding struct {
	// Partition is the namespace whose self-preservation covers the lease.
	Partition string `json:",omitzero"`
	PodUID    string `json:",omitzero"`
	Node      string `json:",omitzero"`
	// PodReady says that the pod is Ready, or not Ready only because its node is not
	// heard; while the view is fresh such a lease is given the policy's ReadyGrace.
	PodReady bool `json:",omitzero"`
	// Unlisted keeps the record and its lease but shows it to nobody, until the
	// pod that owns the address is known.
	Unlisted bool `json:",omitzero"`
	// Unsure says that the next heartbeat may tell which pod it is.
	Unsure bool `json:",omitzero"`
	// Contested says that somebody else sends heartbeats for the id, which must not renew
	// this lease.
	Contested bool `json:",omitzero"`
	// HostName is shown instead of the record's own, also in its URLs; empty leaves
	// the record as it is.
	HostName string `json:",omitzero"`
	// Verdict is the one already in force for the pod.
	Verdict Verdict `json:",omitzero"`
}

// awaited reports whether somebody waits for the next heartbeat.
func (b Binding) awaited() bool { return b.Unsure || b.Verdict.OutOfService }

// Verdict is what the cluster concluded about an instance. The zero value is
// "nothing against it".
type Verdict struct {
	// OutOfService shows the instance as OUT_OF_SERVICE whatever else is known.
	OutOfService bool `json:",omitzero"`
	// Ending says that the instance's end has begun, so it no longer counts as
	// capacity when the floor of an application is computed.
	Ending bool `json:",omitzero"`
	// Reason is a stable name such as PodDeleting.
	Reason string `json:",omitzero"`
}

// Beat is the content of one heartbeat.
type Beat struct {
	// Status is the client's own status; None when absent or not understood.
	Status Status
	// Dirty is lastDirtyTimestamp in Unix ms; meaningful only if HasDirty.
	Dirty    int64
	HasDirty bool
}

// Outcome is how a request ended.
type Outcome uint8

const (
	// Done means the request had its effect, or had nothing left to do.
	Done Outcome = iota
	// NotFound means there is no such record; the client should register.
	NotFound
	// Newer means a heartbeat was counted but carries a newer timestamp than the
	// record, so the client should send the record again.
	Newer
	// Fenced means the request came from or for somebody proven dead. It is to be
	// answered like Done and had no effect.
	Fenced
	// Full means the registry holds as many instances as it is allowed to.
	Full
	// Stale means that a copy from a peer says nothing new; the lease, if there is
	// one, was renewed all the same.
	Stale
)

// Renewal is the result of a heartbeat.
type Renewal struct {
	Outcome Outcome
	// Awaited says that the sign of life is to be told: a verdict keeps the instance
	// out of service, or its pod is not certain.
	Awaited bool
	// Contested says that the heartbeat had no effect, because who sends it has to be
	// known first.
	Contested bool
	// Changed says that the heartbeat changed what is shown.
	Changed bool
}

// Policy holds the numbers the engine works with for one partition.
type Policy struct {
	SelfPreservation        bool
	RenewalThresholdPercent int           // 1 to 100
	MaxHold                 time.Duration // 0: no limit
	DefaultDuration         time.Duration
	DefaultInterval         time.Duration
	// Bounds of what clients may ask for; the nearest one counts. Zero minimums and
	// a zero MaxInterval do not bound.
	MinDuration, MaxDuration time.Duration
	MinInterval, MaxInterval time.Duration
	ReadyGrace               time.Duration
	MaxEvictionPercent       int // 0 to 100, of a partition's leases in any 60 s, but at least one lease
	MinInServicePercent      int // 0 to 100, of an application's live instances
}

// DefaultPolicy returns the built-in numbers.
func DefaultPolicy() Policy {
	return Policy{
		SelfPreservation:        true,
		RenewalThresholdPercent: 85,
		DefaultDuration:         90 * time.Second,
		DefaultInterval:         30 * time.Second,
		MaxDuration:             24 * time.Hour,
		ReadyGrace:              90 * time.Second,
		MaxEvictionPercent:      15,
		MinInServicePercent:     50,
	}
}
