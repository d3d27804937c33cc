package manager

import (
	"context"
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/event"
)

// Decisions is what was made of every object of some kinds, by name; D says what.
// It is safe for concurrent use.
type Decisions[D any] struct {
	changed chan event.TypedGenericEvent[types.NamespacedName]

	mu sync.Mutex
	m  map[types.NamespacedName]D
}

// NewDecisions returns no decisions.
func NewDecisions[D any]() *Decisions[D] {
	return &Decisions[D]{changed: make(chan event.TypedGenericEvent[types.NamespacedName])}
}

// Replace puts decisions in place of those before and has the status of each that
// is new written.
func (d *Decisions[D]) Replace(ctx context.Context, decisions map[types.NamespacedName]D) {
	for _, name := range d.keep(decisions) {
		select {
		case d.changed <- event.TypedGenericEvent[types.NamespacedName]{Object: name}:
		case <-ctx.Done():
		}
	}
}

func (d *Decisions[D]) keep(decisions map[types.NamespacedName]D) (changed []types.NamespacedName) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for name, now := range decisions {
		if before, known := d.m[name]; !known || !reflect.DeepEqual(before, now) {
			changed = append(changed, name)
		}
	}
	d.m = decisions
	return changed
}

// About returns the decision about an object, ok false if there is none.
func (d *Decisions[D]) About(name types.NamespacedName) (decision D, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	decision, ok = d.m[name]
	return decision, ok
}
