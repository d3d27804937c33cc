package chains

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"

	"github.com/kureka/kureka/test/rig/faultproxy"
	"github.com/kureka/kureka/test/rig/gateway"
	"github.com/kureka/kureka/test/rig/stage"
)

// The clocks of all nodes, and that of whoever writes the operator's own Lease, step
// by an hour, ahead and then back.
func TestClockStep(t *testing.T) {
	c := begin(t, plan{nodes: 3, proxied: true})
	pods := c.pods(0, 0, 1, 1, 2, 2)
	c.fresh(true)
	for _, step := range []time.Duration{time.Hour, -time.Hour} {
		c.Timeline.Mark("all clocks but the operator's step by %s", step)
		for _, n := range c.Nodes {
			n.StepClock(step)
		}
		stop := c.Every(t.Context(), time.Second, func(ctx context.Context) { c.writeCanary(ctx, step) })
		c.pass(stale)
		stop()
		c.courses(up, pods...)
		c.fresh(true)
	}
	c.untouched(pods...)
	c.Timeline.Mark("with clocks an hour late, a node loses power")
	c.Nodes[0].PowerOff()
	c.await(out, pods[:2]...)
	c.because("taken-out", "NodeSilent", pods[:2]...)
	c.courses(up, pods[2:]...)
}

// writeCanary writes the operator's own Lease with a time of another clock, as a
// second process would. Conflicts with the operator are part of it.
func (c *chain) writeCanary(ctx context.Context, ahead time.Duration) {
	leases := c.Rig.Client.CoordinationV1().Leases(stage.SystemNamespace)
	_ = retry.RetryOnConflict(retry.DefaultRetry, func() error {
		lease, err := leases.Get(ctx, nameOf(c.t), metav1.GetOptions{})
		if err != nil {
			return err
		}
		lease.Spec.RenewTime = new(metav1.NewMicroTime(time.Now().Add(ahead)))
		_, err = leases.Update(ctx, lease, metav1.UpdateOptions{})
		return err
	})
}

// The operator is stopped for far longer than the clients' leases and goes on. What
// it did not hear says nothing; who died meanwhile goes.
func TestOperatorPaused(t *testing.T) {
	c := begin(t, plan{proxied: true})
	pods := c.pods(0, 0, 1, 1)
	c.Timeline.Mark("the operator is paused")
	c.Operator.Pause()
	c.pass(25 * time.Second)
	c.crash(pods[0])
	resumed := time.Now()
	c.Timeline.Mark("the operator goes on")
	c.Operator.Resume()
	c.await(stage.Gone, pods[0])
	c.because("removed", "PodGone", pods[0])
	c.measured("operator paused for 25 s, dead instance gone", resumed, stage.Gone, pods[0])
	c.pass(20 * time.Second)
	c.courses(up, pods[1:]...)
	c.untouched(pods[1:]...)
}

// No client reaches the registry for far longer than a lease, and clients back off
// as the stock ones do, so that they come back late, one after the other. Readers
// are served throughout.
func TestClientsBackOff(t *testing.T) {
	c := begin(t, plan{proxied: true, args: []string{"--trusted-proxies", "10.99.0.0/24,127.99.0.0/24"}})
	front, err := c.Rig.Proxy(t.Context(), &rest.Config{Host: c.Operator.Base()})
	c.must(err)
	config := c.client()
	config.Registry, config.MaxBackoff = front.Config().Host+"/eureka", 16*time.Second
	pods := make([]*stage.Pod, 0, 6)
	for i := range 6 {
		p, err := c.Create(t.Context(), stage.PodSpec{Name: podName(c.app, i), Node: i % 2, Instance: config})
		c.must(err)
		pods = append(pods, p)
	}
	c.ready(pods...)
	var unserved atomic.Int64
	c.StartView(t.Context(), c.app, func(r gateway.Response) {
		if r.Code != http.StatusOK {
			unserved.Add(1)
		}
	}).Mute()
	c.Timeline.Mark("no client reaches the registry")
	c.must(front.Set(t.Context(), faultproxy.Refuse))
	c.until("self-preservation to hold the leases", func() bool {
		engaged, err := c.Operator.Engaged(t.Context(), c.Namespace)
		return err == nil && engaged
	})
	c.pass(30 * time.Second)
	c.Timeline.Mark("clients reach it again, each when it next tries")
	back := time.Now()
	c.must(front.Set(t.Context(), faultproxy.Pass))
	for _, p := range pods {
		c.until("all to be heard", func() bool { return accepted(p, "Renewed", back) > 0 })
	}
	c.t.Logf("measured: clients backing off up to 16 s, all heard again: %s", time.Since(back).Round(10*time.Millisecond))
	c.pass(5 * time.Second)
	c.courses(up, pods...)
	c.untouched(pods...)
	if n := unserved.Load(); n > 0 {
		t.Errorf("%d readers were not served", n)
	}
}
