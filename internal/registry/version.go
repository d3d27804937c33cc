package registry

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"time"
)

// Stamp is a hybrid timestamp: wall-clock milliseconds, a counter for events
// within one, and the replica's slot. Stamps of one engine strictly increase,
// also when its wall clock steps back.
type Stamp struct {
	MS   int64  `json:",omitzero"`
	N    uint32 `json:",omitzero"`
	Slot uint16 `json:",omitzero"`
}

func (s Stamp) compare(o Stamp) int {
	return cmp.Or(cmp.Compare(s.MS, o.MS), cmp.Compare(s.N, o.N), cmp.Compare(s.Slot, o.Slot))
}

func (s Stamp) after(o Stamp) bool { return s.compare(o) > 0 }

// stamp returns the next stamp of this engine.
func (e *Engine) stamp(now time.Time) Stamp {
	s := Stamp{MS: now.UnixMilli(), Slot: e.opts.Slot}
	if s.MS <= e.clock.MS {
		s.MS, s.N = e.clock.MS, e.clock.N+1
	}
	e.clock = s
	e.revision.Add(1)
	return s
}

// Version orders the records of one key between replicas: by the registration's
// epoch, then by the client's lastDirtyTimestamp, then by content, so that any
// two replicas choose alike.
type Version struct {
	Epoch Stamp
	Dirty int64
	Hash  uint64
}

func (v Version) compare(o Version) int {
	return cmp.Or(v.Epoch.compare(o.Epoch), cmp.Compare(v.Dirty, o.Dirty), cmp.Compare(v.Hash, o.Hash))
}

// contentHash is a stable digest of everything a client said in a record.
func contentHash(r *Record) uint64 {
	b := make([]byte, 0, 1<<10) // on the stack, with room for a usual record
	for _, s := range []string{
		r.App, r.ID, r.HostName, r.IPAddr, r.VIP, r.SecureVIP, r.DataCenter.Name, r.AppGroup, r.SID, r.ASG,
		r.HomePageURL, r.StatusPageURL, r.HealthCheckURL, r.SecureHealthURL, r.From,
	} {
		b = appendString(b, s)
	}
	b = appendPairs(b, r.Metadata)
	b = appendPairs(b, r.DataCenter.Metadata)
	for _, n := range []int64{
		int64(r.Port.Number), flag(r.Port.Enabled), int64(r.SecurePort.Number), flag(r.SecurePort.Enabled),
		int64(r.CountryID), int64(r.Status), r.Dirty,
		int64(r.RenewalInterval), int64(r.LeaseDuration),
	} {
		b = appendInt(b, n)
	}
	sum := sha256.Sum256(b)
	return binary.BigEndian.Uint64(sum[:])
}

func appendPairs(b []byte, pairs []Pair) []byte {
	b = appendInt(b, int64(len(pairs)))
	for _, p := range pairs {
		b = appendString(appendString(b, p.Key), p.Value)
	}
	return b
}

func appendString(b []byte, s string) []byte { return append(appendInt(b, int64(len(s))), s...) }

func appendInt(b []byte, n int64) []byte { return binary.BigEndian.AppendUint64(b, uint64(n)) }

func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
