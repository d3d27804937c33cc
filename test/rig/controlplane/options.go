package controlplane

import "strings"

// Timers choose how fast the node controllers conclude that a node is gone.
type Timers int

const (
	// Compressed makes a silent node Unknown after about 3.5 s and evicts its
	// pods about 5 s later. Kubelets have to renew their Lease at least every
	// 0.7 s.
	Compressed Timers = iota
	// Stock leaves every default: Unknown after 50 s, eviction 300 s later.
	Stock
)

// Options say what to start. The zero value is a complete control plane with
// compressed timers.
type Options struct {
	// Binaries to run; zero means those Ensure returns.
	Binaries Binaries
	// Dir holds data, certificates and logs and is kept. Empty means a temporary
	// folder that Stop removes.
	Dir string
	// Address is the IP address everything listens on, 127.0.0.1 when empty.
	Address string
	// Timers of the node controllers and of the default tolerations.
	Timers Timers
	// Controllers the controller manager runs; nil means DefaultControllers.
	Controllers []string
	// NoControllerManager leaves the controller manager out. Nothing then taints
	// nodes, writes EndpointSlices or collects orphans.
	NoControllerManager bool
	// APIServerArgs and ControllerManagerArgs are appended to the flags; the last
	// value of a flag wins.
	APIServerArgs         []string
	ControllerManagerArgs []string
}

// DefaultControllers are those that act on pods, nodes, services and the
// workloads that make pods. There is no scheduler: pods name their node.
func DefaultControllers() []string {
	return []string{
		"node-lifecycle-controller",
		"taint-eviction-controller",
		"endpointslice-controller",
		"endpointslice-mirroring-controller",
		"pod-garbage-collector-controller",
		"garbage-collector-controller",
		"disruption-controller",
		"deployment-controller",
		"replicaset-controller",
		"statefulset-controller",
		"namespace-controller",
		"serviceaccount-controller",
	}
}

func (o Options) withDefaults() Options {
	if o.Address == "" {
		o.Address = "127.0.0.1"
	}
	if o.Controllers == nil {
		o.Controllers = DefaultControllers()
	}
	return o
}

func (c *ControlPlane) etcdArgs() []string {
	return []string{
		"--data-dir=" + c.path(dataDir),
		"--listen-client-urls=" + c.etcdURL,
		"--advertise-client-urls=" + c.etcdURL,
		"--listen-peer-urls=" + c.etcdPeerURL,
		"--initial-advertise-peer-urls=" + c.etcdPeerURL,
		"--initial-cluster=default=" + c.etcdPeerURL,
		"--unsafe-no-fsync",
		"--log-level=warn",
	}
}

func (c *ControlPlane) apiServerArgs() []string {
	args := []string{
		"--etcd-servers=" + c.etcdURL,
		"--bind-address=" + c.options.Address,
		"--advertise-address=" + c.options.Address,
		"--secure-port=" + c.port,
		"--endpoint-reconciler-type=none", // the slice of the API server itself may not name a loopback address
		"--cert-dir=" + c.dir,
		"--tls-cert-file=" + c.path(servingCertFile),
		"--tls-private-key-file=" + c.path(servingKeyFile),
		"--client-ca-file=" + c.path(authorityFile),
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + c.path(signingKeyFile),
		"--service-account-signing-key-file=" + c.path(signingKeyFile),
		"--service-cluster-ip-range=10.96.0.0/16",
		"--authorization-mode=RBAC",
		"--allow-privileged=true",
		"--profiling=false",
	}
	// Pods may be created before the controller has made their service account.
	disabled := "ServiceAccount"
	if c.options.NoControllerManager {
		// Nobody would take the not-ready taint off new nodes.
		disabled += ",TaintNodesByCondition"
	}
	args = append(args, "--disable-admission-plugins="+disabled)
	if c.options.Timers == Compressed {
		args = append(args, "--default-not-ready-toleration-seconds=5", "--default-unreachable-toleration-seconds=5")
	}
	return append(args, c.options.APIServerArgs...)
}

func (c *ControlPlane) controllerManagerArgs(port string) []string {
	args := []string{
		"--kubeconfig=" + c.path(managerKubeconfigFile),
		"--bind-address=" + c.options.Address,
		"--secure-port=" + port,
		"--cert-dir=" + c.path("controller-manager"),
		"--leader-elect=false",
		"--controllers=" + strings.Join(c.options.Controllers, ","),
		"--profiling=false",
	}
	if c.options.Timers == Compressed {
		args = append(args,
			"--node-monitor-period=500ms",
			"--node-monitor-grace-period=3s",
			"--node-startup-grace-period=5s",
			"--node-eviction-rate=10",
			"--secondary-node-eviction-rate=10",
			"--large-cluster-size-threshold=0",
		)
	}
	return append(args, c.options.ControllerManagerArgs...)
}
