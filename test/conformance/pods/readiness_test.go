package pods

import (
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kureka/kureka/test/rig/stage"
)

const (
	// aggregated is the page of all health, the status in the registry included.
	aggregated = "/actuator/health"
	// readiness is the page of a group without it.
	readiness = "/actuator/health/readiness"
	// outage is how long a dependency is away: several of the application's
	// heartbeats and fetches, as a minute is with the usual intervals.
	outage = 6 * time.Second
)

// The probe asks for a health that has the status in the registry as a part, as
// Spring's does by default.
func TestAnOutageOfADependencyEndsByItselfUnderTheDefaultPolicy(t *testing.T) {
	w := newWorld(t)
	silent := w.start("silent", "orders-silent", aggregated)
	telling := w.start("telling", "orders-telling", aggregated, corev1.EnvVar{Name: "HEALTHCHECK", Value: "true"})
	for _, p := range []*pod{silent, telling} {
		p.awaits(true, "UP")
	}
	views := map[*pod]*stage.View{
		silent:  w.stage.StartView(t.Context(), silent.app, nil),
		telling: w.stage.StartView(t.Context(), telling.app, nil),
	}
	showUp := func() {
		for p, view := range views {
			if _, err := view.AwaitStatus(t.Context(), "UP", p.id()); err != nil {
				t.Fatal(err)
			}
		}
	}
	showUp()

	silent.stock.down.Store(true)
	telling.stock.down.Store(true)
	silent.awaits(false, "UP")
	telling.awaits(false, "DOWN")
	if err := stage.Pass(t.Context(), outage); err != nil {
		t.Fatal(err)
	}
	silent.stock.down.Store(false)
	telling.stock.down.Store(false)
	for _, p := range []*pod{silent, telling} {
		p.awaits(true, "UP")
	}
	showUp()
	if got := views[silent].Course(silent.id()); got != "UP" {
		t.Errorf("an application that does not tell its health was listed as %q", got)
	}
	if got := views[telling].Course(telling.id()); got != "UP > DOWN > UP" {
		t.Errorf("an application that tells its health was listed as %q", got)
	}
}

const notReadyOutOfService = `
apiVersion: kureka.dev/v1alpha1
kind: RegistryPolicy
metadata:
  name: default
spec:
  pods:
    notReady: OutOfService
`

func TestAProbeThatAsksForTheStatusInTheRegistryLatchesUnderOutOfService(t *testing.T) {
	w := newWorld(t)
	const app = "orders-strict"
	asking, other, grouped := w.start("asking", app, aggregated), w.start("other", app, aggregated), w.start("grouped", app, readiness)
	for _, p := range []*pod{asking, other, grouped} {
		p.awaits(true, "UP")
	}
	// Not before: a pod that starts is not ready either, so it may latch at once.
	w.apply(notReadyOutOfService)

	asking.stock.down.Store(true)
	grouped.stock.down.Store(true)
	asking.awaits(false, "OUT_OF_SERVICE")
	grouped.awaits(false, "OUT_OF_SERVICE")
	// An outage that is over before the client reads that it is out of service ends
	// by itself.
	asking.awaitsHealth("OUT_OF_SERVICE", "discoveryComposite", "eureka")
	asking.stock.down.Store(false)
	grouped.stock.down.Store(false)

	grouped.awaits(true, "UP")
	asking.awaitsHealth("UP", "stock")
	if err := stage.Pass(t.Context(), outage); err != nil {
		t.Fatal(err)
	}
	asking.awaits(false, "OUT_OF_SERVICE")
	if got := asking.health("discoveryComposite", "eureka"); got != "OUT_OF_SERVICE" {
		t.Errorf("the part of its health that is its status in the registry is %q", got)
	}
	other.awaits(true, "UP")

	w.apply(strings.Replace(notReadyOutOfService, "OutOfService", "Ignore", 1))
	asking.awaits(true, "UP")
}

// A liveness probe fails: the kubelet runs the preStop hook, which takes the
// instance out of service, and the process dies before it could deregister.
func TestAContainerThatRestartsAfterItsPreStopHookIsUpAgain(t *testing.T) {
	w := newWorld(t)
	p := w.start("hooked", "orders-hooked", aggregated)
	p.awaits(true, "UP")
	before := p.object().Status.ContainerStatuses[0].ContainerID

	body := strings.NewReader(`{"status":"OUT_OF_SERVICE"}`)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.page("/actuator/serviceregistry"), body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := web.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	p.awaits(false, "OUT_OF_SERVICE")

	name := types.NamespacedName{Namespace: w.stage.Namespace, Name: p.name}
	if err := w.stage.Nodes[0].CrashContainer(name, "app"); err != nil {
		t.Fatal(err)
	}
	w.eventually("the container to be another", func() (bool, string) {
		now := p.object().Status.ContainerStatuses[0].ContainerID
		return now != before, now
	})
	p.awaits(true, "UP")
}
