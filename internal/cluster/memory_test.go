package cluster

import (
	"fmt"
	"net/netip"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/kureka/kureka/internal/evidence"
	"github.com/kureka/kureka/internal/registry"
)

// BenchmarkMemoryOfPods tells what a pod costs: known only, with labels, and listed
// without a client.
func BenchmarkMemoryOfPods(b *testing.B) {
	const pods = 20_000
	for name, labels := range map[string]func(i int) map[string]string{
		"without-labels": func(int) map[string]string { return nil },
		"labels-of-workloads": func(i int) map[string]string {
			return map[string]string{
				"app.kubernetes.io/name": fmt.Sprintf("service-%d", i/20), "app.kubernetes.io/instance": fmt.Sprintf("release-%d", i/20),
				"app.kubernetes.io/version": "1.2.3", "app.kubernetes.io/managed-by": "Helm", "pod-template-hash": fmt.Sprintf("%08x", i/20), "team": "shop",
			}
		},
		"listed": func(i int) map[string]string {
			return map[string]string{"kept": "yes", "app.kubernetes.io/name": fmt.Sprintf("service-%d", i/20), "pod-template-hash": fmt.Sprintf("%08x", i/20)}
		},
	} {
		b.Run(name, func(b *testing.B) {
			now := time.Unix(1_700_000_000, 0)
			for range b.N {
				before := heap()
				c := New(registry.New(now, registry.Options{}), Options{})
				c.SetOffers(now, []Offer{{
					Namespace: "ns", Name: "all", Selects: func(l evidence.Labels) bool { return l.Has("kept") },
					Listing: Listing{App: "ALL", Port: PortRef{Number: 8080}},
				}})
				for i := range pods {
					id := strconv.Itoa(i)
					c.ObservePod(now, evidence.Pod{
						UID: "00000000-0000-0000-0000-0000000" + id, Namespace: "ns", Name: "service-5d4f8c7b9-" + id, Node: "node-" + strconv.Itoa(i/100),
						Owner: "00000000-0000-0000-0000-1000000" + strconv.Itoa(i/20), Labels: evidence.NewLabels(labels(i)),
						IPs: []netip.Addr{netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)})}, Phase: evidence.Running, Ready: true, Created: now,
						Containers: []evidence.Container{{Name: "app", Ports: []uint16{8080}, PortNames: []string{"http"}, ID: "containerd://" + id, Running: true}},
					})
				}
				b.ReportMetric(float64(heap()-before)/pods, "B/pod")
				runtime.KeepAlive(c)
			}
		})
	}
}

// heap returns the bytes in use after a collection.
func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
