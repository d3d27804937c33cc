package registry

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func drawStamp(t *rapid.T, label string) Stamp {
	return Stamp{
		MS: rapid.Int64Range(0, 3).Draw(t, label), N: rapid.Uint32Range(0, 1).Draw(t, label+"N"),
		Slot: rapid.Uint16Range(0, 1).Draw(t, label+"Slot"),
	}
}

func drawState(t *rapid.T) State {
	s := State{
		Override: rapid.SampledFrom([]Status{None, Up, OutOfService}).Draw(t, "override"), OverrideAt: drawStamp(t, "overrideAt"),
		Client: rapid.SampledFrom([]Status{Up, Down}).Draw(t, "client"), ClientAt: drawStamp(t, "clientAt"),
		Cancelled: drawStamp(t, "cancelled"), RenewedMS: rapid.Int64Range(0, 3).Draw(t, "renewed"),
	}
	if rapid.Bool().Draw(t, "hasRecord") {
		// Content decides the hash, as it does in the engine.
		r := &Record{App: "A", ID: "1", HostName: rapid.SampledFrom([]string{"h1", "h2"}).Draw(t, "host"), Dirty: rapid.Int64Range(0, 2).Draw(t, "dirty")}
		s.Record, s.Version = r, Version{Epoch: drawStamp(t, "epoch"), Dirty: r.Dirty, Hash: contentHash(r)}
	}
	return s
}

func TestMergeIsCommutativeAssociativeAndIdempotent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := drawState(t), drawState(t), drawState(t)
		equal := func(law string, x, y State) {
			if d := cmp.Diff(x, y); d != "" {
				t.Fatalf("%s:\n%s", law, d)
			}
		}
		equal("a+b = b+a", Merge(a, b), Merge(b, a))
		equal("(a+b)+c = a+(b+c)", Merge(Merge(a, b), c), Merge(a, Merge(b, c)))
		equal("a+a = a", Merge(a, a), a)
		equal("a+b+b = a+b", Merge(Merge(a, b), b), Merge(a, b))
	})
}

func TestCancelHidesOnlyWhatWasRegisteredBefore(t *testing.T) {
	s := newScenario()
	key := Key{"A", "1"}
	for _, line := range []string{"register A/1 dirty=5", "cancel A/1"} {
		if err := s.run(line); err != nil {
			t.Fatal(err)
		}
	}
	cancelled := s.e.State(key)
	before := State{Record: &Record{App: "A", ID: "1"}, Version: Version{Epoch: Stamp{MS: s.now.UnixMilli()}}}
	if Merge(cancelled, before).Live() {
		t.Error("a copy from before the cancel came back")
	}
	if err := s.run("register A/1 dirty=4"); err != nil {
		t.Fatal(err)
	}
	if again := s.e.State(key); !Merge(cancelled, again).Live() {
		t.Error("the registration after the cancel is hidden")
	}
}
