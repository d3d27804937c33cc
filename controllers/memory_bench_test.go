package controllers

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	clientfeatures "k8s.io/client-go/features"
	clientfeaturestesting "k8s.io/client-go/features/testing"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kureka/kureka/internal/cluster"
	"github.com/kureka/kureka/internal/registry"
)

const (
	benchPods = 20_000
	// benchPodSize is what a pod with a service mesh, several volumes and managed
	// fields has.
	benchPodSize = 25 << 10
	// heapLimit is what the first list may take, everything else included.
	heapLimit = 150 << 20
)

// BenchmarkFirstListOfManyPods measures the heap while a real API server sends
// 20,000 pods of 25 KiB, streamed and in pages as older servers do.
func BenchmarkFirstListOfManyPods(b *testing.B) {
	cfg := rest.CopyConfig(plane.Config())
	cfg.QPS, cfg.ContentType, cfg.WarningHandler = -1, kruntime.ContentTypeProtobuf, rest.NoWarnings{}
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		b.Fatal(err)
	}
	createPods(b, client)
	for name, streamed := range map[string]bool{"streamed": true, "paged": false} {
		b.Run(name, func(b *testing.B) {
			clientfeaturestesting.SetFeatureDuringTest(b, clientfeatures.WatchListClient, streamed)
			var peak uint64
			for b.Loop() {
				peak = max(peak, listOnce(b, client))
			}
			b.ReportMetric(float64(peak)/(1<<20), "peak-heap-MiB")
			if peak > heapLimit {
				b.Errorf("the heap reached %d MiB, above %d", peak>>20, heapLimit>>20)
			}
		})
	}
}

// listOnce runs a watcher until it knows every pod and returns the largest heap.
func listOnce(b *testing.B, client kubernetes.Interface) uint64 {
	b.Helper()
	view := cluster.New(registry.New(time.Now(), registry.Options{}), cluster.Options{AllNamespaces: true})
	w := NewWatcher(Options{Client: client, Cluster: view, Canary: CanaryOptions{Namespace: "default", Name: "bench"}, Clock: time.Now, Logger: logr.Discard()})
	ctx, cancel := context.WithCancel(b.Context())
	runtime.GC()
	var wg sync.WaitGroup
	wg.Go(func() { w.Run(ctx, nil) })
	var peak uint64
	var m runtime.MemStats
	err := wait.PollUntilContextTimeout(ctx, 5*time.Millisecond, 3*time.Minute, true, func(context.Context) (bool, error) {
		runtime.ReadMemStats(&m)
		peak = max(peak, m.HeapAlloc)
		return view.View().Pods == benchPods, nil
	})
	if err != nil {
		b.Fatalf("only %d pods are known: %v", view.View().Pods, err)
	}
	cancel()
	wg.Wait()
	return peak
}

func createPods(b *testing.B, client kubernetes.Interface) {
	b.Helper()
	api := client.CoreV1().Pods(metav1.NamespaceDefault)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range 32 {
		wg.Go(func() {
			for i := next.Add(1); i <= benchPods; i = next.Add(1) {
				if _, err := api.Create(b.Context(), benchPod(int(i)), metav1.CreateOptions{}); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

func benchPod(i int) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name:        fmt.Sprintf("application-%d-7c9f8d6b5-%05d", i%400, i),
			Labels:      map[string]string{"app.kubernetes.io/name": fmt.Sprintf("application-%d", i%400), "pod-template-hash": "7c9f8d6b5"},
			Annotations: map[string]string{"kubectl.kubernetes.io/last-applied-configuration": strings.Repeat("x", benchPodSize/2)},
		},
		Spec: corev1.PodSpec{NodeName: fmt.Sprintf("node-%03d", i%500)},
	}
	for _, name := range []string{"app", "proxy", "logs"} {
		c := corev1.Container{Name: name, Image: "registry.example/team/" + name + ":1.2.3", Ports: []corev1.ContainerPort{{ContainerPort: 8080}}}
		for n := range 40 {
			c.Env = append(c.Env, corev1.EnvVar{Name: fmt.Sprintf("VARIABLE_%02d", n), Value: strings.Repeat("v", benchPodSize/2/120)})
		}
		p.Spec.Containers = append(p.Spec.Containers, c)
	}
	return p
}
