package app

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/kureka/kureka/internal/verdict"
)

// Until policies have been read nothing acts that was only to be observed, whatever
// was in force when the snapshot was saved.
func TestVerdictsAreOnlyObservedBeforePoliciesAreRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "registry.snapshot")
	observed := func(o Options) (everywhere, own bool) {
		t.Helper()
		o.StartGate = GateOff // what still waits is not saved
		a, stop := start(t, o)
		saved := a.cluster.Checkpoint(time.Now()).Policies
		everywhere, own = saved.Fallback.Observe, saved.Namespaces["shop"].Observe
		a.cluster.SetPolicies(time.Now(), verdict.DefaultPolicy(), map[string]verdict.Policy{"shop": verdict.DefaultPolicy()})
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		return everywhere, own
	}
	observe := kept(path)
	observe.PolicyMode = Observe
	if everywhere, _ := observed(observe); !everywhere {
		t.Error("without a snapshot verdicts act")
	}
	if everywhere, own := observed(observe); !everywhere || !own {
		t.Errorf("with a snapshot verdicts act: everywhere %v, in a namespace %v", !everywhere, !own)
	}
	if everywhere, own := observed(kept(path)); everywhere || own {
		t.Error("verdicts do not act although nobody asked for that")
	}
}
