package registration

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kureka/kureka/api/v1alpha1"
	"github.com/kureka/kureka/controllers/manager"
	"github.com/kureka/kureka/internal/cluster"
)

// decision is what was made of one object.
type decision struct {
	uid        types.UID
	generation int64
	fault      string // why it is not offered, empty if it is
}

// decider hands the set of offers to the target whenever an object changed. It
// always looks at all of them, so nothing depends on the order of changes.
type decider struct {
	reader client.Reader
	target Target
	class  v1alpha1.RegistryClass
	clock  func() time.Time
	made   *manager.Decisions[decision]
}

// Reconcile decides about all objects; the request says nothing.
func (d *decider) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	var list v1alpha1.EurekaRegistrationList
	if err := d.reader.List(ctx, &list); err != nil {
		return reconcile.Result{}, fmt.Errorf("listing registrations: %w", err)
	}
	decisions := make(map[types.NamespacedName]decision, len(list.Items))
	offers := make([]cluster.Offer, 0, len(list.Items))
	for i := range list.Items {
		r := &list.Items[i]
		if class := r.Spec.RegistryClassName; class != "" && class != d.class {
			continue
		}
		offer, err := offerOf(r)
		dec := decision{uid: r.UID, generation: r.Generation}
		if err != nil {
			dec.fault = err.Error()
		} else {
			offers = append(offers, offer)
		}
		decisions[client.ObjectKeyFromObject(r)] = dec
	}
	d.target.SetOffers(d.clock(), offers)
	d.made.Replace(ctx, decisions)
	return reconcile.Result{}, nil
}
