package registry

import (
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"
)

func TestHeartbeatAllocatesNothing(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	e := New(now, Options{})
	key := fill(t, e, now, 100)[42]
	beat := Beat{Status: Up, Dirty: 1, HasDirty: true}
	if n := testing.AllocsPerRun(1000, func() { e.Renew(now, Caller{}, key, beat) }); n != 0 {
		t.Errorf("a heartbeat makes %v allocations", n)
	}
}

// Every snapshot must be whole: its counts are those of its instances, and a
// reader that starts after a write sees it.
func TestSnapshotsAreConsistentUnderConcurrentWrites(t *testing.T) {
	start := time.Unix(1_700_000_000, 0)
	e := New(start, Options{})
	const writers, steps = 4, 300
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range steps {
				now := start.Add(time.Duration(i) * time.Second)
				// The writers' clocks run apart by as much as one is ahead of another, so the lease outlasts them all.
				rec := &Record{App: fmt.Sprintf("W%d", w), ID: strconv.Itoa(i % 7), Status: Up, Dirty: int64(i), LeaseDuration: time.Hour}
				e.Register(now, Caller{}, rec, Binding{Partition: "x", PodUID: "pod" + strconv.Itoa(i%7)})
				if got := e.Snapshot().Get(rec.Key()); got == nil {
					t.Errorf("%v is missing right after its registration", rec.Key())
				}
				e.Renew(now, Caller{}, rec.Key(), Beat{Status: Down, Dirty: int64(i), HasDirty: true})
				if i%5 == 0 {
					e.Cancel(now, Caller{}, rec.Key())
				}
				if w == 0 {
					e.Tick(now)
				}
			}
		})
	}
	wg.Go(func() {
		for range steps {
			s := e.Snapshot()
			counts := Counts{}
			for i := range s.All() {
				counts.add(i.Status, 1)
			}
			if counts != s.Counts {
				t.Errorf("counts %v of a snapshot with %v", s.Counts, counts)
			}
		}
	})
	wg.Wait()
}
