package controllers

import (
	"context"
	"errors"
	"net/netip"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kureka/kureka/controllers/feed"
	"github.com/kureka/kureka/internal/cluster"
	"github.com/kureka/kureka/internal/evidence"
	"github.com/kureka/kureka/internal/registry"
)

// refusing answers every read with an error, or that there is nothing.
type refusing struct{ refuses atomic.Bool }

func (r *refusing) Pod(context.Context, string, string) (*corev1.Pod, error) { return nil, r.err() }
func (r *refusing) Node(context.Context, string) (*corev1.Node, error)       { return nil, r.err() }
func (r *refusing) PodPage(context.Context, string, string) (*corev1.PodList, error) {
	return nil, r.err()
}

func (r *refusing) err() error {
	if r.refuses.Load() {
		return errors.New("refused")
	}
	return apierrors.NewNotFound(schema.GroupResource{Resource: "pods"}, "a")
}

// Doubts go on to come while nothing can be read. What was doubted is read when it
// can be.
func TestConfirm_outlastsRefusalsAndNewDoubts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		c := cluster.New(registry.New(now, registry.Options{}), cluster.Options{AllNamespaces: true})
		c.ObservePod(now, evidence.Pod{UID: "u1", Namespace: "ns", Name: "a", IPs: []netip.Addr{netip.MustParseAddr("192.0.2.10")}, Created: now})
		f := feed.New(c, time.Now)
		live := &refusing{}
		live.refuses.Store(true)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			confirm(ctx, f, live, logr.Discard())
		}()
		for range 100 {
			f.PodListComplete("", nil)
			<-time.After(confirmBackoff)
			synctest.Wait()
		}
		live.refuses.Store(false)
		<-time.After(2 * maxBackoff)
		synctest.Wait()
		if known := c.KnownPods(); len(known) > 0 {
			t.Errorf("still there: %v", known)
		}
		cancel()
		<-done
	})
}
