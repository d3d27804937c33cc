package registration

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kureka/kureka/api/v1alpha1"
	"github.com/kureka/kureka/internal/cluster"
	"github.com/kureka/kureka/internal/evidence"
	"github.com/kureka/kureka/internal/registry"
)

func complete() *v1alpha1.EurekaRegistration {
	named, number, management := intstr.FromString("http"), intstr.FromInt32(8443), intstr.FromInt32(9000)
	return &v1alpha1.EurekaRegistration{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "images", UID: "u1", Generation: 3},
		Spec: v1alpha1.EurekaRegistrationSpec{
			App: "images", Port: &named, SecurePort: &number, ManagementPort: &management,
			VIPAddress: "images", SecureVIPAddress: "images-tls", HostName: v1alpha1.HostNamePodDNS,
			Selector: &v1alpha1.PodSelector{
				MatchLabels:      map[string]v1alpha1.LabelValue{"app": "images"},
				MatchExpressions: []v1alpha1.PodSelectorRequirement{{Key: "track", Operator: metav1.LabelSelectorOpNotIn, Values: []v1alpha1.LabelValue{"canary"}}},
			},
			Metadata:           map[string]v1alpha1.MetadataValue{"b": "2", "a": "1"},
			MetadataFromLabels: []v1alpha1.MetadataFromLabel{{Label: "x/version", Name: "version"}, {Label: "track"}},
			Paths:              &v1alpha1.Paths{HomePage: "/", StatusPage: "/info", HealthCheck: "/up"},
		},
	}
}

func TestOfferOf_takesEveryField(t *testing.T) {
	got, err := offerOf(complete())
	if err != nil {
		t.Fatal(err)
	}
	want := cluster.Offer{
		Namespace: "shop", Name: "images", Revision: "u1/3",
		Listing: cluster.Listing{
			App: "IMAGES", Port: cluster.PortRef{Name: "http"}, SecurePort: cluster.PortRef{Number: 8443}, ManagementPort: cluster.PortRef{Number: 9000},
			VIP: "images", SecureVIP: "images-tls", PodDNS: true, Metadata: []registry.Pair{{Key: "a", Value: "1"}, {Key: "b", Value: "2"}},
			FromLabels: []cluster.LabelCopy{{Label: "x/version", Name: "version"}, {Label: "track", Name: "track"}},
			HomePage:   "/", StatusPage: "/info", HealthCheck: "/up",
		},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(cluster.Offer{}, "Selects")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for labels, want := range map[string]bool{"app=images": true, "app=images,track=canary": false, "app=images,track=x": true, "": false} {
		m := map[string]string{}
		for pair := range strings.SplitSeq(labels, ",") {
			k, v, _ := strings.Cut(pair, "=")
			m[k] = v
		}
		if got.Selects(evidence.NewLabels(m)) != want {
			t.Errorf("selects %q: %v", labels, !want)
		}
	}
}

// Objects may have been stored before the API server checked them.
func TestOfferOf_saysWhatCannotBeOffered(t *testing.T) {
	tests := map[string]struct {
		change func(*v1alpha1.EurekaRegistrationSpec)
		want   string
	}{
		"no app":               {func(s *v1alpha1.EurekaRegistrationSpec) { s.App = "" }, "app is empty"},
		"no port":              {func(s *v1alpha1.EurekaRegistrationSpec) { s.Port, s.SecurePort = nil, nil }, "neither port nor securePort"},
		"a port out of range":  {func(s *v1alpha1.EurekaRegistrationSpec) { p := intstr.FromInt32(70000); s.Port = &p }, "port: 70000"},
		"an empty port name":   {func(s *v1alpha1.EurekaRegistrationSpec) { p := intstr.FromString(""); s.ManagementPort = &p }, "managementPort"},
		"selector and service": {func(s *v1alpha1.EurekaRegistrationSpec) { s.ServiceName = "x" }, "exactly one"},
		"neither of them":      {func(s *v1alpha1.EurekaRegistrationSpec) { s.Selector = nil }, "exactly one"},
		"an empty selector":    {func(s *v1alpha1.EurekaRegistrationSpec) { s.Selector = &v1alpha1.PodSelector{} }, "every pod"},
		"a wrong selector":     {func(s *v1alpha1.EurekaRegistrationSpec) { s.Selector.MatchExpressions[0].Operator = "Near" }, "selector"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := complete()
			tc.change(&r.Spec)
			if _, err := offerOf(r); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want %q", err, tc.want)
			}
		})
	}
}

func TestReady_saysWhatKeepsPodsFromBeingListed(t *testing.T) {
	port := cluster.OfferProblem{Problem: cluster.Problem{Reason: cluster.ProblemPort, Detail: "no container declares a port named http"}, Pods: 1, Pod: "a"}
	claimed := cluster.OfferProblem{Problem: cluster.Problem{Reason: cluster.ProblemClaimed, Detail: "registered by another"}, Pods: 2, Pod: "b"}
	tests := map[string]struct {
		d               decision
		state           cluster.OfferState
		reason, message string
	}{
		"all are listed": {decision{}, cluster.OfferState{Matched: 2, Registered: 2}, "Registered", "2 of 2 pods are listed by this"},
		"some not, rightly": {
			decision{},
			cluster.OfferState{Matched: 6, Registered: 1, Own: 2, Cancelled: 1, Waiting: 2},
			"Registered",
			"1 of 6 pods are listed by this, 2 by their own client, 1 cancelled by their own client, 2 have no address yet",
		},
		"nobody matches": {decision{}, cluster.OfferState{}, "NoPods", "No pod matches"},
		"the gravest problem is the reason": {
			decision{},
			cluster.OfferState{Matched: 3, Problems: []cluster.OfferProblem{claimed, port}},
			"PortNotFound",
			"2 of 3 pods, such as b: registered by another; 1 of 3 pods, such as a: no container declares a port named http; 0 of 3 pods are listed by this",
		},
		"no Service": {
			decision{},
			cluster.OfferState{Problems: []cluster.OfferProblem{{Problem: cluster.Problem{Reason: cluster.ProblemService, Detail: "there is no Service x"}}}},
			"ServiceNotFound",
			"there is no Service x; 0 of 0 pods are listed by this",
		},
		"an invalid one": {decision{fault: "app is empty"}, cluster.OfferState{}, "Invalid", "See Accepted"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := ready(tc.d, tc.state)
			if got.Reason != tc.reason || got.Message != tc.message || (got.Status == metav1.ConditionTrue) != (tc.reason == "Registered") {
				t.Errorf("%+v", got)
			}
		})
	}
}

// The reasons of conditions are the ones that package cluster tells.
func TestReasonsAreTheSameWords(t *testing.T) {
	for told, reason := range map[string]string{
		cluster.ProblemPort: v1alpha1.ReasonPortNotFound, cluster.ProblemClaimed: v1alpha1.ReasonAlreadyRegistered,
		cluster.ProblemID: v1alpha1.ReasonInstanceIDTaken, cluster.ProblemFull: v1alpha1.ReasonRegistryFull, cluster.ProblemService: v1alpha1.ReasonServiceNotFound,
	} {
		if told != reason || gravity(told) < 0 {
			t.Errorf("%s is told as %s", reason, told)
		}
	}
}
