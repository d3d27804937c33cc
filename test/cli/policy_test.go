package cli

import (
	"context"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kureka/kureka/test/rig/controlplane"
	"github.com/kureka/kureka/test/rig/instance"
	"github.com/kureka/kureka/test/rig/stage"
)

// apply creates or changes objects, a document each.
func (s *scene) apply(manifest string) {
	s.t.Helper()
	api, err := client.New(s.Rig.Plane.Config(), client.Options{})
	s.must(err)
	objects, err := controlplane.DecodeManifests(strings.NewReader(manifest))
	s.must(err)
	for _, object := range objects {
		s.must(api.Apply(s.t.Context(), client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("cli"), client.ForceOwnership))
	}
}

// says runs a command line until its output has all of what is wanted.
func (s *scene) says(args []string, want ...string) {
	s.t.Helper()
	var got answer
	//nolint:contextcheck // every command has the context of the test
	err := stage.Until(s.t.Context(), "the answer to say "+strings.Join(want, ", "), func(context.Context) (bool, error) {
		got = ask(s.t, args...)
		for _, w := range want {
			if !strings.Contains(got.out, w) {
				return false, nil
			}
		}
		return true, nil
	})
	s.t.Logf("$ kubectl kureka %s\n%s%s", strings.Join(args, " "), got.out, got.err)
	s.must(err)
}

func TestPolicy_andWhatItWouldHaveDone(t *testing.T) {
	s := begin(t, 1, 3, instance.Config{App: "trial", OnTerm: instance.Vanish})
	s.apply(`
apiVersion: kureka.dev/v1alpha1
kind: RegistryPolicy
metadata: {name: default, namespace: ` + s.Namespace + `}
spec:
  mode: Observe
  drain: {mode: Sleep, loadBalancerCacheSeconds: 5}
`)
	s.says([]string{"policy", "-n", s.Namespace}, "is decided by: RegistryPolicy", "drain.loadBalancerCacheSeconds", "now: leases")
	s.says([]string{"policy"}, "RegistryPolicy   Observe   Sleep")
	s.says([]string{"budget", "trial"}, "assumed by drain.loadBalancerCacheSeconds of the RegistryPolicy", "drain.mode is Sleep by the RegistryPolicy, and the pod trial-")
	_, err := s.pods[0].ForceDelete(t.Context())
	s.must(err)
	s.says([]string{"observe-report", "-n", s.Namespace}, "PodGone", "removed it", s.pods[0].ID)
	s.why(s.app, s.pods[0].ID, "is UP although its pod is gone: the policy only observes", "would remove", "kubectl kureka observe-report")
}
