package app

import (
	"time"

	"github.com/kureka/kureka/internal/cluster"
	"github.com/kureka/kureka/internal/verdict"
)

// observeAtFirst lets no verdict act before policies have been read, if that is what
// was asked for.
func (a *App) observeAtFirst(now time.Time) {
	if a.opts.PolicyMode != Observe {
		return
	}
	fallback := verdict.DefaultPolicy()
	fallback.Observe = true
	a.cluster.SetPolicies(now, fallback, nil)
}

// observeRestored does the same with the policies of a snapshot.
func (a *App) observeRestored(cp *cluster.Checkpoint) {
	if a.opts.PolicyMode != Observe {
		return
	}
	cp.Policies.Fallback.Observe = true
	for name, p := range cp.Policies.Namespaces {
		p.Observe = true
		cp.Policies.Namespaces[name] = p
	}
}
