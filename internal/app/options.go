package app

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/kureka/kureka/api/v1alpha1"
	"github.com/kureka/kureka/internal/registry"
	"github.com/kureka/kureka/internal/server"
)

// Mode is what the process does.
type Mode string

// The modes, which are the program's commands.
const (
	// Manager watches a cluster.
	Manager Mode = "manager"
	// Standalone is the same registry without one.
	Standalone Mode = "standalone"
)

// Options are the settings of a process. DefaultOptions gives all of them.
type Options struct {
	Mode Mode

	RegistryAddr string // Eureka API
	MetricsAddr  string // Prometheus metrics; "0" for none
	ProbeAddr    string // /healthz and /readyz; "0" for none

	// BasePaths are more paths under which the Eureka API is answered.
	BasePaths []string
	// UsersFile names who may use the registry's port, everybody if empty.
	UsersFile string
	// TLSCertFile and TLSKeyFile encrypt the registry's port, if they are set.
	TLSCertFile, TLSKeyFile string

	// StartGate is Auto, Off, or how long list reads are refused after the start.
	StartGate string
	// SnapshotFile is where the registry is kept across restarts; empty: nowhere.
	SnapshotFile string
	// ShutdownDelay is how long everything is served after the end has been asked
	// for, while readiness is refused.
	ShutdownDelay    time.Duration
	TrustedProxies   []string
	ReplicationPeers []string
	Dashboard        string // On or Off
	MaxInstances     int
	MaxConnections   int
	LogLevel         int // 0: changes of state, 1: details

	Kubeconfig      string
	Namespace       string // of the canary Lease
	CanaryName      string
	WatchNamespaces []string
	Prober          string // On or Off
	PolicyMode      string // Enforce or Observe: whether verdicts act where no policy says

	WebhookAddr    string // of the webhook that gives pods their drain; "0" for none
	WebhookCertDir string // with tls.crt and tls.key; empty: a certificate of our own
	WebhookConfig  string // MutatingWebhookConfiguration that is told of it
	WebhookService string // by which the API server calls, in Namespace
	DrainAddress   string // that kubelets ask; empty: that of WebhookService
	RegistryClass  string // of the custom resources and annotations that are for this installation
}

// Values of StartGate besides a duration, of Dashboard, of Prober and of PolicyMode.
const (
	GateAuto = "Auto"
	GateOff  = "Off"

	DashboardOn  = "On"
	DashboardOff = "Off"

	ProberOn  = DashboardOn
	ProberOff = DashboardOff

	Enforce = string(v1alpha1.Enforce)
	Observe = string(v1alpha1.Observe)
)

// product is what everything of ours is called that has no other name.
const product = "kureka"

// DefaultOptions returns the settings without any flag.
func DefaultOptions() Options {
	return Options{
		RegistryAddr: ":8761", MetricsAddr: ":8080", ProbeAddr: ":8081",
		StartGate: GateAuto, Dashboard: DashboardOn, Prober: ProberOn, MaxInstances: registry.DefaultMaxInstances, MaxConnections: server.DefaultMaxConnections,
		Namespace: ownNamespace(), CanaryName: product, PolicyMode: Enforce,
		WebhookAddr: "0", WebhookConfig: product, WebhookService: product,
	}
}

// ownNamespace is the namespace this process runs in, as Kubernetes tells it.
func ownNamespace() string {
	if ns := os.Getenv("POD_NAMESPACE"); ns != "" {
		return ns
	}
	if b, err := os.ReadFile("/var/run/secrets/kubernetes.io/serviceaccount/namespace"); err == nil {
		return strings.TrimSpace(string(b))
	}
	return "kureka-system"
}

const usage = `Usage: kureka <command> [flags]

Commands:
  manager      the registry, watching a Kubernetes cluster
  standalone   the registry alone, for laptops, virtual machines and benchmarks
  version      print the version, with -o json for programs

Flags of manager and standalone:
`

// ErrHelp means that the usage or the version was printed because it was asked for.
var ErrHelp = errors.New("help requested")

// ParseArgs reads a command line. Help goes to out and gives ErrHelp.
func ParseArgs(args []string, out io.Writer) (Options, error) {
	o := DefaultOptions()
	flags := pflag.NewFlagSet("kureka", pflag.ContinueOnError)
	flags.SetOutput(io.Discard)
	o.bind(flags)
	help := func() error {
		_, err := fmt.Fprint(out, usage+flags.FlagUsages())
		return errors.Join(ErrHelp, err)
	}
	if len(args) == 0 {
		return o, errors.New(`no command: say "manager" or "standalone"; see "kureka --help"`)
	}
	switch args[0] {
	case string(Manager), string(Standalone):
		o.Mode = Mode(args[0])
	case "version", "--version":
		return o, cmp.Or(printVersion(args[1:], out), ErrHelp)
	case "help", "--help", "-h":
		return o, help()
	default:
		return o, fmt.Errorf(`unknown command %q: say "manager" or "standalone"; see "kureka --help"`, args[0])
	}
	switch err := flags.Parse(args[1:]); {
	case errors.Is(err, pflag.ErrHelp):
		return o, help()
	case err != nil:
		return o, fmt.Errorf("reading flags: %w", err)
	case flags.NArg() > 0:
		return o, fmt.Errorf("reading flags: unexpected argument %q", flags.Arg(0))
	}
	err := o.Validate()
	return o, err
}

func (o *Options) bind(f *pflag.FlagSet) {
	f.StringVar(&o.RegistryAddr, "registry-bind-address", o.RegistryAddr, "address of the Eureka API")
	f.StringVar(&o.MetricsAddr, "metrics-bind-address", o.MetricsAddr, `address of the metrics, "0" for none`)
	f.StringVar(&o.ProbeAddr, "health-probe-bind-address", o.ProbeAddr, `address of /healthz and /readyz, "0" for none`)
	f.StringSliceVar(&o.BasePaths, "registry-base-paths", o.BasePaths,
		"more paths under which the API is answered, besides /eureka, /eureka/v2, /v2 and the root, for clients whose URL has another, such as /registry/eureka")
	f.StringVar(&o.UsersFile, "registry-users-file", o.UsersFile,
		"file of users as htpasswd -B writes it; with it the API and the dashboard ask for a name and password (Basic). Followed when it changes")
	f.StringVar(&o.TLSCertFile, "registry-tls-cert-file", o.TLSCertFile,
		"certificate of the API, in PEM with its chain; with it the API speaks TLS. Followed when it changes")
	f.StringVar(&o.TLSKeyFile, "registry-tls-key-file", o.TLSKeyFile, "key of the certificate, in PEM")
	f.StringVar(&o.StartGate, "start-gate", o.StartGate,
		"how long list reads are refused after the start, so that clients keep what they have: Auto, Off or a duration up to 10m")
	f.StringVar(&o.SnapshotFile, "snapshot-file", o.SnapshotFile,
		"file that keeps the registry across restarts, on a volume that outlives the process; without one a start knows nobody")
	f.DurationVar(&o.ShutdownDelay, "shutdown-delay", o.ShutdownDelay,
		"how long requests are answered after SIGTERM while /readyz is 503, so that the Service stops sending first: up to 5m")
	f.StringSliceVar(&o.TrustedProxies, "trusted-proxies", o.TrustedProxies,
		"addresses or ranges of proxies in front of the API, whose requests have an unknown source")
	f.StringSliceVar(&o.ReplicationPeers, "replication-peers", o.ReplicationPeers,
		"addresses or ranges of Eureka servers that may tell what their clients did; none: there is no such endpoint")
	f.StringVar(&o.Dashboard, "dashboard", o.Dashboard, "On shows people pages at / and under /kureka/ui, and answers their questions under /kureka/v1, on the address of the API; Off does not")
	f.IntVar(&o.MaxInstances, "max-instances", o.MaxInstances, "instances that the registry holds at most")
	f.IntVar(&o.MaxConnections, "max-connections", o.MaxConnections,
		"connections to the API that are open at most, some 20 KiB each; beyond it those that have waited longest for a request are closed")
	f.IntVar(&o.LogLevel, "log-level", o.LogLevel, "0 logs changes of state, 1 details")
	f.StringVar(&o.Kubeconfig, "kubeconfig", o.Kubeconfig, "manager: kubeconfig file; in a pod its service account is used")
	f.StringVar(&o.Namespace, "namespace", o.Namespace, "manager: namespace of the canary Lease and of the webhook's Service")
	f.StringVar(&o.CanaryName, "canary-lease", o.CanaryName, "manager: name of the canary Lease")
	f.StringVar(&o.Prober, "prober", o.Prober,
		"manager: On opens TCP connections to the kubelet and to pods of a node that falls silent, and to some others for comparison, to tell a dead node from a broken network; Off leaves that to heartbeats")
	f.StringVar(&o.PolicyMode, "mode", o.PolicyMode,
		"manager: Enforce acts on verdicts, Observe shows and counts them; for policies that do not say, and until policies have been read")
	f.StringSliceVar(&o.WatchNamespaces, "watch-namespaces", o.WatchNamespaces, "manager: namespaces whose pods are watched, all if empty")
	f.StringVar(&o.WebhookAddr, "webhook-bind-address", o.WebhookAddr, `manager: address of the webhook that gives pods their drain, "0" for none`)
	f.StringVar(&o.WebhookCertDir, "webhook-cert-dir", o.WebhookCertDir,
		"manager: folder with the webhook's tls.crt and tls.key, read anew when they change; without one Kureka makes a certificate and has it trusted")
	f.StringVar(&o.WebhookConfig, "webhook-configuration", o.WebhookConfig, "manager: MutatingWebhookConfiguration that is to trust the certificate Kureka makes")
	f.StringVar(&o.DrainAddress, "drain-hold-address", o.DrainAddress,
		`manager: host:port that kubelets ask where drain.mode is Hold; empty: the address of --webhook-service and its port "eureka"`)
	f.StringVar(&o.WebhookService, "webhook-service", o.WebhookService, "manager: Service in --namespace by which the API server calls the webhook")
	f.StringVar(&o.RegistryClass, "registry-class", o.RegistryClass,
		"manager: name of this installation; custom resources and annotations that name another are ignored, those that name none are for every one")
}

// Validate returns every problem of the settings, each with its flag.
func (o *Options) Validate() error {
	var errs []error
	addresses := []struct{ flag, addr string }{
		{"registry-bind-address", o.RegistryAddr},
		{"metrics-bind-address", o.MetricsAddr},
		{"health-probe-bind-address", o.ProbeAddr},
		{"webhook-bind-address", o.WebhookAddr},
	}
	for i, a := range addresses {
		if i > 0 && a.addr == "0" {
			continue
		}
		if _, _, err := net.SplitHostPort(a.addr); err != nil {
			errs = append(errs, fmt.Errorf("--%s %q: want host:port or :port", a.flag, a.addr))
		}
	}
	_, gateErr := o.gate()
	errs = append(errs, gateErr, o.validateRanges(), o.validateSecurity(), o.validateBasePaths())
	if o.ShutdownDelay < 0 || o.ShutdownDelay > maxShutdownDelay {
		errs = append(errs, fmt.Errorf("--shutdown-delay %s: want a duration from 0s to %s", o.ShutdownDelay, maxShutdownDelay))
	}
	for _, s := range []struct{ flag, value, one, other string }{
		{"dashboard", o.Dashboard, DashboardOn, DashboardOff},
		{"prober", o.Prober, ProberOn, ProberOff},
		{"mode", o.PolicyMode, Enforce, Observe},
	} {
		if s.value != s.one && s.value != s.other {
			errs = append(errs, fmt.Errorf("--%s %q: want %s or %s", s.flag, s.value, s.one, s.other))
		}
	}
	for _, n := range []struct {
		flag  string
		value int
	}{{"max-instances", o.MaxInstances}, {"max-connections", o.MaxConnections}} {
		if n.value < 1 {
			errs = append(errs, fmt.Errorf("--%s %d: want at least 1", n.flag, n.value))
		}
	}
	return errors.Join(append(errs, o.class())...)
}

// maxShutdownDelay bounds --shutdown-delay.
const maxShutdownDelay = 5 * time.Minute

// class checks the name of the installation.
func (o *Options) class() error {
	if o.RegistryClass != "" && !classForm.MatchString(o.RegistryClass) {
		return fmt.Errorf("--registry-class %q: want at most 63 small letters, digits and hyphens, without a hyphen at either end", o.RegistryClass)
	}
	return nil
}

// classForm is what a custom resource can name.
var classForm = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)

// maxGate bounds a start gate given as a duration.
const maxGate = 10 * time.Minute

// gate returns the fixed length of the start gate; negative for Auto.
func (o *Options) gate() (time.Duration, error) {
	switch {
	case strings.EqualFold(o.StartGate, GateAuto):
		return -1, nil
	case strings.EqualFold(o.StartGate, GateOff):
		return 0, nil
	}
	d, err := time.ParseDuration(o.StartGate)
	if err != nil || d < 0 || d > maxGate {
		return 0, fmt.Errorf("--start-gate %q: want Auto, Off or a duration from 0s to %s", o.StartGate, maxGate)
	}
	return d, nil
}

// validateRanges returns what is wrong with the flags that name addresses.
func (o *Options) validateRanges() error {
	_, proxies := prefixes("trusted-proxies", o.TrustedProxies)
	_, peers := prefixes("replication-peers", o.ReplicationPeers)
	return errors.Join(proxies, peers)
}

// prefixes reads the addresses or ranges of a flag.
func prefixes(flag string, texts []string) ([]netip.Prefix, error) {
	var out []netip.Prefix
	for _, s := range texts {
		if a, err := netip.ParseAddr(s); err == nil {
			out = append(out, netip.PrefixFrom(a.Unmap(), a.Unmap().BitLen()))
			continue
		}
		p, err := netip.ParsePrefix(s)
		if err != nil {
			return nil, fmt.Errorf("--%s %q: want an address or a range such as 10.0.0.0/8", flag, s)
		}
		out = append(out, p.Masked())
	}
	return out, nil
}
