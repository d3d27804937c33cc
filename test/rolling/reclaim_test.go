package rolling

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// notice is how long a cloud lets a spot node live after it has said that it takes
// it back.
const notice = 30 * time.Second

// A spot node is taken back: its notice becomes a taint, as the termination handler
// of a cloud makes one, and thirty seconds later the machine is off. Handlers may
// drain the node in between.
func TestReclaim(t *testing.T) {
	for _, drained := range []bool{false, true} {
		scene := "spot node reclaimed"
		if drained {
			scene += ", drained"
		}
		t.Run(map[bool]string{false: "noticed", true: "drained"}[drained], func(t *testing.T) {
			eachVariant(t, func(w *world) {
				stop := w.observe()
				w.pass(before)
				began := time.Now()
				w.reclaim(drained)
				took := time.Since(began)
				w.settle()
				// Without a drain the notice alone is what Kureka acts on.
				w.judge(scene, took, stop(), w.variant.lossless || !drained && !w.variant.eureka)
			})
		})
	}
}

// reclaim takes a node back and returns when it is off.
func (w *world) reclaim(drained bool) {
	w.Helper()
	node := w.workers[0]
	w.Timeline.Add("scene", "%s is to go", node.Name)
	w.must(node.AddTaint(w.Context(), corev1.Taint{Key: "aws-node-termination-handler/spot-itn", Value: "true", Effect: corev1.TaintEffectNoSchedule}))
	if drained {
		w.must(w.deletePods(w.Context(), node.Name))
	}
	w.pass(notice)
	w.Timeline.Add("scene", "%s loses power", node.Name)
	node.PowerOff()
}

// deletePods deletes the application's pods on a node, as a drain does.
func (w *world) deletePods(ctx context.Context, node string) error {
	pods, err := w.pods(ctx)
	if err != nil {
		return err
	}
	for i := range pods {
		if pods[i].Spec.NodeName != node {
			continue
		}
		if err := w.Rig.Client.CoreV1().Pods(w.Namespace).Delete(ctx, pods[i].Name, metav1.DeleteOptions{}); err != nil {
			return err
		}
	}
	return nil
}
