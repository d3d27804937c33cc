package policy

import (
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kureka/kureka/api/v1alpha1"
)

// counted are figures of a namespace with a number of leases.
type counted struct{ leases int }

func (c *counted) Namespace(string) (leases, expected, received, held int, engaged, ok bool) {
	return c.leases, 0, 0, 0, false, true
}

// writing is a writer of one policy's status, called by hand.
type writing struct {
	*world

	writer   *statusWriter
	decision decision
	figures  *counted
	now      time.Time
	object   *v1alpha1.RegistryPolicy
}

func newWriting(t *testing.T) *writing {
	t.Helper()
	w := &writing{world: newWorld(t), figures: &counted{}, now: time.Unix(1e9, 0)}
	w.installResources()
	w.object = namespacePolicy(w.namespace(), v1alpha1.RegistryPolicySpec{})
	w.create(w.object)
	effective, _, _ := Merge(nil, nil)
	w.decision = decision{uid: w.object.UID, generation: 1, effective: effective}
	about := func(types.NamespacedName) (decision, bool) { return w.decision, true }
	w.writer = newStatusWriter(w.admin, about, Options{
		Figures: w.figures, Clock: func() time.Time { return w.now }, Logger: funcr.New(w.log, funcr.Options{}),
	})
	return w
}

// write calls the writer and returns the object as it is then.
func (w *writing) write() *v1alpha1.RegistryPolicy {
	w.t.Helper()
	name := client.ObjectKeyFromObject(w.object)
	result, err := w.writer.Reconcile(w.t.Context(), reconcile.Request{NamespacedName: name})
	w.must(err)
	if result.RequeueAfter != figuresEvery {
		w.t.Errorf("looks again after %s", result.RequeueAfter)
	}
	var o v1alpha1.RegistryPolicy
	w.must(w.admin.Get(w.t.Context(), name, &o))
	return &o
}

func TestFiguresAreWrittenAtMostEveryTenSecondsAndDecisionsAtOnce(t *testing.T) {
	w := newWriting(t)
	w.figures.leases = 1
	first := w.write()
	if f := first.Status.Figures; f == nil || f.Leases != 1 || f.SelfPreservation != v1alpha1.SelfPreservationWatching {
		t.Errorf("figures: %+v", f)
	}

	w.figures.leases = 2
	w.now = w.now.Add(figuresEvery - 1)
	if o := w.write(); o.ResourceVersion != first.ResourceVersion {
		t.Error("figures were written again too early")
	}
	w.decision.generation = 2
	if o := w.write(); o.Status.ObservedGeneration != 2 || o.Status.Figures.Leases != 1 {
		t.Errorf("a decision within ten seconds: generation %d, %d leases", o.Status.ObservedGeneration, o.Status.Figures.Leases)
	}

	w.now = w.now.Add(1)
	third := w.write()
	if third.Status.Figures.Leases != 2 {
		t.Errorf("figures after ten seconds: %+v", third.Status.Figures)
	}
	w.now = w.now.Add(figuresEvery)
	if o := w.write(); o.ResourceVersion != third.ResourceVersion {
		t.Error("what did not change was written again")
	}
}

func TestFiguresSayThatNobodyCounts(t *testing.T) {
	w := newWriting(t)
	w.decision.effective.SelfPreservation.Mode = v1alpha1.Disabled
	if f := w.write().Status.Figures; f.SelfPreservation != v1alpha1.SelfPreservationDisabled {
		t.Errorf("figures: %+v", f)
	}
}

func TestAStatusIsNotWrittenIntoAnObjectThatTookTheName(t *testing.T) {
	w := newWriting(t)
	w.decision.uid = "another"
	if o := w.write(); o.Status.ObservedGeneration != 0 {
		t.Errorf("status: %+v", o.Status)
	}
}

func TestAStatusThatCannotBeWrittenIsToldOnceAndTriedAgain(t *testing.T) {
	w := newWriting(t)
	// The API server refuses what is below the smallest value.
	w.figures.leases = -1
	w.write()
	w.write()
	if lines := w.logged(); len(lines) != 1 {
		t.Errorf("logged: %q", lines)
	}
	w.figures.leases = 1
	if f := w.write().Status.Figures; f == nil || f.Leases != 1 {
		t.Errorf("figures: %+v", f)
	}
}
