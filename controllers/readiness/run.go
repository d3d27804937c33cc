package readiness

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/flowcontrol"

	"github.com/kureka/kureka/internal/cluster"
)

// +kubebuilder:rbac:groups="",resources=pods/status,verbs=patch

const (
	// lookEvery is how often the pods that wait are looked at, which costs nothing
	// while there are none.
	lookEvery = 200 * time.Millisecond
	// writesPerSecond and writers bound what many pods at once cost the API server:
	// a thousand are released in two seconds.
	writesPerSecond = 500
	writers         = 32
	// writeTimeout bounds one call. It is short, because pods wait.
	writeTimeout = 2 * time.Second
)

// Target knows which pods wait. It must not block.
type Target interface{ Awaiting() []cluster.Awaiting }

// MaxWait returns how old a pod of a namespace becomes before it is released; read
// is false while nobody knows what the policies say.
type MaxWait func(namespace string) (wait time.Duration, read bool)

// Options configure Run.
type Options struct {
	Target  Target
	Client  kubernetes.Interface
	MaxWait MaxWait
	// Listing reports whether clients are answered lists.
	Listing func(now time.Time) bool
	Clock   func() time.Time
	Logger  logr.Logger
	// Done is told of each condition that was written. It must not block and is called
	// concurrently.
	Done func(pod cluster.Awaiting, written corev1.PodCondition)
}

// Run releases pods until the context ends. What goes wrong is logged when it begins
// and tried again every second.
func Run(ctx context.Context, opts Options) {
	w := &writer{opts: opts, limiter: flowcontrol.NewTokenBucketRateLimiter(writesPerSecond, writers)}
	defer w.limiter.Stop()
	r := &releases{maxWait: opts.MaxWait, listing: opts.Listing}
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		w.writeAll(ctx, r.due(opts.Clock(), opts.Target.Awaiting()))
	}
}

// writer writes conditions.
type writer struct {
	opts    Options
	limiter flowcontrol.RateLimiter
	failing bool // since the last round in which all went well
}

// writeAll writes what is due and returns when all of it was tried.
func (w *writer) writeAll(ctx context.Context, due []release) {
	if len(due) == 0 {
		return
	}
	next, errs := make(chan release), make(chan error, len(due))
	var wg sync.WaitGroup
	for range min(writers, len(due)) {
		wg.Go(func() {
			for r := range next {
				errs <- w.write(ctx, r)
			}
		})
	}
	for _, r := range due {
		if w.limiter.Wait(ctx) != nil {
			break // the end
		}
		next <- r
	}
	close(next)
	wg.Wait()
	close(errs)
	w.tell(ctx, errs)
}

// tell logs the first failure after all went well.
func (w *writer) tell(ctx context.Context, errs <-chan error) {
	var first error
	for err := range errs {
		if first == nil {
			first = err
		}
	}
	if first != nil && !w.failing && ctx.Err() == nil {
		w.opts.Logger.Error(first, "Pods wait for the registry longer than they should. Kureka's service account needs patch on pods/status")
	}
	w.failing = first != nil
}

// write writes one condition and nothing else of the pod. The UID keeps it from a
// pod that has the name by now.
func (w *writer) write(ctx context.Context, r release) error {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": r.pod.UID},
		"status":   map[string]any{"conditions": []corev1.PodCondition{r.condition}},
	})
	if err != nil {
		return fmt.Errorf("encoding the condition of %s/%s: %w", r.pod.Namespace, r.pod.Name, err)
	}
	_, err = w.opts.Client.CoreV1().Pods(r.pod.Namespace).Patch(ctx, r.pod.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	switch {
	case apierrors.IsNotFound(err), isOfAnother(err):
		return nil // the pod that waited is gone
	case err != nil:
		return fmt.Errorf("writing the condition of %s/%s: %w", r.pod.Namespace, r.pod.Name, err)
	}
	w.opts.Done(r.pod, r.condition)
	return nil
}

// isOfAnother reports whether the pod of that name is another one by now: its UID is
// refused as a change.
func isOfAnother(err error) bool {
	status, ok := errors.AsType[*apierrors.StatusError](err)
	return ok && apierrors.IsInvalid(err) && status.ErrStatus.Details != nil &&
		slices.ContainsFunc(status.ErrStatus.Details.Causes, func(c metav1.StatusCause) bool { return c.Field == "metadata.uid" })
}
