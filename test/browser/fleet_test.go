package browser

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"github.com/kureka/kureka/internal/evidence"
	"github.com/kureka/kureka/internal/registry"
	"github.com/kureka/kureka/internal/verdict"
)

const nodes = 40

// member is an instance with the pod it runs in; outside pods the UID is empty.
type member struct {
	key  registry.Key
	addr netip.Addr
	pod  evidence.Pod
}

// watched is the namespace whose policy only observes.
const watched = "media"

func namespaces() []string { return []string{"shop", "payments", "search", "platform", watched} }

func nodeName(n int) string { return fmt.Sprintf("node-%02d", n) }

func zoneName(n int) string { return "eu-west-1" + string("abc"[n%3]) }

// see renews what shows that the cluster is seen.
func (s *site) see(now time.Time) {
	s.cluster.ObserveCanary(now, now)
	for n := range nodes {
		s.cluster.ObserveLease(now, nodeName(n), now, 40*time.Second)
	}
}

func (s *site) renew(now time.Time) {
	for _, m := range s.fleet {
		s.cluster.Renew(now, m.addr, m.key, registry.Beat{})
	}
}

// populate registers so many instances of services with names as people give them.
func (s *site) populate(t *testing.T, count int) {
	t.Helper()
	now := time.Now()
	observe := verdict.DefaultPolicy()
	observe.Observe = true
	s.cluster.SetPolicies(now, verdict.DefaultPolicy(), map[string]verdict.Policy{watched: observe})
	s.cluster.SetPodsReadable(now, true)
	s.cluster.SetNodesReadable(true)
	for n := range nodes {
		s.cluster.ObserveNode(now, evidence.Node{Name: nodeName(n), Zone: zoneName(n)})
	}
	s.see(now)
	s.cluster.Tick(now)
	random := rand.New(rand.NewPCG(1, 2))
	fleet := make([]member, 0, count)
	for n := range count {
		fleet = append(fleet, s.join(now, n, random))
	}
	s.cluster.Tick(now.Add(time.Second))
	s.fleet = fleet
	s.renew(now.Add(time.Second))
	s.read(now)
	if got := s.engine.Snapshot().Len(); got != count {
		t.Fatalf("%d of %d instances are listed", got, count)
	}
}

// join registers the n-th instance, one in fifty outside pods.
func (s *site) join(now time.Time, n int, random *rand.Rand) member {
	services := []string{
		"orders", "payments", "catalog", "inventory", "gateway", "search", "billing", "users", "mail", "images", "carts", "pricing", "shipping", "returns", "reviews", "audit",
	}
	parts := []string{"", "-api", "-worker", "-batch", "-cache", "-feed", "-sync", "-edge"}
	spread := random.Float64()
	k := int(float64(len(services)*len(parts)) * spread * spread)
	service := services[k%len(services)] + parts[k/len(services)]
	node := random.IntN(nodes)
	m := member{addr: netip.AddrFrom4([4]byte{10, 64 + byte(n>>16), byte(n >> 8), byte(n)})}
	name := fmt.Sprintf("%s-7c9d6b5f4-%05x", service, n*40503&(1<<20-1))
	if n%50 != 7 {
		m.pod = evidence.Pod{
			UID: fmt.Sprintf("3f1c2a00-0000-4000-8000-%012d", n), Namespace: namespaces()[k%len(namespaces())], Name: name, Node: nodeName(node),
			IPs: []netip.Addr{m.addr}, Phase: evidence.Running, Ready: true, ContainersReady: true, Created: now.Add(-time.Hour),
		}
		s.cluster.ObservePod(now, m.pod)
	}
	rec := record(service, name+":8080", m.addr)
	rec.Metadata = []registry.Pair{{Key: "zone", Value: zoneName(node)}, {Key: "version", Value: fmt.Sprintf("2.%d.%d", random.IntN(9), random.IntN(20))}}
	switch {
	case n%119 == 5:
		rec.Status = registry.Starting
	case n%131 == 9:
		rec.Status = registry.Down
	}
	m.key = rec.Key()
	s.cluster.Register(now, m.addr, rec)
	return m
}

func record(app, id string, addr netip.Addr) *registry.Record {
	page := "http://" + addr.String() + ":8080"
	return &registry.Record{
		App: registry.NewKey(app, id).App, ID: id, HostName: addr.String(), IPAddr: addr.String(), VIP: app, Status: registry.Up,
		Port: registry.Port{Number: 8080, Enabled: true}, SecurePort: registry.Port{Number: 443}, DataCenter: registry.DataCenter{Name: "MyOwn"},
		HomePageURL: page + "/", StatusPageURL: page + "/actuator/info", HealthCheckURL: page + "/actuator/health",
	}
}

// read plays some clients that fetch the registry.
func (s *site) read(now time.Time) {
	version := s.engine.Snapshot().Version
	for k := range 12 {
		for round := range 4 {
			at := now.Add(time.Duration(round-3) * 30 * time.Second)
			s.readers.Fetched(at, s.fleet[(k*13+1)%len(s.fleet)].addr, "Java-EurekaClient/v2.0.4", version)
		}
	}
}

// hurt plays what happens to a cluster on an ordinary day: a spot notice, a rollout,
// an operator's override, and the death of a pod.
func (s *site) hurt() (dead member) {
	now := time.Now()
	s.cluster.ObserveNode(now, evidence.Node{Name: nodeName(7), Zone: zoneName(7), Taints: []evidence.Taint{{Key: "aws-node-termination-handler/spot-itn", Effect: "NoSchedule"}}})
	rolled := 0
	for n, m := range s.fleet {
		switch {
		case m.pod.UID == "":
			if n%5 == 2 {
				s.cluster.SetOverride(now, m.addr, m.key, registry.OutOfService)
			}
		case m.key.App == "ORDERS-API" && rolled < 14:
			m.pod.Deleting = true
			s.cluster.ObservePod(now, m.pod)
			rolled++
		case dead.pod.UID == "" && m.key.App == "PAYMENTS" && m.pod.Namespace != watched:
			dead = m
		}
	}
	s.cluster.PodGone(now, dead.pod.UID)
	return dead
}
