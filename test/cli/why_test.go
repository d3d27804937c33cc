package cli

import (
	"context"
	"fmt"
	"net/http"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kureka/kureka/test/rig/instance"
	"github.com/kureka/kureka/test/rig/netns"
	"github.com/kureka/kureka/test/rig/stage"
)

func TestWhy_forceDeleted(t *testing.T) {
	s := begin(t, 2, 4, instance.Config{App: "orders"})
	s.KeepOrphans(true) // their processes live on, and want back
	_, err := stage.Die(t.Context(), s.pods[:1])
	s.must(err)
	_, err = s.pods[1].ForceDelete(t.Context())
	s.must(err)
	for _, p := range s.pods[:2] {
		s.why(s.app, p.ID, "is not registered: it was removed at", "because its pod "+s.Namespace+"/"+p.Name+" is gone", "fenced", "Nothing: a new pod registers by itself")
	}
	s.why(s.app, s.pods[2].ID, "is UP", "nothing is against it")
}

func TestWhy_deletedGracefully(t *testing.T) {
	s := begin(t, 1, 3, instance.Config{App: "billing", OnTerm: instance.Vanish, Linger: 10 * time.Second})
	_, err := s.pods[0].Delete(t.Context())
	s.must(err)
	s.await(out, s.pods[0])
	s.why(s.app, s.pods[0].ID, "is OUT_OF_SERVICE since", "its pod "+s.Namespace+"/"+s.pods[0].Name+" is being deleted", "It leaves the registry when the pod is gone", "Nothing, if this is a rollout")
}

func TestWhy_clientCancels(t *testing.T) {
	s := begin(t, 1, 2, instance.Config{App: "invoices", OnTerm: instance.Cancel, Linger: 10 * time.Second})
	_, err := s.pods[0].Delete(t.Context())
	s.must(err)
	s.why(s.app, s.pods[0].ID, "is not registered: it was cancelled at", "while its pod "+s.Namespace+"/"+s.pods[0].Name+" is being deleted")
}

func TestWhy_spotNotice(t *testing.T) {
	s := begin(t, 2, 4, instance.Config{App: "search"})
	taint := corev1.Taint{Key: "aws-node-termination-handler/spot-itn", Value: "notice", Effect: corev1.TaintEffectNoSchedule}
	s.must(s.Nodes[1].AddTaint(t.Context(), taint))
	s.why(s.app, s.pods[0].ID, "is OUT_OF_SERVICE since", "its node "+s.Nodes[1].Name+" gets a spot interruption", "If the notice is called off", "its controller starts another pod elsewhere")
}

func TestWhy_heldByTheFloor(t *testing.T) {
	s := begin(t, 1, 2, instance.Config{App: "stock"})
	taint := corev1.Taint{Key: "ToBeDeletedByClusterAutoscaler", Value: "1", Effect: corev1.TaintEffectNoSchedule}
	s.must(s.Nodes[0].AddTaint(t.Context(), taint))
	held := s.pods[0]
	s.must(stage.Until(t.Context(), "one of them to be out of service", func(ctx context.Context) (bool, error) {
		switch {
		case s.view.Course(s.pods[0].ID) == "UP > OUT_OF_SERVICE":
			held = s.pods[1]
			return true, nil
		case s.view.Course(s.pods[1].ID) == "UP > OUT_OF_SERVICE":
			return true, nil
		}
		return false, ctx.Err()
	}))
	s.why(s.app, held.ID, "is UP although the cluster autoscaler removes its node", "The floor: 1 of 2", "leave at least 1", "Start more instances")
}

func TestWhy_crashed(t *testing.T) {
	s := begin(t, 1, 3, instance.Config{App: "mail"})
	s.view.Mute()
	s.pods[0].Kill()
	s.why(s.app, s.pods[0].ID, "is OUT_OF_SERVICE since", "container", "It is back in service once the new process has been heard")
	s.await(up, s.pods[0])
	s.why(s.app, s.pods[0].ID, "is UP", "put back", "Recovered")
}

func TestWhy_addressReused(t *testing.T) {
	s := begin(t, 1, 2, instance.Config{App: "parcels"})
	victim := s.pods[0]
	address := victim.Process().Config.Address.Addr().String()
	_, err := stage.Die(t.Context(), s.pods[:1])
	s.must(err)
	heir, err := s.Create(t.Context(), stage.PodSpec{Name: "reports-1", Instance: instance.Config{App: "reports", RenewalInterval: 2 * time.Second}, Address: address})
	s.must(err)
	s.why("REPORTS", heir.ID, "is UP", "nothing is against it", s.Namespace+"/reports-1")
	s.why(s.app, victim.ID, "is not registered", "is gone")
}

func TestWhy_hostNetwork(t *testing.T) {
	s := begin(t, 1, 1, instance.Config{App: "edge"})
	for i, port := range []uint16{9001, 9002} {
		_, err := s.Create(t.Context(), stage.PodSpec{Name: fmt.Sprintf("agent-%d", i), Port: port, HostNetwork: true, Instance: instance.Config{App: "agents", OnTerm: instance.Vanish}})
		s.must(err)
	}
	first, second := s.Nodes[0].Name+":agents:9001", s.Nodes[0].Name+":agents:9002"
	s.why("AGENTS", first, "is UP")
	s.why("AGENTS", second, "is UP")
	p, err := s.Find(t.Context(), "agent-0", "agents")
	s.must(err)
	_, err = p.ForceDelete(t.Context())
	s.must(err)
	s.why("AGENTS", first, "is not registered", "is gone")
	s.why("AGENTS", second, "is UP", "nothing is against it")
}

func TestWhy_silentNode(t *testing.T) {
	netns.Require(t) // elsewhere a machine without power refuses connections
	s := begin(t, 3, 6, instance.Config{App: "maps", RenewalInterval: 2 * time.Second})
	s.Nodes[1].PowerOff()
	s.why(s.app, s.pods[0].ID, "is OUT_OF_SERVICE since", "its node "+s.Nodes[1].Name+" is silent", "confirms it", "Look at the machine")
}

func TestWhy_override(t *testing.T) {
	s := begin(t, 1, 2, instance.Config{App: "tax"})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, s.Operator.URL()+"/apps/TAX/"+s.pods[0].ID+"/status?value=OUT_OF_SERVICE", http.NoBody)
	s.must(err)
	resp, err := http.DefaultClient.Do(req)
	s.must(err)
	s.must(resp.Body.Close())
	s.why(s.app, s.pods[0].ID, "is OUT_OF_SERVICE", "an override says so", "To clear it")
}

func TestWhy_heldBySelfPreservation(t *testing.T) {
	s := begin(t, 1, 1, instance.Config{App: "loose"})
	var last string
	for i := range 4 {
		p, err := s.StartLoose(10+i, instance.Config{App: "virtual", HostName: fmt.Sprintf("vm-%d", i), RenewalInterval: time.Second, LeaseDuration: 3 * time.Second})
		s.must(err)
		last = p.Config.ID()
		s.why("VIRTUAL", last, "is UP", "no pod has its address", "Only its lease decides")
		if i > 0 {
			p.Signal(syscall.SIGSTOP)
		}
	}
	s.why("VIRTUAL", last, "is UP although its last heartbeat is", "self-preservation holds it", "Self-preservation of (outside pods)")
}

func TestWhy_unknown(t *testing.T) {
	s := begin(t, 1, 2, instance.Config{App: "known"})
	s.why(s.app, "mistaken", "is not registered, and nothing is remembered of it", "Perhaps one of these was meant: "+s.pods[0].ID+", "+s.pods[1].ID)
	s.why(s.app, s.pods[1].Name, "Perhaps one of these was meant: "+s.pods[1].ID+"\n")
	s.why("NOBODY", "x", "No instance of NOBODY is registered")
}
