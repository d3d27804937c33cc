package manager

import (
	"errors"
	"testing"

	"github.com/go-logr/logr/funcr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/kureka/kureka/api/v1alpha1"
)

func TestWhatMayChangeADecisionPasses(t *testing.T) {
	object := func(uid string, generation int64, version string) *v1alpha1.RegistryPolicy {
		return &v1alpha1.RegistryPolicy{ObjectMeta: metav1.ObjectMeta{UID: types.UID(uid), Generation: generation, ResourceVersion: version}}
	}
	p := specChanged()
	updates := map[string]struct {
		from, to *v1alpha1.RegistryPolicy
		passes   bool
	}{
		"a spec":                          {object("a", 1, "1"), object("a", 2, "2"), true},
		"a status":                        {object("a", 1, "1"), object("a", 1, "2"), false},
		"another object of the same name": {object("a", 1, "1"), object("b", 1, "2"), true},
	}
	for name, tc := range updates {
		if got := p.Update(event.UpdateEvent{ObjectOld: tc.from, ObjectNew: tc.to}); got != tc.passes {
			t.Errorf("%s: %v", name, got)
		}
	}
	if !p.Create(event.CreateEvent{Object: object("a", 1, "1")}) || !p.Delete(event.DeleteEvent{Object: object("a", 1, "1")}) {
		t.Error("a beginning or an end does not pass")
	}
}

func TestAStatusThatCannotBeWrittenIsToldOnceAndTriedAgain(t *testing.T) {
	told := 0
	w := &Written{Log: funcr.New(func(string, string) { told++ }, funcr.Options{}), Failed: "it failed"}
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "things"}, "a", errors.New("changed"))
	steps := []struct {
		err  error
		told int
	}{{errors.New("down"), 1}, {errors.New("down"), 1}, {conflict, 1}, {nil, 1}, {errors.New("down"), 2}}
	for i, s := range steps {
		after := w.Outcome(s.err).RequeueAfter
		if want := map[bool]bool{true: after == afterConflict, false: after == StatusEvery}[apierrors.IsConflict(s.err)]; !want || told != s.told {
			t.Errorf("step %d: again after %v, told %d times, want %d", i, after, told, s.told)
		}
	}
}

func TestOnlyDecisionsThatAreNewAreTold(t *testing.T) {
	d := NewDecisions[string]()
	name := func(n string) types.NamespacedName { return types.NamespacedName{Name: n} }
	if got := d.keep(map[types.NamespacedName]string{name("a"): "x", name("b"): "y"}); len(got) != 2 {
		t.Errorf("told of %v", got)
	}
	if got := d.keep(map[types.NamespacedName]string{name("a"): "x", name("b"): "z"}); len(got) != 1 || got[0] != name("b") {
		t.Errorf("told of %v", got)
	}
	if got, ok := d.About(name("b")); !ok || got != "z" {
		t.Errorf("b is %q, %v", got, ok)
	}
	d.keep(map[types.NamespacedName]string{})
	if _, ok := d.About(name("b")); ok {
		t.Error("what is gone is remembered")
	}
}
