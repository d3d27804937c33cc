package controllers

import (
	"context"
	"time"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
)

// CanaryInterval is how often the canary is renewed.
const CanaryInterval = 5 * time.Second

// canaryTimeout bounds one call about the canary.
const canaryTimeout = 4 * time.Second

// CanaryOptions name the Lease that Kureka renews to see it come back on the
// watch. Its arrival proves that the watches deliver, and its age at the next
// start tells how long the registry was away.
type CanaryOptions struct {
	Namespace, Name string
	// Identity is written as the Lease's holder.
	Identity string
}

func (w *Watcher) canary() source[coordinationv1.Lease] {
	c := w.opts.Canary
	api := w.opts.Client.CoordinationV1().Leases(c.Namespace)
	selector := fields.OneTermEqualSelector("metadata.name", c.Name).String()
	return source[coordinationv1.Lease]{
		resource: "the canary Lease " + c.Namespace + "/" + c.Name,
		without:  "the view never counts as fresh",
		list: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			o.FieldSelector = selector
			return api.List(ctx, o)
		},
		watch: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			o.FieldSelector = selector
			return api.Watch(ctx, o)
		},
		sink: sink[coordinationv1.Lease]{
			seen: func(l *coordinationv1.Lease) {
				if t := l.Spec.RenewTime; t != nil {
					w.opts.Cluster.ObserveCanary(w.opts.Clock(), t.Time)
				}
			},
			gone:   func(*coordinationv1.Lease) {},
			listed: func([]*coordinationv1.Lease) {}, // a renewal of unknown age
		},
	}
}

// keepCanary renews the canary until the context ends. What goes wrong is logged
// when it begins and when it ends.
func keepCanary(ctx context.Context, client kubernetes.Interface, c CanaryOptions, clock func() time.Time, log logr.Logger) {
	ticker := time.NewTicker(CanaryInterval)
	defer ticker.Stop()
	failing := false
	for {
		err := renewCanary(ctx, client, c, clock())
		if ctx.Err() != nil {
			return
		}
		if failing != (err != nil) {
			failing = err != nil
			if failing {
				log.Info("Cannot renew the canary Lease; the view does not count as fresh. Kureka's service account needs "+
					"get, create and update on leases in its own namespace", "lease", c.Namespace+"/"+c.Name, "cause", err.Error())
			} else {
				log.Info("Renewing the canary Lease again", "lease", c.Namespace+"/"+c.Name)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

func renewCanary(ctx context.Context, client kubernetes.Interface, c CanaryOptions, now time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, canaryTimeout)
	defer cancel()
	api := client.CoordinationV1().Leases(c.Namespace)
	stamp := metav1.NewMicroTime(now)
	lease, err := api.Get(ctx, c.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		seconds := int32(CanaryInterval / time.Second * 3)
		_, err = api.Create(ctx, &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: c.Name},
			Spec:       coordinationv1.LeaseSpec{HolderIdentity: &c.Identity, RenewTime: &stamp, LeaseDurationSeconds: &seconds},
		}, metav1.CreateOptions{})
		return err
	}
	if err != nil {
		return err
	}
	lease.Spec.HolderIdentity, lease.Spec.RenewTime = &c.Identity, &stamp
	_, err = api.Update(ctx, lease, metav1.UpdateOptions{})
	return err
}

// CanaryAge returns how old the canary's last renewal was at a moment, zero when
// there is none: how long the registry had been away, if nobody else runs.
func CanaryAge(ctx context.Context, client kubernetes.Interface, c CanaryOptions, at time.Time) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, canaryTimeout)
	defer cancel()
	lease, err := client.CoordinationV1().Leases(c.Namespace).Get(ctx, c.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return 0, nil
	case err != nil:
		return 0, err
	case lease.Spec.RenewTime == nil:
		return 0, nil
	}
	return max(0, at.Sub(lease.Spec.RenewTime.Time)), nil
}
