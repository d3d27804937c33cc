package controllers

import (
	"context"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kureka/kureka/controllers/feed"
)

const (
	confirmTimeout = 10 * time.Second // for one call
	confirmBackoff = time.Second
)

// confirm has what is doubted read live until the context ends. Any error is tried
// again.
func confirm(ctx context.Context, f *feed.Feed, live feed.Reader, log logr.Logger) {
	backoff := confirmBackoff
	again := make(chan struct{}, 1)
	for {
		select {
		case <-ctx.Done():
			return
		case <-f.Doubted():
		case <-again:
		}
		err := f.Confirm(ctx, live)
		if err == nil {
			backoff = confirmBackoff
			continue
		}
		log.V(1).Info("Keeping what could not be confirmed to be gone", "cause", err.Error())
		select {
		case <-ctx.Done():
			return
		case <-time.After(backoff):
		}
		backoff = min(2*backoff, maxBackoff)
		select {
		case again <- struct{}{}:
		default: // it was a doubt that woke us, and this is still to come
		}
	}
}

// liveReader reads past every cache: no resource version is asked for, so lists
// are consistent and cannot be from the past.
type liveReader struct{ client kubernetes.Interface }

// Pod implements feed.Reader.
func (r liveReader) Pod(ctx context.Context, namespace, name string) (*corev1.Pod, error) {
	ctx, cancel := context.WithTimeout(ctx, confirmTimeout)
	defer cancel()
	return r.client.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
}

// PodPage implements feed.Reader.
func (r liveReader) PodPage(ctx context.Context, namespace, token string) (*corev1.PodList, error) {
	ctx, cancel := context.WithTimeout(ctx, confirmTimeout)
	defer cancel()
	return r.client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{Limit: pageSize, Continue: token})
}

// Node implements feed.Reader.
func (r liveReader) Node(ctx context.Context, name string) (*corev1.Node, error) {
	ctx, cancel := context.WithTimeout(ctx, confirmTimeout)
	defer cancel()
	return r.client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
}
