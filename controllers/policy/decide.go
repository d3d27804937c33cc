package policy

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kureka/kureka/api/v1alpha1"
	"github.com/kureka/kureka/controllers/manager"
	"github.com/kureka/kureka/internal/verdict"
)

// Target is told the complete set of policies: the fallback for everything that
// has none of its own, and those of namespaces. It must not keep the map.
type Target interface {
	SetPolicies(now time.Time, fallback verdict.Policy, namespaces map[string]verdict.Policy)
}

// decision is what was made of one object.
type decision struct {
	uid        types.UID
	generation int64
	effective  v1alpha1.Policy
	problems   []Problem
}

// decider hands the set of policies to the target whenever an object changed. It
// always looks at all of them, so nothing depends on the order of changes.
type decider struct {
	reader client.Reader
	target Target
	class  v1alpha1.RegistryClass
	mode   v1alpha1.PolicyMode // where no policy says; empty: as built in
	clock  func() time.Time
	// effective is told what is in force, for those who need more of it than the target.
	effective *Effective
	made      *manager.Decisions[decision]
}

// Reconcile decides about all objects; the request says nothing.
func (d *decider) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	cluster, namespaces, err := d.list(ctx)
	if err != nil {
		return reconcile.Result{}, err
	}
	decisions, fallback, own, inForce := decide(cluster, namespaces, d.mode)
	d.target.SetPolicies(d.clock(), fallback, own)
	d.effective.set(inForce, decisions)
	d.made.Replace(ctx, decisions)
	return reconcile.Result{}, nil
}

// list returns the objects that are for this installation; cluster may be nil.
func (d *decider) list(ctx context.Context) (*v1alpha1.ClusterRegistryPolicy, []v1alpha1.RegistryPolicy, error) {
	var clusters v1alpha1.ClusterRegistryPolicyList
	if err := d.reader.List(ctx, &clusters); err != nil {
		return nil, nil, fmt.Errorf("listing cluster policies: %w", err)
	}
	var namespaces v1alpha1.RegistryPolicyList
	if err := d.reader.List(ctx, &namespaces); err != nil {
		return nil, nil, fmt.Errorf("listing the policies of namespaces: %w", err)
	}
	var cluster *v1alpha1.ClusterRegistryPolicy
	for i, c := range clusters.Items {
		if d.isOurs(c.Name, c.Spec.RegistryClassName) {
			cluster = &clusters.Items[i]
		}
	}
	var ours []v1alpha1.RegistryPolicy
	for _, n := range namespaces.Items {
		if d.isOurs(n.Name, n.Spec.RegistryClassName) {
			ours = append(ours, n)
		}
	}
	return cluster, ours, nil
}

func (d *decider) isOurs(name string, class v1alpha1.RegistryClass) bool {
	return name == v1alpha1.PolicyName && (class == "" || class == d.class)
}

// decide combines the objects. A namespace without an object has the fallback, and
// the mode is this one where nobody names another.
func decide(cluster *v1alpha1.ClusterRegistryPolicy, namespaces []v1alpha1.RegistryPolicy, mode v1alpha1.PolicyMode) (
	map[types.NamespacedName]decision, verdict.Policy, map[string]verdict.Policy, v1alpha1.Policy,
) {
	decisions := make(map[types.NamespacedName]decision, len(namespaces)+1)
	var spec *v1alpha1.ClusterRegistryPolicySpec
	if cluster != nil {
		spec = cluster.Spec.DeepCopy()
	} else if mode != "" {
		spec = &v1alpha1.ClusterRegistryPolicySpec{}
	}
	if spec != nil && spec.Mode == "" {
		spec.Mode = mode
	}
	everywhere, fallback, problems := Merge(spec, nil)
	if cluster != nil {
		decisions[client.ObjectKeyFromObject(cluster)] = decision{cluster.UID, cluster.Generation, everywhere, problems}
	}
	own := make(map[string]verdict.Policy, len(namespaces))
	for i := range namespaces {
		n := &namespaces[i]
		effective, engine, problems := Merge(spec, &n.Spec)
		own[n.Namespace] = engine
		decisions[client.ObjectKeyFromObject(n)] = decision{n.UID, n.Generation, effective, problems}
	}
	return decisions, fallback, own, everywhere
}
