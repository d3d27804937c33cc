package controllers

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// A reflector's store may be handed anything; what it cannot read is no sight of
// a removal, and never a panic.
func TestStoreBearsTombstonesAndForeignObjects(t *testing.T) {
	var seen, gone, listed int
	s := &store[corev1.Pod]{
		sink: sink[corev1.Pod]{
			seen: func(*corev1.Pod) { seen++ }, gone: func(*corev1.Pod) { gone++ },
			listed: func(pods []*corev1.Pod) { listed += len(pods) },
		},
		synced: func() {},
	}
	pod := &corev1.Pod{}
	var none *corev1.Pod
	strange := []any{
		nil, none, 7, &corev1.Node{},
		cache.DeletedFinalStateUnknown{Key: "ns/a", Obj: pod},
		cache.DeletedFinalStateUnknown{Key: "ns/a"},
		cache.DeletedFinalStateUnknown{Key: "ns/a", Obj: 7},
	}
	for _, obj := range strange {
		for _, call := range []func(any) error{s.Add, s.Update, s.Delete} {
			if err := call(obj); err != nil {
				t.Errorf("%T: %v", obj, err)
			}
		}
	}
	if err := s.Replace(slices.Concat(strange, []any{pod}), "1"); err != nil {
		t.Error(err)
	}
	if seen != 0 || gone != 0 || listed != 1 {
		t.Errorf("seen %d, gone %d, listed %d", seen, gone, listed)
	}
	if err := s.Delete(pod); err != nil || gone != 1 {
		t.Errorf("gone %d, %v", gone, err)
	}
}
