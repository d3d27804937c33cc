package stage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kureka/kureka/test/rig/controlplane"
	"github.com/kureka/kureka/test/rig/faultproxy"
	"github.com/kureka/kureka/test/rig/netns"
)

// Rig is what all scenes of a run share. Its methods may be called from several
// goroutines.
type Rig struct {
	Plane  *controlplane.ControlPlane
	Client kubernetes.Interface // an administrator's

	dir     string
	program string // the product
	network string // the first two numbers of every address
	places  *places

	mu      sync.Mutex
	closers []func() error
}

// places counts what has addresses of its own, for all rigs of a network.
type places struct{ stages, operators atomic.Int32 }

// Options say what control plane a rig has.
type Options struct {
	// Compressed makes the node controllers hasty; else their timers are those of
	// a cluster.
	Compressed bool
	// Parallel is how many tests Run lets play at a time; as many as the go command
	// says if zero.
	Parallel int
	// APIServerArgs and ControllerManagerArgs are appended to the flags.
	APIServerArgs         []string
	ControllerManagerArgs []string
}

// Start runs the control plane. Prepare must have been called.
func Start(ctx context.Context, log io.Writer, options Options) (*Rig, error) {
	program := os.Getenv(programEnv)
	if program == "" {
		return nil, errors.New("starting the rig: there is no program to test; call Prepare first")
	}
	r := &Rig{program: program, network: "10.99", places: &places{}}
	if !netns.Inside() {
		r.network = "127.99"
	}
	return r.started(ctx, log, options)
}

// Beside runs another control plane in the same network. The caller closes it.
func (r *Rig) Beside(ctx context.Context, log io.Writer, options Options) (*Rig, error) {
	other := &Rig{program: r.program, network: r.network, places: r.places}
	return other.started(ctx, log, options)
}

func (r *Rig) started(ctx context.Context, log io.Writer, options Options) (*Rig, error) {
	if err := r.start(ctx, log, options); err != nil {
		return nil, errors.Join(fmt.Errorf("starting the rig: %w", err), r.Close())
	}
	return r, nil
}

func (r *Rig) start(ctx context.Context, log io.Writer, options Options) error {
	dir, err := os.MkdirTemp("", "kureka-stage-")
	if err != nil {
		return fmt.Errorf("creating a temporary folder: %w", err)
	}
	r.dir = dir
	r.keep(func() error { return os.RemoveAll(dir) })
	binaries, err := controlplane.Ensure(ctx, log)
	if err != nil {
		return err
	}
	timers := controlplane.Stock
	if options.Compressed {
		timers = controlplane.Compressed
	}
	r.Plane, err = controlplane.Start(ctx, controlplane.Options{
		Binaries: binaries,
		Dir:      filepath.Join(dir, "controlplane"),
		Timers:   timers,

		APIServerArgs:         options.APIServerArgs,
		ControllerManagerArgs: options.ControllerManagerArgs,
	})
	if err != nil {
		return err
	}
	r.keep(r.Plane.Stop)
	if r.Client, err = kubernetes.NewForConfig(r.Plane.Config()); err != nil {
		return fmt.Errorf("making the rig's client: %w", err)
	}
	return r.createNamespace(ctx, SystemNamespace)
}

func (r *Rig) createNamespace(ctx context.Context, name string) error {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	_, err := r.Client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("creating namespace %s: %w", name, err)
	}
	return nil
}

// keep has something closed with the rig, the last first.
func (r *Rig) keep(closer func() error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closers = append(r.closers, closer)
}

// Close ends everything the rig started and removes its folder.
func (r *Rig) Close() error {
	r.mu.Lock()
	closers := r.closers
	r.closers = nil
	r.mu.Unlock()
	var errs []error
	for _, closer := range slices.Backward(closers) {
		errs = append(errs, closer())
	}
	return errors.Join(errs...)
}

// Reduced says why some addresses are not as in a cluster, "" if they are.
func (r *Rig) Reduced() string {
	if r.network == "10.99" {
		return ""
	}
	return "this machine gives no user namespace, so the pods have loopback addresses, which EndpointSlices refuse"
}

// Proxy stands between somebody and an HTTP server, on an address of its own. The
// caller stops it, or the rig does when it is closed.
func (r *Rig) Proxy(ctx context.Context, upstream *rest.Config) (*faultproxy.Proxy, error) {
	options := faultproxy.Options{Address: r.ServerAddress(), Upstream: upstream}
	if strings.HasPrefix(upstream.Host, "https:") {
		var err error
		if options.Certificate, err = r.Plane.ServingCertificate(netip.MustParseAddr(options.Address)); err != nil {
			return nil, err
		}
	}
	p, err := faultproxy.Start(ctx, options)
	if err != nil {
		return nil, err
	}
	r.keep(func() error { p.Stop(); return nil })
	return p, nil
}

// ServerAddress is an address for an operator, for what stands before one or in its
// place. Each call gives another.
func (r *Rig) ServerAddress() string { return r.address(0, int(r.places.operators.Add(1))) }

// address is an address of the rig's network.
func (r *Rig) address(third, fourth int) string {
	return fmt.Sprintf("%s.%d.%d", r.network, third, fourth)
}
