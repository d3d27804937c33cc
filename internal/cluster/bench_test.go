package cluster

import (
	"net/netip"
	"strconv"
	"testing"
	"time"

	"github.com/kureka/kureka/internal/evidence"
	"github.com/kureka/kureka/internal/registry"
)

// crowd is a view of n pods, fifty on a node, each with an instance of one of a
// number of applications.
type crowd struct {
	c   *Cluster
	now time.Time
}

func newCrowd(n, apps int) *crowd {
	w := &crowd{now: time.Unix(1_700_000_000, 0)}
	w.c = New(registry.New(w.now, registry.Options{}), Options{AllNamespaces: true})
	w.c.SetPodsReadable(w.now, true)
	for i := range n {
		if i%50 == 0 {
			w.c.ObserveNode(w.now, w.node(i/50))
		}
		p := w.pod(i)
		w.c.ObservePod(w.now, p)
		w.c.Register(w.now, p.IPs[0], &registry.Record{
			App: "APP" + strconv.Itoa(i%apps), ID: p.Name, IPAddr: p.IPs[0].String(),
			Port: registry.Port{Number: 8080, Enabled: true},
		})
	}
	return w
}

func (w *crowd) node(i int) evidence.Node {
	cidr := netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(i >> 8), byte(i), 0}), 24)
	return evidence.Node{Name: "n" + strconv.Itoa(i), PodCIDRs: []netip.Prefix{cidr}}
}

func (w *crowd) pod(i int) evidence.Pod {
	name := strconv.Itoa(i)
	return evidence.Pod{
		UID: "u" + name, Namespace: "ns", Name: "p" + name, Node: "n" + strconv.Itoa(i/50), Phase: evidence.Running,
		IPs: []netip.Addr{netip.AddrFrom4([4]byte{172, byte(i >> 16), byte(i >> 8), byte(i)})}, Created: w.now, Ready: true,
	}
}

func BenchmarkPodDeletion(b *testing.B) {
	w := newCrowd(10_000, 1000)
	for i := 0; b.Loop(); i++ {
		p := w.pod(i % 10_000)
		p.Deleting = i/10_000%2 == 0
		w.c.ObservePod(w.now, p)
	}
}

func BenchmarkNodeNoticeInOneHugeApplication(b *testing.B) {
	w := newCrowd(10_000, 1)
	for i := 0; b.Loop(); i++ {
		n := w.node(i % 100) // half of the nodes
		if i/100%2 == 0 {
			n.Taints = []evidence.Taint{{Key: "aws-node-termination-handler/spot-itn"}}
		}
		w.c.ObserveNode(w.now, n)
	}
}

func BenchmarkHeartbeatUnderNoticeInOneHugeApplication(b *testing.B) {
	w := newCrowd(10_000, 1)
	for i := range 100 {
		n := w.node(i)
		n.Taints = []evidence.Taint{{Key: "aws-node-termination-handler/spot-itn"}}
		w.c.ObserveNode(w.now, n)
	}
	for b.Loop() {
		w.c.Renew(w.now, netip.Addr{}, registry.NewKey("APP0", "p3"), registry.Beat{})
	}
}

func BenchmarkPodsBecomeUnreadable(b *testing.B) {
	w := newCrowd(10_000, 100)
	for s := range 100 {
		list := make([]Endpoint, 0, 100)
		for i := range 100 {
			p := w.pod(100*s + i)
			list = append(list, Endpoint{UID: p.UID, IPs: p.IPs})
		}
		w.c.ObserveSlice(w.now, "ns/s"+strconv.Itoa(s), list)
	}
	for i := 0; b.Loop(); i++ {
		w.c.SetPodsReadable(w.now, i%2 == 1)
	}
}

func BenchmarkRegistrationFromOutside(b *testing.B) {
	w := newCrowd(50_000, 100)
	w.c.ObserveCanary(w.now, w.now)
	w.c.ObserveLease(w.now, "n1", w.now, 40*time.Second)
	w.c.Tick(w.now)
	src := netip.MustParseAddr("203.0.113.9")
	for i := 0; b.Loop(); i++ {
		w.c.Register(w.now, src, &registry.Record{App: "VM", ID: strconv.Itoa(i % 1000), IPAddr: src.String(), Dirty: int64(i)})
	}
}

// Thirty of two hundred nodes are silent, each with fifty pods that can be asked.
func BenchmarkTickWhileNodesAreSilent(b *testing.B) {
	w := newCrowd(10_000, 100)
	w.c.opts.Probing = true
	w.c.SetNodesReadable(true)
	renew := func(from int) {
		w.c.ObserveCanary(w.now, w.now)
		for i := from; i < 200; i++ {
			w.c.ObserveLease(w.now, "n"+strconv.Itoa(i), w.now, 40*time.Second)
		}
	}
	for i := range 10_000 {
		p := w.pod(i)
		p.Containers = []evidence.Container{{Name: "app", Ports: []uint16{8080}, ID: "c", Running: true}}
		w.c.ObservePod(w.now, p)
	}
	for i := range 200 {
		n := w.node(i)
		n.Addresses, n.KubeletPort = []netip.Addr{netip.AddrFrom4([4]byte{198, 51, byte(100 + i/250), byte(i)})}, 10250
		w.c.ObserveNode(w.now, n)
	}
	renew(0)
	for range 30 {
		w.now = w.now.Add(time.Second)
		renew(30)
		w.c.Tick(w.now)
	}
	for b.Loop() {
		w.now = w.now.Add(time.Second)
		renew(30)
		w.c.Tick(w.now)
		for _, p := range w.c.Probes(w.now) {
			w.c.Probed(w.now, evidence.Probed{Probe: p, Reach: evidence.Unanswered})
		}
	}
}
