package archtest

// row says what one package, with everything below it, may import besides the
// standard library and itself. Own packages are named relative to the module.
type row struct {
	pkg  string
	may  []string // own packages, each with everything below it
	libs []string // prefixes of import paths outside this module
	pure bool     // no transport, process, log or goroutine, neither here nor behind an import
	open bool     // tooling: no limits
}

// table is the direction of the product, top to bottom: a package imports only
// what stands below it. The linter's rules are generated from it.
func table() []row {
	return []row{
		{pkg: "cmd/kureka", may: []string{"internal/app", "internal/version"}, libs: []string{pflag}},
		{pkg: "cmd/kubectl-kureka", may: []string{"internal/cli", "internal/version"}, libs: []string{pflag}},
		{pkg: "internal/app", may: everythingBelowApp(), libs: []string{kubernetes, controllerRuntime, logr, prometheus, xsync, pflag, memberlist}},
		{pkg: "internal/cli", may: []string{"api/v1alpha1", "internal/audit", "internal/version"}, libs: []string{kubernetes, cobra, pflag}},
		{
			pkg:  "controllers",
			may:  []string{"api/v1alpha1", "internal/cluster", "internal/evidence", "internal/verdict"},
			libs: []string{kubernetes, controllerRuntime, logr, prometheus, xsync},
		},
		{pkg: "internal/server", may: []string{"internal/registry", "internal/eureka"}, libs: []string{logr, prometheus, xsync}},
		{pkg: "internal/login", libs: []string{logr, prometheus, xsync, bcrypt}},
		{pkg: "internal/dashboard", may: []string{"internal/registry", "internal/cluster", "internal/consumers", "internal/version"}, libs: []string{logr}},
		{pkg: "internal/hold", may: []string{"internal/cluster", "internal/consumers", "internal/registry"}},
		{pkg: "internal/peer", may: []string{"internal/registry", "internal/eureka"}, libs: []string{logr, prometheus, xsync, memberlist}},
		{pkg: "internal/consumers", may: []string{"internal/registry"}, pure: true},
		{pkg: "internal/snapshotfile", may: []string{"internal/cluster", "internal/registry"}, libs: []string{json2}},
		{pkg: "internal/cluster", may: []string{"internal/evidence", "internal/verdict", "internal/registry"}, libs: []string{logr}},
		{pkg: "internal/prober", may: []string{"internal/evidence"}, libs: []string{prometheus, xtime}},
		{pkg: "internal/verdict", may: []string{"internal/evidence"}, pure: true},
		{pkg: "internal/evidence", pure: true},
		{pkg: "internal/registry", pure: true},
		{pkg: "internal/eureka", pure: true},
		{pkg: "internal/gate", pure: true},
		{pkg: "internal/audit", may: []string{"api/v1alpha1"}, libs: []string{kubernetesAPI, apimachinery, yaml, yamlOfKubernetes}, pure: true},
		{pkg: "api/v1alpha1", libs: []string{apimachinery}},
		{pkg: "internal/version"},
		{pkg: "internal/archtest"},
		{pkg: "hack", open: true},
		{pkg: "test", open: true},
	}
}

// The libraries a row can name.
const (
	apimachinery      = "k8s.io/apimachinery"
	bcrypt            = "golang.org/x/crypto/bcrypt"
	cobra             = "github.com/spf13/cobra"
	controllerRuntime = "sigs.k8s.io/controller-runtime"
	json2             = "github.com/go-json-experiment/json"
	kubernetes        = "k8s.io"
	kubernetesAPI     = "k8s.io/api"
	logr              = "github.com/go-logr/logr"
	memberlist        = "github.com/hashicorp/memberlist"
	pflag             = "github.com/spf13/pflag"
	prometheus        = "github.com/prometheus/client_golang"
	xsync             = "golang.org/x/sync"
	xtime             = "golang.org/x/time"
	yaml              = "go.yaml.in/yaml/v3"
	yamlOfKubernetes  = "sigs.k8s.io/yaml"
)

func everythingBelowApp() []string {
	return []string{
		"api/v1alpha1", "controllers", "internal/cluster", "internal/consumers", "internal/dashboard", "internal/eureka", "internal/evidence", "internal/gate", "internal/hold", "internal/login",
		"internal/peer", "internal/prober", "internal/registry", "internal/server", "internal/snapshotfile", "internal/verdict", "internal/version",
	}
}

// impurity is a part of the standard library that pure code does without.
type impurity struct{ pkg, why string }

func impurities() []impurity {
	return []impurity{
		{"log", "pure code returns, it does not log"},
		{"net/http", "pure code has no transport"},
		{"os", "pure code has no process"},
		{"syscall", "pure code has no system"},
	}
}
