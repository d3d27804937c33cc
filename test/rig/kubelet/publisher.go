package kubelet

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

var (
	// errReplaced means that the pod's name belongs to another pod by now.
	errReplaced = errors.New("the pod was replaced by another of the same name")
	errSilent   = errors.New("the kubelet is cut off")
)

// publisher writes the status of one pod to the API and removes the object in the
// end. It has a goroutine of its own, so that an API server that hangs does not
// hold up the processes.
type publisher struct {
	kubelet *Kubelet
	name    types.NamespacedName
	uid     types.UID
	nudged  chan struct{}

	mu     sync.Mutex
	status *corev1.PodStatus // the newest; nil until there is one
	remove bool              // the object is to go once the status is written
}

func newPublisher(k *Kubelet, pod *corev1.Pod) *publisher {
	return &publisher{
		kubelet: k,
		name:    types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name},
		uid:     pod.UID,
		nudged:  make(chan struct{}, 1),
	}
}

// set replaces the status to publish. remove asks for the object's removal after
// that.
func (p *publisher) set(status corev1.PodStatus, remove bool) {
	p.mu.Lock()
	same := p.status != nil && p.remove == remove && apiequality.Semantic.DeepEqual(*p.status, status)
	p.status, p.remove = &status, remove
	p.mu.Unlock()
	if !same {
		p.wake()
	}
}

func (p *publisher) wake() { nudge(p.nudged) }

// run publishes until the object is gone or ctx ends.
func (p *publisher) run(ctx context.Context) {
	timings := p.kubelet.options.Timings
	retry := time.NewTimer(0)
	defer retry.Stop()
	var reassert <-chan time.Time
	if timings.Reassert > 0 {
		ticker := time.NewTicker(timings.Reassert)
		defer ticker.Stop()
		reassert = ticker.C
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.nudged:
		case <-retry.C:
		case <-reassert:
		}
		if p.kubelet.isSilent() {
			continue
		}
		gone, err := p.publish(ctx)
		if gone {
			return
		}
		if err != nil {
			p.kubelet.log.V(1).Info("pod status", "pod", p.name.String(), "error", err.Error())
			retry.Reset(timings.Retry)
		}
	}
}

// publish brings the object in line with the newest status.
func (p *publisher) publish(ctx context.Context) (gone bool, err error) {
	p.mu.Lock()
	status, remove := p.status, p.remove
	p.mu.Unlock()
	if status == nil {
		return false, nil
	}
	err = p.writeStatus(ctx, *status)
	if err == nil && remove {
		err = p.removeObject(ctx)
	}
	if apierrors.IsNotFound(err) || errors.Is(err, errReplaced) {
		return true, nil
	}
	return false, err
}

func (p *publisher) writeStatus(ctx context.Context, status corev1.PodStatus) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	pods := p.kubelet.client.CoreV1().Pods(p.name.Namespace)
	for {
		pod, err := pods.Get(ctx, p.name.Name, metav1.GetOptions{})
		if err != nil {
			return fmt.Errorf("reading the pod: %w", err)
		}
		if pod.UID != p.uid {
			return errReplaced
		}
		updated := pod.DeepCopy()
		updated.Status = mergeStatus(pod.Status, status, metav1.Now())
		if apiequality.Semantic.DeepEqual(pod.Status, updated.Status) {
			return nil
		}
		_, err = pods.UpdateStatus(ctx, updated, metav1.UpdateOptions{})
		if !apierrors.IsConflict(err) {
			return err
		}
	}
}

// removeObject acknowledges a deletion the way a kubelet does: without grace, and
// for this pod only.
func (p *publisher) removeObject(ctx context.Context) error {
	cleanup := time.NewTimer(p.kubelet.options.Timings.Cleanup)
	defer cleanup.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-cleanup.C:
	}
	if p.kubelet.isSilent() {
		return errSilent
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	err := p.kubelet.client.CoreV1().Pods(p.name.Namespace).Delete(ctx, p.name.Name, metav1.DeleteOptions{
		GracePeriodSeconds: new(int64(0)),
		Preconditions:      &metav1.Preconditions{UID: &p.uid},
	})
	if apierrors.IsConflict(err) {
		return errReplaced
	}
	return err
}
