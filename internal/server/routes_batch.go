package server

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"

	"github.com/kureka/kureka/internal/eureka"
	"github.com/kureka/kureka/internal/registry"
)

// replicate takes what the clients of a peer did. The answer has one item for
// each of the batch: a peer that finds another number ignores all of them, and
// one that gets an error as a whole sends everything again or nothing.
func (s *server) replicate(c *call) {
	from := s.source(c)
	switch {
	case len(s.opts.Peers) == 0:
		c.empty(http.StatusNotFound)
		return
	case !from.IsValid() || !within(s.opts.Peers, from):
		s.turnAway(c, http.StatusForbidden, refusedPeer)
		return
	}
	items, err := s.readBatch(c)
	if err != nil {
		s.opts.Logger.V(1).Info("Refused a batch", "source", c.r.RemoteAddr, "reason", err.Error())
		c.refuse(err)
		return
	}
	results := make([]eureka.ReplicationResult, 0, len(items))
	for i := range items {
		results = append(results, s.replicateOne(c, from, &items[i]))
	}
	c.whole(eureka.JSON, identityEncoding, eureka.AppendReplicationResults(nil, results))
}

func (s *server) readBatch(c *call) ([]eureka.Replication, error) {
	buf := s.bodies.buffer()
	defer s.bodies.recycle(buf)
	if err := s.readBody(c, buf, s.limits.MaxBatchBytes); err != nil {
		return nil, fmt.Errorf("reading the batch: %w", err)
	}
	items, err := eureka.DecodeReplications(buf.Bytes())
	if errors.Is(err, eureka.ErrTooManyReplications) {
		err = errors.Join(errTooLarge, err)
	}
	if err != nil {
		return nil, fmt.Errorf("decoding the batch: %w", err)
	}
	return items, nil
}

// replicateOne does what one client of the peer did. The peer is never taken for
// the client: no address proves anything here.
func (s *server) replicateOne(c *call, from netip.Addr, item *eureka.Replication) eureka.ReplicationResult {
	key := registry.Key{App: item.App, ID: item.ID}
	var unknown netip.Addr
	switch item.Action {
	case eureka.ReplicateRegister:
		return s.replicateRecord(c, from, item)
	case eureka.ReplicateHeartbeat:
		return s.replicateHeartbeat(c, key, item)
	case eureka.ReplicateCancel:
		return result(s.opts.Registry.Cancel(c.now, unknown, key))
	case eureka.ReplicateStatusUpdate:
		return s.replicateStatus(c, key, item.Status)
	case eureka.ReplicateClearStatus:
		return result(s.opts.Registry.ClearOverride(c.now, unknown, key))
	}
	return eureka.ReplicationResult{Code: http.StatusBadRequest}
}

// replicateStatus sets an override. As for clients, UNKNOWN means none, and what is
// no status changes nothing.
func (s *server) replicateStatus(c *call, key registry.Key, status eureka.Status) eureka.ReplicationResult {
	if status == "" {
		return eureka.ReplicationResult{Code: http.StatusBadRequest}
	}
	if status == eureka.StatusUnknown {
		return result(s.opts.Registry.ClearOverride(c.now, netip.Addr{}, key))
	}
	return result(s.opts.Registry.SetOverride(c.now, netip.Addr{}, key, registry.ParseStatus(string(status))))
}

// replicateRecord keeps the copy of a record, and the override that comes with it
// unless one is known here: overrides have calls of their own.
func (s *server) replicateRecord(c *call, from netip.Addr, item *eureka.Replication) eureka.ReplicationResult {
	if item.Instance == nil || eureka.Validate(item.Instance, item.App) != nil {
		return eureka.ReplicationResult{Code: http.StatusBadRequest}
	}
	rec := recordOf(item.Instance, c.now)
	rec.From = from.String()
	outcome := s.opts.Registry.Register(c.now, netip.Addr{}, rec)
	override := item.Instance.OverriddenStatus
	if outcome == registry.Done && override != eureka.StatusUnknown {
		if inst := s.opts.Registry.Snapshot().Get(rec.Key()); inst != nil && inst.Override == registry.None {
			s.opts.Registry.SetOverride(c.now, netip.Addr{}, rec.Key(), registry.ParseStatus(string(override)))
		}
	}
	return result(outcome)
}

// replicateHeartbeat renews a lease. The peer that knows less gets the record, the
// one that knows more is asked for it. The status beside a heartbeat is the one
// that the peer shows, not the client's, so it heals nothing.
func (s *server) replicateHeartbeat(c *call, key registry.Key, item *eureka.Replication) eureka.ReplicationResult {
	known := s.opts.Registry.Snapshot().Get(key)
	outcome := s.opts.Registry.Renew(c.now, netip.Addr{}, key, registry.Beat{Dirty: item.DirtyMS, HasDirty: item.HasDirty})
	if outcome != registry.Done || known == nil || !item.HasDirty || item.DirtyMS >= known.Dirty {
		return result(outcome)
	}
	enc := encoder{format: eureka.JSON}
	enc.fill(known)
	return eureka.ReplicationResult{Code: http.StatusConflict, Newer: &enc.wire}
}

// result is answer for an item of a batch, where everything that was done is 200.
func result(outcome registry.Outcome) eureka.ReplicationResult {
	switch outcome {
	case registry.Done, registry.Fenced, registry.Stale:
		return eureka.ReplicationResult{Code: http.StatusOK}
	case registry.NotFound, registry.Newer:
		return eureka.ReplicationResult{Code: http.StatusNotFound}
	default: // no room left
		return eureka.ReplicationResult{Code: http.StatusServiceUnavailable}
	}
}
