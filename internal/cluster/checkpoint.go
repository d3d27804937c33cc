package cluster

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"time"

	"github.com/kureka/kureka/internal/evidence"
	"github.com/kureka/kureka/internal/registry"
	"github.com/kureka/kureka/internal/verdict"
)

// Checkpoint is everything the view has to remember so that its successor can go
// on where it stopped, with what the registry remembers. Of the cluster it holds
// what concerns registered instances: the rest is in the first lists. The names
// of its fields are those of the snapshot file and must not change.
type Checkpoint struct {
	Registry  *registry.Checkpoint
	Policies  SavedPolicies
	Nodes     []SavedNode
	Pods      []SavedPod
	Instances []SavedInstance // one for each of the registry's
	Orphans   []SavedOrphan   // oldest first
	Firsts    []SavedFirst    `json:",omitempty"` // of applications in several namespaces
}

// SavedPolicies are the policies in force, which are in force again until they
// have been read.
type SavedPolicies struct {
	Fallback   SavedPolicy
	Namespaces map[string]SavedPolicy `json:",omitempty"`
}

// SavedPolicy is a policy. What one that is read lacks is as built in: it was
// written before the field existed.
type SavedPolicy verdict.Policy

// DefaultPolicy returns the built-in policy.
func DefaultPolicy() SavedPolicy { return SavedPolicy(verdict.DefaultPolicy()) }

// UnmarshalJSON implements json.Unmarshaler.
func (p *SavedPolicy) UnmarshalJSON(text []byte) error {
	full := verdict.DefaultPolicy()
	if err := json.Unmarshal(text, &full); err != nil {
		return fmt.Errorf("reading a policy: %w", err)
	}
	*p = SavedPolicy(full)
	return nil
}

// SavedNode is a node that carries instances.
type SavedNode struct {
	Node   evidence.Node
	Object bool // its object has been seen
	// Leased is when its Lease last changed, LeaseLasts the Lease's duration, Unknown
	// since when the control plane has not heard it.
	Leased     time.Time     `json:",omitzero"`
	LeaseLasts time.Duration `json:",omitzero"`
	Unknown    time.Time     `json:",omitzero"`
}

// SavedPod is a pod that carries instances, or is fenced.
type SavedPod struct {
	Pod             evidence.Pod
	Gone            *evidence.Gone       `json:",omitempty"`
	Proven, Leaving bool                 `json:",omitempty"`
	Addrs           []netip.AddrPort     `json:",omitempty"` // what it answers on, or answered on last
	Changed         map[string]time.Time `json:",omitempty"` // when a container was last seen to be a new one
	NotReadySince   time.Time            `json:",omitzero"`
	Cancelled       map[string]string    `json:",omitempty"` // applications that its client cancelled, and their containers
}

// SavedInstance is how a registration is bound. Pods are named by UID.
type SavedInstance struct {
	Key                 registry.Key
	Source              netip.Addr `json:",omitzero"`
	Pod                 string     `json:",omitempty"`
	ByAddress           bool       `json:",omitempty"`
	Unbound             string     `json:",omitempty"`
	Users               []string   `json:",omitempty"`
	TurnedAway          []string   `json:",omitempty"`
	Sharer              string     `json:",omitempty"`
	Container, Baseline string     `json:",omitempty"`
	Since               time.Time  `json:",omitzero"` // for older versions: as Registration
	Request             time.Time
	Registration        time.Time
	Held                bool         `json:",omitempty"`
	Silent              SavedSilence `json:",omitzero"`
	Rebooted            time.Time    `json:",omitzero"` // the boot of the node that it was concluded not to have outlived
	// Of an instance that is kept for its pod: whether the pod was ready while it was
	// kept, and in which incarnation of its container.
	EverReady bool   `json:",omitzero"`
	ReadyIn   string `json:",omitzero"`
	Owner     string `json:",omitempty"` // the workload whose pod the id was bound to last
}

// SavedSilence is the conclusion that an instance's node is silent.
type SavedSilence struct {
	At         time.Time
	By, Detail string
}

// SavedOrphan is the memory whose an id was that has no record any more.
type SavedOrphan struct {
	Key   registry.Key
	At    time.Time
	Owner string
}

// SavedFirst is the namespace that came first of those that register an application.
type SavedFirst struct{ App, Namespace string }

// Revision grows with every change that is worth a new checkpoint. Heartbeats
// that change nothing but the age of a lease do not count.
func (c *Cluster) Revision() uint64 { return c.revision.Load() + c.reg.Revision() }

// changed notes something that is worth a new checkpoint.
func (c *Cluster) changed() { c.revision.Add(1) }

// Checkpoint returns what the view and the registry remember now. It holds up
// whatever changes them, but neither readers nor usual heartbeats, for about a
// millisecond per 1,000 instances.
func (c *Cluster) Checkpoint(now time.Time) *Checkpoint {
	c.mu.RLock()
	defer c.mu.RUnlock()
	cp := &Checkpoint{
		Registry: c.reg.Checkpoint(now),
		Policies: SavedPolicies{SavedPolicy(c.fallback), map[string]SavedPolicy{}},
	}
	for name, p := range c.policies {
		cp.Policies.Namespaces[name] = SavedPolicy(*p)
	}
	cp.Pods = make([]SavedPod, 0, min(len(c.pods), len(c.insts)))
	for _, p := range c.pods {
		if c.worthSaving(p) {
			cp.Pods = append(cp.Pods, p.saved())
		}
	}
	for _, n := range c.nodes {
		if c.carriesAny(n) {
			cp.Nodes = append(cp.Nodes, n.saved())
		}
	}
	cp.Instances = make([]SavedInstance, 0, len(c.insts))
	for _, in := range c.insts {
		cp.Instances = append(cp.Instances, in.saved(c.last[in.key]))
	}
	cp.Orphans = c.savedOrphans()
	for app, s := range c.spreads {
		if len(s.by) > 1 {
			cp.Firsts = append(cp.Firsts, SavedFirst{app, s.first})
		}
	}
	return cp
}

func (c *Cluster) savedOrphans() (saved []SavedOrphan) {
	for _, o := range c.orphans {
		owner := c.last[o.key]
		if owner == "" || c.insts[o.key] != nil || !c.orphaned[o.key].Equal(o.at) {
			continue
		}
		saved = append(saved, SavedOrphan{o.key, o.at, owner})
	}
	return saved
}

func (c *Cluster) worthSaving(p *pod) bool {
	if len(p.insts) > 0 || len(p.ids) > 0 {
		return true
	}
	if !p.proven {
		return false
	}
	_, fenced := c.reg.FencedSince(p.UID)
	return fenced
}

// carriesAny reports whether a pod of the node is saved.
func (c *Cluster) carriesAny(n *node) bool {
	for p := range n.pods {
		if c.worthSaving(p) {
			return true
		}
	}
	return false
}

func (p *pod) saved() SavedPod {
	s := SavedPod{
		Pod: p.Pod, Gone: p.gone, Proven: p.proven, Leaving: p.leaving, Addrs: p.addrs, Changed: maps.Clone(p.changed),
		NotReadySince: p.notReadySince, Cancelled: maps.Clone(p.cancelled),
	}
	s.Pod.Version = p.version
	return s
}

func (n *node) saved() SavedNode {
	s := SavedNode{Node: n.Node, Object: !n.seen.IsZero(), Leased: n.leased, LeaseLasts: n.leaseLasts, Unknown: n.unknown}
	s.Node.Version = n.version
	return s
}

func (in *instance) saved(owner string) SavedInstance {
	s := SavedInstance{
		Key: in.key, Source: in.source, ByAddress: in.byAddress, Unbound: in.unbound, Container: in.container, Baseline: in.baseline,
		Since: in.registration, Request: in.request, Registration: in.registration, Held: in.held, Owner: owner, TurnedAway: in.turnedAway,
		Silent: SavedSilence{in.silent.at, in.silent.by, in.silent.detail}, Rebooted: in.rebooted, EverReady: in.everReady, ReadyIn: in.readyIn,
	}
	if in.pod != nil {
		s.Pod = in.pod.UID
	}
	if in.sharer != nil {
		s.Sharer = in.sharer.UID
	}
	if len(in.users) == 1 && in.users[0] == in.pod {
		return s // the usual case
	}
	for _, p := range in.users {
		s.Users = append(s.Users, p.UID)
	}
	return s
}
