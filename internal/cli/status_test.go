package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestStatus_tellsTheViewAndTheNamespaces(t *testing.T) {
	t.Parallel()
	server := registry(t, map[string]any{
		"/kureka/v1/view": view{
			Fresh: true, PodsReadable: true, NodesReadable: true, LastCanary: at(-3 * time.Second), Pods: 40, Nodes: 1, Instances: 13,
			Watches: []watch{{Resource: "pods", Synced: true}, {Resource: "nodes", Problem: "forbidden"}},
		},
		"/kureka/v1/namespaces": namespaces{[]namespace{
			{Name: "", Leases: 1, RenewalsExpectedPerMinute: 2, RenewalsReceivedPerMinute: 2, SelfPreservation: "Watching"},
			{Name: "shop", Leases: 12, RenewalsExpectedPerMinute: 24, RenewalsReceivedPerMinute: 10, SelfPreservation: "Engaged", LeasesHeld: 7},
		}},
	})
	got := run(t, server, "status")
	want := `Self-preservation is engaged in 1 namespace: too many renewals are missing, so leases do not expire (7 held).

server     ` + server + `
instances  13
cluster    40 pods, 1 node, last seen 3s ago
problem    nodes: forbidden

NAMESPACE        LEASES   NO CLIENT   RENEWALS/MIN   EXPECTED   SELF-PRESERVATION   HELD
(outside pods)   1        0           2              2          Watching            0
shop             12       0           10             24         Engaged             7
`
	if diff := cmp.Diff(outcome{out: want}, got, cmp.AllowUnexported(outcome{})); diff != "" {
		t.Errorf("it differs (-want +got):\n%s", diff)
	}
}

func TestHeadline_tellsTheWorstFirst(t *testing.T) {
	t.Parallel()
	watches := []watch{{Resource: "pods", Synced: true}}
	tests := map[string]struct {
		s    status
		want string
	}{
		"a stale view": {
			status{View: view{PodsReadable: true, Watches: watches}, Namespaces: []namespace{{SelfPreservation: "Engaged"}}},
			"view of the cluster is not fresh",
		},
		"no right to read pods": {status{View: view{Fresh: true, Watches: watches}}, "may not read pods"},
		"no cluster":            {status{}, "without a cluster"},
		"all well":              {status{View: view{Fresh: true, PodsReadable: true, Watches: watches}}, "All is well"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := headline(&tc.s); !strings.Contains(got, tc.want) {
				t.Errorf("it says %q, want %q in it", got, tc.want)
			}
		})
	}
}
