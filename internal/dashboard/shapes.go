package dashboard

import (
	"time"

	"github.com/kureka/kureka/internal/cluster"
	"github.com/kureka/kureka/internal/registry"
)

// The shapes below are the API; openapi.yaml describes them.

type explanation struct {
	App    string `json:"app"`
	ID     string `json:"id"`
	Listed bool   `json:"listed"`
	// Status, ClientStatus and Override are empty when the instance is not listed.
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
	Confirmed string     `json:"confirmed,omitempty"` // the second witness of an inference
	Detail    string     `json:"detail,omitempty"`
	NextCheck *time.Time `json:"nextCheck,omitempty"`
	// InForce is the reason that acts, HeldByFloor if the floor keeps the verdict
	// from acting.
	InForce string `json:"inForce,omitempty"`
}

type check struct {
	Name    string `json:"name"`
	Class   string `json:"class"`
	Fires   bool   `json:"fires"`
	Ignored bool   `json:"ignored,omitempty"`
	Detail  string `json:"detail,omitempty"`
	// Waits is what an inference waits for although its first witness has spoken.
	Waits string `json:"waits,omitempty"`
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

// policy is what is in force for an instance.
type policy struct {
	// Source is the resource that decides: RegistryPolicy of the instance's namespace
	// or ClusterRegistryPolicy, which also stands for what is built in.
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

func policyOf(e cluster.Explanation) policy {
	p := e.Policy
	out := policy{
		Source: "ClusterRegistryPolicy", Mode: "Enforce", SelfPreservation: "Disabled",
		NotReady: string(p.NotReady), Disruption: string(p.Disruption), ContainerDown: string(p.ContainerDown),
		HardNotice: string(p.HardNotice), PlannedNotice: string(p.PlannedNotice), Cordon: string(p.Cordon),
		Unreachable: string(p.Unreachable), UnreachableAfterSeconds: int(p.UnreachableAfter.Seconds()),
		ReadyGraceSeconds: int(p.ReadyGrace.Seconds()), RenewalThresholdPercent: p.RenewalThresholdPercent,
		MaxHoldSeconds: int(p.MaxHold.Seconds()), MaxEvictionPercent: p.MaxEvictionPercent,
	}
	if e.OwnPolicy {
		out.Source = "RegistryPolicy"
	}
	if p.Observe {
		out.Mode = "Observe"
	}
	if p.SelfPreservation {
		out.SelfPreservation = "Enabled"
	}
	return out
}

func explanationOf(e cluster.Explanation) explanation {
	out := explanation{
		App: e.Key.App, ID: e.Key.ID, Listed: e.Shown != nil, ViewFresh: e.ViewFresh,
		Checks:  make([]check, 0, len(e.Checks)),
		Policy:  policyOf(e),
		Changes: changesOf(e.Changes),
		Binding: binding{Source: e.Source, Unbound: e.Unbound, KeptBy: e.KeptBy, Hidden: e.Hidden, Rivals: e.Rivals},
		Floor:   floor{InService: e.InService, Live: e.Live, MinInService: e.Floor},
		Verdict: verdict{
			Class: e.Verdict.Class.String(), Reason: e.Verdict.Reason, Witness: e.Verdict.Witness, Confirmed: e.Verdict.Confirmed, Detail: e.Verdict.Detail,
			NextCheck: moment(e.Verdict.NextCheck),
		},
	}
	for _, c := range e.Checks {
		out.Checks = append(out.Checks, check{Name: c.Check, Class: c.Class.String(), Fires: c.Fires, Ignored: c.Ignored, Detail: c.Detail, Waits: c.Waits})
	}
	if e.Pod != nil {
		p := shapeOf(*e.Pod)
		out.Binding.Pod = &p
	}
	if i := e.Shown; i != nil {
		out.Status, out.ClientStatus, out.Override = i.Status.String(), i.Client.String(), i.Override.String()
		out.Verdict.InForce = i.Verdict.Reason
		updated := time.UnixMilli(i.UpdatedMS).UTC()
		out.UpdatedAt = &updated
		if !i.Kept {
			out.Lease = &lease{
				Namespace: i.Partition, RenewalIntervalSeconds: i.Interval, DurationSeconds: i.Duration, LastRenewal: e.LastRenewal.UTC(),
			}
		}
	}
	return out
}

func shapeOf(p cluster.ExplainedPod) pod {
	return pod{
		Namespace: p.Namespace, Name: p.Name, UID: p.UID, Node: p.Node, Phase: p.Phase, Container: p.Container,
		Ready: p.Ready, Deleting: p.Deleting,
	}
}

type podExplanation struct {
	Pod pod `json:"pod"`
	// Registrations are those who register the pod without a client.
	Registrations      []claim       `json:"registrations"`
	AnnotationProblems []string      `json:"annotationProblems,omitempty"`
	Instances          []instanceKey `json:"instances"`
}

type claim struct {
	App    string `json:"app"`
	By     string `json:"by"`
	Listed string `json:"listed,omitempty"`
	Reason string `json:"reason,omitempty"`
	Detail string `json:"detail,omitempty"`
}

type instanceKey struct {
	App string `json:"app"`
	ID  string `json:"id"`
}

func podOf(e cluster.PodExplanation) podExplanation {
	out := podExplanation{
		Pod: shapeOf(e.ExplainedPod), AnnotationProblems: e.Faults,
		Registrations: make([]claim, 0, len(e.Claims)), Instances: make([]instanceKey, 0, len(e.Instances)),
	}
	for _, c := range e.Claims {
		out.Registrations = append(out.Registrations, claim{App: c.App, By: c.By, Listed: c.Listed, Reason: c.Reason, Detail: c.Detail})
	}
	for _, k := range e.Instances {
		out.Instances = append(out.Instances, instanceKey{k.App, k.ID})
	}
	return out
}

// moment leaves out the time that never comes.
func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

type changes struct {
	Changes []change `json:"changes"`
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
	// TookMS is the time from the arrival of the evidence to the registry showing it.
	TookMS float64 `json:"tookMilliseconds"`
}

func changesOf(list []cluster.Change) []change {
	out := make([]change, 0, len(list))
	for _, ch := range list {
		out = append(out, changeOf(ch))
	}
	return out
}

func changeOf(ch cluster.Change) change {
	return change{
		At: ch.At.UTC(), App: ch.Key.App, ID: ch.Key.ID, Namespace: ch.Namespace, Pod: ch.Pod, Node: ch.Node,
		Effect: string(ch.Effect), Class: ch.Class.String(), Reason: ch.Reason, Witness: ch.Witness, Confirmed: ch.Confirmed, Detail: ch.Detail,
		TookMS: float64(ch.Took.Microseconds()) / 1000,
	}
}

type namespaces struct {
	Namespaces []namespace `json:"namespaces"`
}

// namespace is one partition of self-preservation; the empty name is everything
// outside pods.
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

func namespacesOf(stats []registry.PartitionStats) []namespace {
	out := make([]namespace, 0, len(stats))
	for _, p := range stats {
		state := "Watching"
		switch {
		case p.Disabled:
			state = "Disabled"
		case p.Engaged:
			state = "Engaged"
		}
		out = append(out, namespace{
			Name: p.Name, Leases: p.Leases, PodKept: p.Kept, RenewalsExpectedPerMinute: p.Expected, RenewalsReceivedPerMinute: p.Received,
			RenewalsInLastMinute: p.LastMinute, ThresholdPercent: p.ThresholdPercent, SelfPreservation: state, LeasesHeld: p.Held,
		})
	}
	return out
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
	Watches       []Watch    `json:"watches,omitempty"`
}

func viewOf(v cluster.View) view {
	return view{
		Fresh: v.Fresh, PodsReadable: v.PodsReadable, NodesReadable: v.NodesReadable, LastCanary: moment(v.LastCanary), LastNodeLease: moment(v.LastLease),
		Pods: v.Pods, Nodes: v.Nodes, Instances: v.Instances, SharedApps: v.SharedApps,
	}
}
