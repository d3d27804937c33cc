package cluster

import (
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/kureka/kureka/internal/registry"
)

// Why a registration is bound to no pod.
const (
	UnboundNoOwner    = "NoPodOwnsAddress"
	UnboundForeign    = "AddressIsNotTheSource's"
	UnboundOneFact    = "AddressIsTheOnlyFact"
	UnboundSharedID   = "SharedInstanceID"
	UnboundPodNotSeen = "PodNotSeenYet"
	UnboundObserved   = "PodGoneButOnlyObserved"
	UnboundYounger    = "PodMayBeYounger"
	UnboundReplicated = "CopiedFromAPeer"
)

// candidate finds the pod that a registration belongs to, or says why there is
// none. A pod that has ended keeps its address, which the next one may have
// already although the watch has not shown that.
func (c *Cluster) candidate(in *instance) (*pod, string) {
	p, why := c.speaker(in)
	if p != nil && p.Terminal() {
		return nil, UnboundPodNotSeen
	}
	return p, why
}

// lateCandidate is candidate for a registration that came before its pod was seen
// with its address. The pod that has the address by now may be the next one, so it
// must be older than what the client said last, or be named in it.
func (c *Cluster) lateCandidate(now time.Time, in *instance) (*pod, string) {
	p, why := c.candidate(in)
	if p == nil || in.pod != nil || in.mentions(p) || slices.Contains(in.users, p) || isOlder(now, p, in) {
		return p, why
	}
	return nil, UnboundYounger
}

// isOlder reports whether a pod certainly existed when a client last said what it
// registered. One whose object was seen before did. Of others only the API server's
// clock tells, in whole seconds, and what that is by ours follows from now, whatever
// our wall showed before.
func isOlder(now time.Time, p *pod, in *instance) bool {
	created := now.Add(p.Created.Sub(now))
	return p.seen.Before(in.said) || !created.Add(time.Second).After(in.said)
}

// repeats reports whether a heartbeat says again what was registered: the client sends
// it from an address that a pod has to itself, so it is that pod's by now. The
// registration was the same process's if it carries the same time.
func (c *Cluster) repeats(in *instance, src netip.Addr, beat registry.Beat) bool {
	return in.unbound == UnboundYounger && src == in.source && c.sender(src) != nil && (!beat.HasDirty || beat.Dirty == in.rec.Dirty)
}

// speaker finds the pod that a registration speaks of. One sent by a pod itself is
// believed on its address. Where the sender is unknown an address alone proves
// nothing, because addresses are reused while old configuration lives on: a
// second fact is needed.
// What a peer sends binds nothing, but does not undo what the client's own
// registration bound.
func (c *Cluster) speaker(in *instance) (*pod, string) {
	if in.rec.From != "" {
		if in.pod != nil {
			return in.pod, ""
		}
		return nil, UnboundReplicated
	}
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

// PodAt returns the namespace and name of the pod that alone sends from an address,
// divided by a slash, "" if there is none.
func (c *Cluster) PodAt(src netip.Addr) string {
	c.mu.RLock()
	defer c.mu.RUnlock()
	p := c.sender(src)
	if p == nil || p.proven {
		return ""
	}
	return p.Namespace + "/" + p.Name
}

// sender is the pod that a source address identifies, nil when it does not.
func (c *Cluster) sender(src netip.Addr) *pod {
	if !src.IsValid() {
		return nil
	}
	return c.owners[netip.AddrPortFrom(src, 0)]
}

// ownerOf is the pod that owns the registered address, for a pod on the host
// network together with a port.
func (c *Cluster) ownerOf(in *instance) *pod {
	if !in.ip.IsValid() {
		return nil
	}
	if p := c.owners[netip.AddrPortFrom(in.ip, 0)]; p != nil {
		return p
	}
	for _, port := range in.rec.Ports() {
		if p := c.owners[netip.AddrPortFrom(in.ip, uint16(port))]; p != nil {
			return p
		}
	}
	return nil
}

// answersAt reports whether the pod has the address that the instance registered.
func (p *pod) answersAt(in *instance) bool {
	if !p.Has(in.ip) {
		return false
	}
	return !p.HostNetwork || slices.ContainsFunc(in.rec.Ports(), p.Declares)
}

// mentions reports whether the host name or the id contains the pod's name, as
// they do with the default settings of most clients.
func (in *instance) mentions(p *pod) bool {
	return strings.Contains(in.rec.HostName, p.Name) || strings.Contains(in.rec.ID, p.Name)
}

// portConfirms takes a declared port as the second fact, but not for an id that
// belonged to another workload's pod: both may well declare 8080. Nor for a client whose
// host name is another pod's.
func (c *Cluster) portConfirms(in *instance, p *pod) bool {
	host, _, _ := strings.Cut(in.rec.HostName, ".")
	if uid, named := c.names[p.Namespace+"/"+host]; named && uid != p.UID {
		return false
	}
	if l, known := c.last[in.key]; known && l != p.ownerOrSelf() {
		return false
	}
	return slices.ContainsFunc(in.rec.Ports(), p.Declares)
}

func (p *pod) ownerOrSelf() string {
	if p.Owner != "" {
		return p.Owner
	}
	return p.UID
}
