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
	// ListsFrom returns from when this process answers list reads; nil if it always
	// did. It is written beside the renewals, because they hide from the next process
	// how long the registry had been away before this one.
	ListsFrom func() time.Time
}

// listsFromAnnotation holds, on the canary, from when the process that renews it
// answers list reads, in RFC 3339.
const listsFromAnnotation = "kureka.dev/lists-from"

func (w *Watcher) canaryResource() string {
	return "the canary Lease " + w.opts.Canary.Namespace + "/" + w.opts.Canary.Name
}

func (w *Watcher) canary() source[coordinationv1.Lease] {
	c := w.opts.Canary
	api := w.opts.Client.CoordinationV1().Leases(c.Namespace)
	selector := fields.OneTermEqualSelector("metadata.name", c.Name).String()
	return source[coordinationv1.Lease]{
		resource: w.canaryResource(),
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
				w.hearing.heard()
				w.feed.CanarySeen(l)
			},
			gone:   func(*coordinationv1.Lease) {},
			listed: func([]*coordinationv1.Lease) {}, // a renewal of unknown age
		},
	}
}

// keepCanary renews the canary until the context ends and tells of each renewal.
// What goes wrong is logged when it begins and when it ends.
func keepCanary(ctx context.Context, client kubernetes.Interface, c CanaryOptions, clock func() time.Time, log logr.Logger, renewed func()) {
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
		if err == nil {
			renewed()
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
	lease, err := api.Get(ctx, c.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		seconds := int32(CanaryInterval / time.Second * 3)
		lease = &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: c.Name},
			Spec:       coordinationv1.LeaseSpec{LeaseDurationSeconds: &seconds},
		}
		c.stamp(lease, now)
		_, err = api.Create(ctx, lease, metav1.CreateOptions{})
		return err
	}
	if err != nil {
		return err
	}
	c.stamp(lease, now)
	_, err = api.Update(ctx, lease, metav1.UpdateOptions{})
	return err
}

func (c CanaryOptions) stamp(lease *coordinationv1.Lease, now time.Time) {
	renewed := metav1.NewMicroTime(now)
	lease.Spec.HolderIdentity, lease.Spec.RenewTime = &c.Identity, &renewed
	if c.ListsFrom != nil {
		metav1.SetMetaDataAnnotation(&lease.ObjectMeta, listsFromAnnotation, c.ListsFrom().UTC().Format(time.RFC3339))
	}
}

// Absence is what the canary tells a process that starts.
type Absence struct {
	// Age is how old the last renewal was: how long the registry had been away, if
	// nobody else runs. Zero if there is no canary.
	Age time.Duration
	// Renewed is when anybody last renewed it; zero if there is no canary.
	Renewed time.Time
	// ListsFrom is from when the process before this one meant to answer list reads;
	// zero if it did not say.
	ListsFrom time.Time
}

// ReadAbsence reads what the canary tells about a moment, before it is renewed.
func ReadAbsence(ctx context.Context, client kubernetes.Interface, c CanaryOptions, at time.Time) (Absence, error) {
	ctx, cancel := context.WithTimeout(ctx, canaryTimeout)
	defer cancel()
	lease, err := client.CoordinationV1().Leases(c.Namespace).Get(ctx, c.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return Absence{}, nil
	}
	if err != nil {
		return Absence{}, err
	}
	var a Absence
	if t := lease.Spec.RenewTime; t != nil {
		a.Age, a.Renewed = max(0, at.Sub(t.Time)), t.Time
	}
	// What somebody else wrote there is no time, and says nothing.
	if t, err := time.Parse(time.RFC3339, lease.Annotations[listsFromAnnotation]); err == nil {
		a.ListsFrom = t
	}
	return a, nil
}
