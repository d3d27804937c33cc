package server

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/kureka/kureka/internal/eureka"
	"github.com/kureka/kureka/internal/registry"
)

// register takes what a client says about itself. Nothing tells a first
// registration from a later one, and clients expect exactly 204.
func (s *server) register(c *call) {
	from := s.source(c)
	if !s.registering.take(from) {
		s.turnAway(c, http.StatusServiceUnavailable, refusedBusy)
		return
	}
	defer s.registering.release(from)
	in, err := s.readInstance(c)
	if err != nil {
		s.opts.Logger.V(1).Info("Refused a registration", "app", c.app, "source", c.r.RemoteAddr, "reason", err.Error())
		c.refuse(err)
		return
	}
	outcome := s.opts.Registry.Register(c.now, from, recordOf(&in, c.now))
	c.answer(outcome, http.StatusNoContent)
}

// renew takes a heartbeat. Whatever is wrong with its parameters is ignored: one
// transport turns a 400 into a success and would go on for ever.
func (s *server) renew(c *call) {
	query := c.r.URL.RawQuery
	beat := registry.Beat{Status: registry.ParseStatus(param(query, "status"))}
	if text := param(query, "lastDirtyTimestamp"); text != "" {
		if dirty, err := strconv.ParseInt(text, 10, 64); err == nil {
			beat.Dirty, beat.HasDirty = dirty, true
		}
	}
	c.answer(s.opts.Registry.Renew(c.now, s.source(c), s.key(c), beat), http.StatusOK)
}

func (s *server) cancel(c *call) {
	c.answer(s.opts.Registry.Cancel(c.now, s.source(c), s.key(c)), http.StatusOK)
}

// setOverride pins the status. The protocol's word for "no override" is UNKNOWN,
// so pinning to it is clearing. Anything but a status gets the reference
// server's empty 500, since a 400 would pass for success, unless there is nobody
// to pin.
func (s *server) setOverride(c *call) {
	switch status := registry.ParseStatus(param(c.r.URL.RawQuery, "value")); status {
	case registry.None:
		if s.opts.Registry.Snapshot().Get(s.key(c)) == nil {
			c.empty(http.StatusNotFound)
			return
		}
		c.empty(http.StatusInternalServerError)
	case registry.Unknown:
		s.clearOverride(c)
	default:
		c.answer(s.opts.Registry.SetOverride(c.now, s.source(c), s.key(c), status), http.StatusOK)
	}
}

// clearOverride restores the client's own status. The status that some clients
// suggest for the time after is not needed: the client's own is known.
func (s *server) clearOverride(c *call) {
	c.answer(s.opts.Registry.ClearOverride(c.now, s.source(c), s.key(c)), http.StatusOK)
}

// putMetadata merges the query's parameters into the metadata. What it results
// in must still be something that could have been registered.
func (s *server) putMetadata(c *call) {
	added := pairs(c.r.URL.RawQuery)
	if !s.fits(s.key(c), added) {
		c.empty(http.StatusRequestEntityTooLarge)
		return
	}
	c.answer(s.opts.Registry.PutMetadata(c.now, s.source(c), s.key(c), added), http.StatusOK)
}

// fits reports whether the instance's metadata stays within the bounds of a
// registration if all pairs are new.
func (s *server) fits(key registry.Key, added []registry.Pair) bool {
	all := added
	if inst := s.opts.Registry.Snapshot().Get(key); inst != nil {
		all = append(slices.Clip(all), inst.Metadata...)
	}
	size := 0
	for _, p := range all {
		if len(p.Key) > eureka.MaxFieldBytes || len(p.Value) > eureka.MaxMetadataValueBytes {
			return false
		}
		size += len(p.Key) + len(p.Value)
	}
	return len(all) <= eureka.MaxMetadataPairs && int64(size) <= s.limits.MaxBodyBytes
}

// accept answers what has no meaning here but must not fail: peers of the
// reference server report the state of scaling groups.
func (s *server) accept(c *call) { c.empty(http.StatusOK) }

// answer turns an outcome into an answer. What came from somebody proven dead is
// answered like any other request: it has nobody to complain to.
func (c *call) answer(outcome registry.Outcome, done int) {
	switch outcome {
	case registry.Done, registry.Fenced, registry.Stale:
		c.empty(done)
	case registry.NotFound, registry.Newer:
		c.empty(http.StatusNotFound)
	default: // no room left
		c.empty(http.StatusServiceUnavailable)
	}
}

// key returns the instance that the path names. One client writes a blank as "+",
// which counts only if nobody is called that.
func (s *server) key(c *call) registry.Key {
	key := registry.Key{App: c.app, ID: c.id}
	if !strings.Contains(c.id, "+") {
		return key
	}
	snap, blank := s.opts.Registry.Snapshot(), registry.Key{App: c.app, ID: strings.ReplaceAll(c.id, "+", " ")}
	if snap.Get(key) == nil && snap.Get(blank) != nil {
		return blank
	}
	return key
}
