package dashboard_test

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/kureka/kureka/internal/cluster"
	"github.com/kureka/kureka/internal/dashboard"
	"github.com/kureka/kureka/internal/evidence"
	"github.com/kureka/kureka/internal/registry"
)

func TestAPodWithoutAClientIsExplained(t *testing.T) {
	engine := registry.New(noon, registry.Options{})
	c := cluster.New(engine, cluster.Options{})
	c.ObservePod(noon, evidence.Pod{
		UID: "u1", Namespace: "shop", Name: "a", IPs: []netip.Addr{netip.MustParseAddr("192.0.2.10")}, Phase: evidence.Running, Ready: true, Created: noon,
		Annotations: map[string]string{"kureka.dev/app": "images", "kureka.dev/port": "8080", "kureka.dev/later": "x"},
	})
	c.SetOffers(noon, []cluster.Offer{{
		Namespace: "shop", Name: "twice", Selects: func(evidence.Labels) bool { return true },
		Listing: cluster.Listing{App: "IMAGES", Port: cluster.PortRef{Number: 1}},
	}})
	h := dashboard.New(dashboard.Options{View: c, Registry: engine, Clock: func() time.Time { return noon }})

	code, doc := get(t, h, "/kureka/v1/pods/shop/a")
	claims, _ := doc["registrations"].([]any)
	faults, _ := doc["annotationProblems"].([]any)
	if code != http.StatusOK || len(claims) != 2 || len(faults) != 1 || at(doc, "pod", "uid") != "u1" {
		t.Fatalf("%d %v", code, doc)
	}
	if at(claims[0], "listed") != "a.shop:images" || at(claims[1], "reason") != cluster.ProblemClaimed {
		t.Errorf("registrations %v", claims)
	}
	code, doc = get(t, h, "/kureka/v1/instances/images/a.shop:images")
	if code != http.StatusOK || at(doc, "binding", "keptBy") != "annotations of the pod" || doc["lease"] != nil {
		t.Errorf("%d %v", code, doc)
	}
	if code, doc = get(t, h, "/kureka/v1/pods/shop/none"); code != http.StatusNotFound || !strings.Contains(doc["error"].(string), "no pod") {
		t.Errorf("%d %v", code, doc)
	}
}
