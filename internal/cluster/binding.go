package cluster

import (
	"net/netip"
	"strings"

	"github.com/kureka/kureka/internal/evidence"
	"github.com/kureka/kureka/internal/registry"
)

// Why a registration is bound to no pod.
const (
	UnboundNoOwner    = "NoPodOwnsAddress"
	UnboundForeign    = "AddressIsNotTheSource's"
	UnboundOneFact    = "AddressIsTheOnlyFact"
	UnboundSharedID   = "SharedInstanceID"
	UnboundPodNotSeen = "PodNotSeenYet"
)

// bindingOf finds the pod that a registration belongs to, or says why there is
// none. A registration sent by a pod itself is believed on its address. Where
// the sender is unknown an address alone proves nothing, because addresses are
// reused while old configuration lives on: a second fact is needed.
func (c *Cluster) bindingOf(in *instance) (*pod, string) {
	p, why := c.candidate(in)
	if p == nil {
		return nil, why
	}
	if old := c.insts[in.key]; old != nil && old.pod != nil && old.pod != p && old.pod.alive() {
		return nil, UnboundSharedID
	}
	return p, ""
}

func (c *Cluster) candidate(in *instance) (*pod, string) {
	owner := c.ownerOf(in)
	if sender := c.sender(in.source); sender != nil {
		switch {
		case sender.Has(in.ip):
			return sender, ""
		case owner == nil && in.mentions(sender):
			return sender, ""
		}
		return nil, UnboundForeign
	}
	switch {
	case owner == nil:
		return nil, UnboundNoOwner
	case owner.HostNetwork: // owned by address and declared port: two facts already
		return owner, ""
	case in.mentions(owner), c.portConfirms(in, owner):
		return owner, ""
	}
	return nil, UnboundOneFact
}

// sender is the pod that a source address identifies, nil when it does not.
func (c *Cluster) sender(src netip.Addr) *pod {
	if !src.IsValid() {
		return nil
	}
	return c.owners[netip.AddrPortFrom(src, 0)]
}

// ownerOf is the pod that owns the registered address, for a pod on the host
// network together with the port.
func (c *Cluster) ownerOf(in *instance) *pod {
	if !in.ip.IsValid() {
		return nil
	}
	for _, port := range []int{0, in.rec.Port.Number, in.rec.SecurePort.Number} {
		if port < 0 || port > 65535 {
			continue
		}
		if p := c.owners[netip.AddrPortFrom(in.ip, uint16(port))]; p != nil {
			return p
		}
	}
	return nil
}

// mentions reports whether the host name or the id contains the pod's name, as
// they do with the default settings of most clients.
func (in *instance) mentions(p *pod) bool {
	return strings.Contains(in.rec.HostName, p.Name) || strings.Contains(in.rec.ID, p.Name)
}

// portConfirms takes a declared port as the second fact, but not for an id that
// belonged to another workload's pod: both may well declare 8080.
func (c *Cluster) portConfirms(in *instance, p *pod) bool {
	if l, known := c.last[in.key]; known && l != p.ownerOrSelf() {
		return false
	}
	r := in.rec
	return r.Port.Enabled && p.Declares(r.Port.Number) || r.SecurePort.Enabled && p.Declares(r.SecurePort.Number)
}

func (p *pod) ownerOrSelf() string {
	if p.Owner != "" {
		return p.Owner
	}
	return p.UID
}

// alive reports whether the pod's end has not begun.
func (p *pod) alive() bool { return p.gone == nil && !p.Deleting && !p.Terminal() && !p.proven }

// attach records the outcome of binding in the instance.
func (c *Cluster) attach(in *instance, p *pod, why string) {
	if in.pod != p {
		c.leave(in)
	}
	in.pod, in.unbound, in.unlisted = p, why, false
	if p == nil {
		in.container, in.baseline = "", ""
		if why == UnboundNoOwner && (c.unowned(in.source) || c.unowned(in.ip)) {
			in.unbound, in.unlisted = UnboundPodNotSeen, true
		}
		return
	}
	c.last[in.key] = p.ownerOrSelf()
	container := p.containerOf(in)
	if container == nil {
		in.container, in.baseline = "", ""
		return
	}
	if in.container != container.Name {
		in.container, in.baseline = container.Name, ""
	}
	if in.baseline == "" {
		in.baseline = container.ID
	}
}

func (p *pod) containerOf(in *instance) *evidence.Container {
	if c := p.ContainerFor(in.rec.Port.Number); c != nil {
		return c
	}
	return p.ContainerFor(in.rec.SecurePort.Number)
}

// binding is what the registry needs to know.
func (c *Cluster) binding(in *instance) registry.Binding {
	b := registry.Binding{Unlisted: in.unlisted}
	if p := in.pod; p != nil {
		b.Partition, b.PodUID, b.Node, b.PodReady = p.Namespace, p.UID, p.Node, p.Ready
		b.Verdict = c.inForce(in)
	}
	return b
}
