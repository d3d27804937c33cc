package gateway

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func wire(id, status, action string) wireInstance {
	w := wireInstance{ID: id, App: "ORDERS", IP: "10.99.3.7", Status: status, Action: action}
	w.Port.Number = 8080
	return w
}

func document(hash string, instances ...wireInstance) applications {
	return applications{Hash: hash, Applications: []application{{Name: "ORDERS", Instances: instances}}}
}

func TestCache_appliesDeltasAsTheJavaClientsDo(t *testing.T) {
	tests := map[string]struct {
		delta  applications
		agrees bool
		ids    []string
		up     []string
	}{
		"nothing changed": {
			delta: document("OUT_OF_SERVICE_1_UP_2_"), agrees: true,
			ids: []string{"a", "b", "c"}, up: []string{"a", "b"},
		},
		"added": {
			delta: document("OUT_OF_SERVICE_1_UP_3_", wire("d", "UP", "ADDED")), agrees: true,
			ids: []string{"a", "b", "c", "d"}, up: []string{"a", "b", "d"},
		},
		"modified": {
			delta: document("OUT_OF_SERVICE_2_UP_1_", wire("b", "OUT_OF_SERVICE", "MODIFIED")), agrees: true,
			ids: []string{"a", "b", "c"}, up: []string{"a"},
		},
		"deleted, whatever its status": {
			delta: document("OUT_OF_SERVICE_1_UP_1_", wire("a", "UP", "DELETED")), agrees: true,
			ids: []string{"b", "c"}, up: []string{"b"},
		},
		"deleted after it was added": {
			delta: document("OUT_OF_SERVICE_1_UP_2_", wire("d", "UP", "ADDED"), wire("d", "UP", "DELETED")), agrees: true,
			ids: []string{"a", "b", "c"}, up: []string{"a", "b"},
		},
		"something was missed": {
			delta: document("UP_2_", wire("c", "UP", "MODIFIED")), agrees: false,
			ids: []string{"a", "b", "c"}, up: []string{"a", "b", "c"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := cache{}
			err := c.replace(document("", wire("a", "UP", "ADDED"), wire("b", "UP", "ADDED"), wire("c", "OUT_OF_SERVICE", "ADDED")))
			if err != nil {
				t.Fatal(err)
			}
			agrees, err := c.apply(tc.delta)
			if err != nil {
				t.Fatal(err)
			}
			if agrees != tc.agrees {
				t.Errorf("agrees = %v, want %v; own hash %s", agrees, tc.agrees, c.hash())
			}
			known := make([]string, 0, len(c))
			for k := range c {
				known = append(known, k.id)
			}
			slices.Sort(known)
			if diff := cmp.Diff([][]string{tc.ids, tc.up}, [][]string{known, ids(c.up("ORDERS"))}); diff != "" {
				t.Errorf("known and called differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCache_refusesAnAddressThatIsNone(t *testing.T) {
	broken := wire("a", "UP", "ADDED")
	broken.IP = "orders.example"
	if err := (cache{}).replace(document("", broken)); err == nil {
		t.Error("no error for an instance that cannot be called")
	}
}

func TestInstance_isReadFromTheWire(t *testing.T) {
	got, err := wire("a", "UP", "ADDED").instance()
	if err != nil {
		t.Fatal(err)
	}
	want := Instance{App: "ORDERS", ID: "a", Status: "UP", Address: netip.MustParseAddrPort("10.99.3.7:8080")}
	if got != want {
		t.Errorf("instance = %v, want %v", got, want)
	}
}
