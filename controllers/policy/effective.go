package policy

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kureka/kureka/api/v1alpha1"
)

// Effective is what is in force by namespace, in the form of the resources. It is
// safe for concurrent use.
type Effective struct {
	mu       sync.RWMutex
	read     bool // since the start
	fallback v1alpha1.Policy
	own      map[string]v1alpha1.Policy
}

// NewEffective returns what is in force before any policy has been read.
func NewEffective() *Effective {
	fallback, _, _ := Merge(nil, nil)
	return &Effective{fallback: fallback}
}

// Drain returns how pods of a namespace are drained; every field is set. It must
// not be changed.
func (e *Effective) Drain(namespace string) v1alpha1.Drain {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return *e.of(namespace).Drain
}

// MaxWait returns how old a pod of a namespace becomes before it waits for the
// registry no longer. It is only what is built in, read false, until policies have
// been read.
func (e *Effective) MaxWait(namespace string) (wait time.Duration, read bool) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return seconds(e.of(namespace).ReadinessGate.MaxWaitSeconds, 0), e.read
}

// of returns the policy of a namespace; the caller holds the lock.
func (e *Effective) of(namespace string) *v1alpha1.Policy {
	if p, ok := e.own[namespace]; ok {
		return &p
	}
	return &e.fallback
}

func (e *Effective) set(fallback v1alpha1.Policy, decisions map[types.NamespacedName]decision) {
	if e == nil {
		return
	}
	own := make(map[string]v1alpha1.Policy, len(decisions))
	for name, d := range decisions {
		if name.Namespace != "" {
			own[name.Namespace] = d.effective
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.fallback, e.own, e.read = fallback, own, true
}
