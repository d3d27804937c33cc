package chains

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kureka/kureka/test/rig/netns"
	"github.com/kureka/kureka/test/rig/stage"
)

// service puts the application behind a Service and waits until its slices name
// all pods.
func (c *chain) service(spec string, pods ...*stage.Pod) {
	c.t.Helper()
	manifest := fmt.Sprintf("apiVersion: v1\nkind: Service\nmetadata: {name: front, namespace: %s}\n"+
		"spec: {selector: {app: %s}, ports: [{port: 80, targetPort: 8080}]%s}\n", c.Namespace, c.app, spec)
	c.must(apply(c.t.Context(), c.Rig, manifest))
	c.until("the slices to name all pods", func() bool { return len(c.endpoints()) == len(pods) })
}

// endpoints are those of the Service's slices, by pod UID.
func (c *chain) endpoints() map[types.UID]discoveryv1.EndpointConditions {
	c.t.Helper()
	list, err := c.Rig.Client.DiscoveryV1().EndpointSlices(c.Namespace).List(c.t.Context(), metav1.ListOptions{})
	c.must(err)
	all := map[types.UID]discoveryv1.EndpointConditions{}
	for _, s := range list.Items {
		for _, e := range s.Endpoints {
			all[e.TargetRef.UID] = e.Conditions
		}
	}
	return all
}

// Slices are deleted and written again, and at last name nobody: that an endpoint
// is missing means nothing.
func TestSlicesRecycled(t *testing.T) {
	netns.Require(t) // slices refuse loopback addresses
	c := begin(t, plan{})
	pods := c.pods(0, 0, 1, 1)
	c.service("", pods...)
	slices := c.Rig.Client.DiscoveryV1().EndpointSlices(c.Namespace)
	for range 3 {
		c.Timeline.Mark("all slices are deleted; the controller writes new ones")
		c.must(slices.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}))
		c.until("the slices to name all pods again", func() bool { return len(c.endpoints()) == len(pods) })
	}
	c.Timeline.Mark("the Service selects other pods")
	selector := []byte(`{"spec":{"selector":{"app":"another"}}}`)
	_, err := c.Rig.Client.CoreV1().Services(c.Namespace).Patch(t.Context(), "front", types.MergePatchType, selector, metav1.PatchOptions{})
	c.must(err)
	c.until("the slices to name nobody", func() bool { return len(c.endpoints()) == 0 })
	c.pass(5 * time.Second)
	c.courses(up, pods...)
	c.untouched(pods...)
}

// The operator may not read pods. Slices then tell who is terminating, also where
// the Service publishes everybody as ready, and nothing else; a pod whose endpoint
// is recycled meanwhile stays out.
func TestSlicesWithoutPods(t *testing.T) {
	netns.Require(t)
	c := begin(t, plan{proxied: true, user: true})
	c.lease = time.Minute
	pods := c.pods(0, 0, 1, 1)
	c.service(", publishNotReadyAddresses: true", pods...)
	c.Timeline.Mark("the operator may not read pods any more")
	c.permit(withoutPods)
	c.must(c.proxy.Cut(t.Context())) // rights are asked when a watch begins
	c.until("the operator to notice", func() bool {
		v, err := c.Operator.View(t.Context())
		return err == nil && !v.PodsReadable
	})
	c.pass(3 * time.Second)
	c.courses(up, pods...)

	c.Timeline.Mark("a pod is unready, which its endpoint does not tell, and another is deleted")
	c.setReady(false, pods[1])
	deleted, err := pods[0].Delete(t.Context())
	c.must(err)
	c.await(out, pods[0])
	c.because("taken-out", "EndpointTerminating", pods[0])
	c.measured("pods unreadable, graceful delete, out of service", deleted, out, pods[0])
	c.must(pods[0].AwaitGone(t.Context()))
	c.until("its endpoint to be recycled", func() bool { return len(c.endpoints()) == len(pods)-1 })
	c.pass(3 * time.Second)
	c.courses("UP > OUT_OF_SERVICE", pods[0])
	c.courses(up, pods[1:]...)

	c.Timeline.Mark("the operator may read pods again")
	c.permit(withPods)
	c.await(stage.Gone, pods[0])
	c.because("removed", "PodGone", pods[0])
	c.courses(up, pods[1:]...)
}

// A headless Service publishes addresses of pods that are not ready. Where the
// namespace has asked for readiness to count, the pod's word counts, not the
// slice's.
func TestPublishNotReadyAddresses(t *testing.T) {
	netns.Require(t)
	c := begin(t, plan{})
	pods := c.pods(0, 0, 1, 1)
	c.policy(`{pods: {notReady: OutOfService}}`)
	c.service(", clusterIP: None, publishNotReadyAddresses: true", pods...)
	c.Timeline.Mark("%s is unready; its endpoint is published as ready", pods[0].Name)
	c.setReady(false, pods[0])
	c.await(out, pods[0])
	c.because("taken-out", "PodNotReady", pods[0])
	c.until("the pod to be unready for the API server, too", func() bool { return !c.podReady(pods[0]) })
	if ready := c.endpoints()[pods[0].UID].Ready; ready == nil || !*ready {
		t.Error("the endpoint is not published as ready, so this proves nothing")
	}
	c.courses(up, pods[1:]...)
	c.setReady(true, pods[0])
	c.await(up, pods[0])
	c.courses("UP > OUT_OF_SERVICE > UP", pods[0])
	c.untouched(pods[1:]...)
}

func (c *chain) podReady(p *stage.Pod) bool {
	c.t.Helper()
	pod, err := p.Get(c.t.Context())
	c.must(err)
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}
