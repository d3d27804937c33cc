package archtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const root = "../.."

func TestModule_importsPointDownTheTable(t *testing.T) {
	t.Parallel()
	for _, violation := range check(table(), load(t)) {
		t.Error(violation)
	}
}

func TestCheck_reportsTheForbiddenChain(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		imports map[string]string // package to its imports, separated by blanks; own packages begin with "./"
		want    []string
	}{
		"what the table allows": {
			imports: map[string]string{
				"./cmd/kureka":        "./internal/app os",
				"./internal/app":      "./controllers ./internal/server net/http os",
				"./controllers/pod":   "./internal/cluster ./controllers/event sigs.k8s.io/controller-runtime/pkg/client",
				"./internal/cluster":  "./internal/verdict ./internal/registry/merge",
				"./internal/verdict":  "./internal/evidence time",
				"./internal/registry": "slices net/netip",
				"./api/v1alpha1":      "k8s.io/apimachinery/pkg/apis/meta/v1",
				"./hack/demo":         "./internal/server github.com/vishvananda/netlink",
			},
		},
		"upward import": {
			imports: map[string]string{"./internal/registry": "./internal/eureka"},
			want:    []string{"internal/registry -> internal/eureka: internal/registry may import nothing of this module"},
		},
		"adapter imports adapter": {
			imports: map[string]string{"./internal/server/auth": "./internal/cluster"},
			want:    []string{"internal/server/auth -> internal/cluster: internal/server may import only internal/registry, internal/eureka"},
		},
		"a name that only begins alike": {
			imports: map[string]string{"./internal/verdict": "./internal/evidencestore"},
			want:    []string{"internal/verdict -> internal/evidencestore: internal/verdict may import only internal/evidence"},
		},
		"library outside the row": {
			imports: map[string]string{"./api/v1alpha1": "k8s.io/client-go/kubernetes"},
			want:    []string{"api/v1alpha1 -> k8s.io/client-go/kubernetes: this library is not in its row"},
		},
		"impure package behind a pure one": {
			imports: map[string]string{
				"./internal/verdict":  "./internal/evidence",
				"./internal/evidence": "os/exec",
			},
			want: []string{
				"internal/evidence -> os/exec: pure code has no process",
				"internal/verdict -> internal/evidence -> os/exec: pure code has no process",
			},
		},
		"library behind a pure package": {
			imports: map[string]string{
				"./internal/verdict":      "./internal/evidence",
				"./internal/evidence":     "./internal/evidence/log",
				"./internal/evidence/log": "github.com/go-logr/logr",
			},
			want: []string{
				"internal/evidence -> internal/evidence/log -> github.com/go-logr/logr: this library is not in its row",
				"internal/evidence/log -> github.com/go-logr/logr: this library is not in its row",
				"internal/verdict -> internal/evidence -> internal/evidence/log -> github.com/go-logr/logr: this library is not in its row",
			},
		},
		"package without a row": {
			imports: map[string]string{"./internal/util": "fmt"},
			want:    []string{"internal/util: has no row in the table, so nothing says what it may import"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, check(table(), parse(tc.imports))); diff != "" {
				t.Errorf("violations differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTable_pointsDown(t *testing.T) {
	t.Parallel()
	rows := table()
	for i, r := range rows {
		for _, m := range r.may {
			if _, ok := rowOf(rows[i+1:], module+"/"+m); !ok {
				t.Errorf("%s may import %s, which does not stand below it", r.pkg, m)
			}
		}
	}
}

// load asks the go command for the module's packages. Packages that do not
// compile are listed all the same, so that an import error elsewhere does not
// hide a forbidden import here.
func load(t *testing.T) graph {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-e", "-json=ImportPath,GoFiles,Imports", "./...")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			err = fmt.Errorf("%w: %s", err, exit.Stderr)
		}
		t.Fatalf("listing the module's packages: %v", err)
	}
	g := graph{}
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath string
			GoFiles    []string
			Imports    []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return g
		} else if err != nil {
			t.Fatalf("decoding the package list: %v", err)
		}
		if len(p.GoFiles) > 0 {
			g[p.ImportPath] = p.Imports
		}
	}
}

func parse(imports map[string]string) graph {
	full := func(p string) string {
		if own, ok := strings.CutPrefix(p, "./"); ok {
			return module + "/" + own
		}
		return p
	}
	g := graph{}
	for pkg, list := range imports {
		for imp := range strings.FieldsSeq(list) {
			g[full(pkg)] = append(g[full(pkg)], full(imp))
		}
	}
	return g
}
