package registry

import (
	"testing"
	"time"
)

func TestAContestedLeaseIsRenewedOnlyForSomebodyWhoIsKnown(t *testing.T) {
	start := time.Unix(1_700_000_000, 0)
	e := New(start, Options{})
	rec := &Record{App: "A", ID: "1"}
	e.Register(start, Caller{}, rec, Binding{PodUID: "u1", Contested: true})
	later := start.Add(30 * time.Second)
	if r := e.Renew(later, Caller{}, rec.Key(), Beat{Status: Down, Dirty: 9, HasDirty: true}); !r.Contested {
		t.Errorf("renewed: %+v", r)
	}
	if seen, _ := e.LastSeen(rec.Key()); !seen.Equal(start) {
		t.Errorf("was seen at %s", seen)
	}
	if got := e.Snapshot().Get(rec.Key()).Status; got != Up {
		t.Errorf("is %s", got)
	}
	if r := e.Renew(later, Caller{Known: true}, rec.Key(), Beat{}); r != (Renewal{}) {
		t.Errorf("answered %+v", r)
	}
	if seen, _ := e.LastSeen(rec.Key()); !seen.Equal(later) {
		t.Errorf("was seen at %s", seen)
	}
}
