package rolling

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kureka/kureka/test/rig/stage"
)

// notice is how long a cloud lets a spot node live after it has said that it takes
// it back. Lists as old as those of the stock timing outlive it.
const notice = 30 * time.Second

// A spot node is taken back: its notice becomes a taint, as the termination handler
// of a cloud makes one, and thirty seconds later the machine is off. The handler of
// the second node drains it in between.
func TestReclaim(t *testing.T) {
	eachVariant(t, []timing{tuned()}, func(w *world) {
		// The notice alone is what Kureka acts on; a drain makes the processes end with it.
		w.playReclaim("spot node reclaimed", w.workers[0], false, !w.variant.eureka)
		w.playReclaim("spot node reclaimed, drained", w.workers[1], true, w.variant.lossless)
	})
}

// playReclaim takes a node back. The scene lasts until nobody calls its pods any more.
func (w *world) playReclaim(scene string, node *stage.Node, drained, lossless bool) {
	w.Helper()
	stop := w.observe()
	w.pass(before)
	began := time.Now()
	lost := w.reclaim(node, drained)
	w.awaitForgotten(lost)
	took := time.Since(began)
	w.pass(w.timing.cache + 5*time.Second)
	w.judge(scene, took, stop(), lossless)
}

// reclaim takes a node back and returns the names of its pods when it is off.
func (w *world) reclaim(node *stage.Node, drained bool) (lost []string) {
	w.Helper()
	w.Timeline.Add("scene", "%s is to go", node.Name)
	w.must(node.AddTaint(w.Context(), corev1.Taint{Key: "aws-node-termination-handler/spot-itn", Value: "true", Effect: corev1.TaintEffectNoSchedule}))
	pods, err := w.pods(w.Context())
	w.must(err)
	for i := range pods {
		if pods[i].Spec.NodeName != node.Name {
			continue
		}
		lost = append(lost, pods[i].Name)
		if drained {
			w.must(w.Rig.Client.CoreV1().Pods(w.Namespace).Delete(w.Context(), pods[i].Name, metav1.DeleteOptions{}))
		}
	}
	w.pass(notice)
	w.Timeline.Add("scene", "%s loses power", node.Name)
	node.PowerOff()
	return lost
}

// awaitForgotten waits until the gateway's client knows none of some pods.
func (w *world) awaitForgotten(pods []string) {
	w.Helper()
	w.eventually("the gateway to forget the lost pods", func(ctx context.Context) (bool, error) {
		ids, err := w.gateway.knows(ctx)
		return err == nil && !slices.ContainsFunc(ids, func(id string) bool {
			name, _, _ := strings.Cut(id, ":")
			return slices.Contains(pods, name)
		}), err
	})
	w.Timeline.Add("scene", "the gateway has forgotten %d pods", len(pods))
}
