package evidence

import (
	"net/netip"
	"slices"
	"time"
)

// Phase is a pod's phase.
type Phase string

// The phases of a pod. An empty phase counts as Pending.
const (
	Pending   Phase = "Pending"
	Running   Phase = "Running"
	Succeeded Phase = "Succeeded"
	Failed    Phase = "Failed"
)

// Pod is what is known about one pod. A pod is named by its UID: names and
// addresses are used again.
type Pod struct {
	UID, Namespace, Name string
	// Version grows with every write of the object; zero if it is not known.
	Version uint64 `json:",omitzero"`
	// Labels are the pod's; Annotations holds only those that are for Kureka.
	Labels      Labels            `json:",omitzero"`
	Annotations map[string]string `json:",omitzero"`
	// Hostname and Subdomain are what the pod's spec says, empty if it says nothing.
	Hostname, Subdomain string `json:",omitzero"`
	// Owner is the UID of the controller that made the pod, empty if there is none.
	Owner string `json:",omitzero"`
	// Node is the name of the pod's node, empty while it is not scheduled.
	Node        string       `json:",omitzero"`
	IPs         []netip.Addr `json:",omitzero"`
	HostNetwork bool         `json:",omitzero"`
	Created     time.Time    `json:",omitzero"`
	Phase       Phase        `json:",omitzero"`
	Ready       bool         `json:",omitzero"`
	// ContainersReady is the kubelet's condition of that name, GateUnmet says that
	// a readiness gate of the pod is not met, other than that of the next field.
	ContainersReady, GateUnmet bool `json:",omitzero"`
	// AwaitsRegistration says that the readiness gate that waits for the registry is
	// not met.
	AwaitsRegistration bool `json:",omitzero"`
	// Deleting says that the pod has a deletion timestamp.
	Deleting bool `json:",omitzero"`
	// Forced says that its deletion leaves no grace period: the object goes at once
	// and nobody waits for the process.
	Forced bool `json:",omitzero"`
	// Grace is how long after its deletion the kubelet kills it, zero before.
	Grace time.Duration `json:",omitzero"`
	// DrainToken is what the pod's preStop request names it by, empty if it has none.
	DrainToken string `json:",omitzero"`
	// Disruption is the reason of the condition DisruptionTarget while it is True.
	Disruption string      `json:",omitzero"`
	Containers []Container `json:",omitzero"`
}

// Container is one ordinary container of a pod and its last reported state.
// Init containers and native sidecars are not the business of any rule.
type Container struct {
	Name  string   `json:",omitzero"`
	Ports []uint16 `json:",omitzero"`
	// PortNames are the names of the Ports, empty where there is none; nil if no port
	// has one.
	PortNames []string `json:",omitzero"`
	// ID is the runtime's id of the current incarnation, empty before the first.
	ID      string `json:",omitzero"`
	Running bool   `json:",omitzero"`
	// Ended says that an incarnation is known to have ended, this one or the one
	// before.
	Ended bool `json:",omitzero"`
	// Finished is when the previous incarnation ended, by the node's clock and in
	// whole seconds; zero when there was none.
	Finished time.Time `json:",omitzero"`
	// Started is when the current incarnation began, told in the same way; zero while
	// none runs.
	Started time.Time `json:",omitzero"`
}

// WorksForKubelet reports whether the kubelet has nothing against the pod: it is
// Ready, or not Ready only because the control plane concluded that from the node,
// or because it waits for the registry. If that counted, a pod that is listed once
// it is ready would wait for itself.
func (p *Pod) WorksForKubelet() bool { return p.Ready || p.ContainersReady && !p.GateUnmet }

// Terminal reports whether the pod's containers have stopped for good.
func (p *Pod) Terminal() bool { return p.Phase == Succeeded || p.Phase == Failed }

// Has reports whether the pod has the address.
func (p *Pod) Has(a netip.Addr) bool { return slices.Contains(p.IPs, a) }

// Declares reports whether a container of the pod declares the port.
func (p *Pod) Declares(port int) bool { return p.containerWith(port) != nil }

// ContainerFor returns the container that serves an instance on the port: the
// one that declares it, else the only one, else nil.
func (p *Pod) ContainerFor(port int) *Container {
	if c := p.containerWith(port); c != nil {
		return c
	}
	if len(p.Containers) == 1 {
		return &p.Containers[0]
	}
	return nil
}

func (p *Pod) containerWith(port int) *Container {
	for i := range p.Containers {
		for _, declared := range p.Containers[i].Ports {
			if int(declared) == port {
				return &p.Containers[i]
			}
		}
	}
	return nil
}

// PortNamed returns the number of the port that a container declares under a name.
func (p *Pod) PortNamed(name string) (port uint16, ok bool) {
	for i := range p.Containers {
		c := &p.Containers[i]
		if at := slices.Index(c.PortNames, name); at >= 0 && name != "" {
			return c.Ports[at], true
		}
	}
	return 0, false
}

// Host returns the host name that the pod's processes see.
func (p *Pod) Host() string {
	name := p.Hostname
	if name == "" {
		name = p.Name
	}
	return name[:min(len(name), maxHostname)]
}

// maxHostname is the longest host name of a pod.
const maxHostname = 63

// DNSName returns the pod's name in the cluster's DNS, without its domain; empty
// for a pod without a subdomain, which has none.
func (p *Pod) DNSName() string {
	if p.Subdomain == "" {
		return ""
	}
	return p.Host() + "." + p.Subdomain + "." + p.Namespace + ".svc"
}

// Addresses returns what the pod alone answers on: its addresses with port 0, or
// for a pod on the host network, which shares the node's address, its address
// with each declared port.
func (p *Pod) Addresses() []netip.AddrPort {
	var out []netip.AddrPort
	for _, ip := range p.IPs {
		if !p.HostNetwork {
			out = append(out, netip.AddrPortFrom(ip, 0))
			continue
		}
		for i := range p.Containers {
			for _, port := range p.Containers[i].Ports {
				out = append(out, netip.AddrPortFrom(ip, port))
			}
		}
	}
	return out
}

// Gone is how a pod's object was found to be gone.
type Gone struct {
	At time.Time
	// Abrupt says that the pod's object went without a grace period while its node
	// was missing or Unknown: then nobody can have watched the process end.
	Abrupt bool
	// Replaced says that a newer pod has its name.
	Replaced bool
}
