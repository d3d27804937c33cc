package controllers

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
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

func TestAListIsReadInPagesAndHandedOnAsItComes(t *testing.T) {
	pages := [][]string{{"a", "b"}, {"c"}, {"d", "e"}}
	var asked []metav1.ListOptions
	var handed []string
	s := source[corev1.Pod]{
		resource: "pods",
		list: func(_ context.Context, o metav1.ListOptions) (runtime.Object, error) {
			asked = append(asked, o)
			list := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "7"}}
			for _, name := range pages[len(asked)-1] {
				list.Items = append(list.Items, corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"large": "yes"}}})
			}
			if len(asked) < len(pages) {
				list.Continue = fmt.Sprint("page ", len(asked))
			}
			return list, nil
		},
		sink: sink[corev1.Pod]{listing: func(p *corev1.Pod) {
			handed = append(handed, p.Name)
			p.Labels = nil
		}},
	}
	got, err := s.listAll(t.Context())
	want := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "7"}}
	for _, name := range slices.Concat(pages...) {
		want.Items = append(want.Items, corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	if d := cmp.Diff(runtime.Object(want), got); err != nil || d != "" {
		t.Errorf("%v (-want +got)\n%s", err, d)
	}
	if !slices.Equal(handed, slices.Concat(pages...)) {
		t.Errorf("handed on %v", handed)
	}
	questions := []metav1.ListOptions{{Limit: pageSize}, {Limit: pageSize, Continue: "page 1"}, {Limit: pageSize, Continue: "page 2"}}
	if d := cmp.Diff(questions, asked); d != "" {
		t.Errorf("asked (-want +got)\n%s", d)
	}
}

// Half a list must never pass for a whole one.
func TestAListThatBreaksOffIsAnError(t *testing.T) {
	calls := 0
	s := source[corev1.Pod]{
		resource: "pods",
		list: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
			if calls++; calls > 1 {
				return nil, apierrors.NewResourceExpired("the list is too old")
			}
			return &corev1.PodList{ListMeta: metav1.ListMeta{Continue: "more"}, Items: make([]corev1.Pod, 2)}, nil
		},
	}
	if list, err := s.listAll(t.Context()); !apierrors.IsResourceExpired(err) || list != nil {
		t.Errorf("got %v, %v", list, err)
	}
}
