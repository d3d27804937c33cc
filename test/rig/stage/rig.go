package stage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kureka/kureka/test/rig/controlplane"
	"github.com/kureka/kureka/test/rig/netns"
)

// Rig is what all scenes of a run share. Its methods may be called from several
// goroutines.
type Rig struct {
	Plane  *controlplane.ControlPlane
	Client kubernetes.Interface // an administrator's

	dir       string
	program   string // the product
	network   string // the first two numbers of every address
	stages    atomic.Int32
	operators atomic.Int32

	mu      sync.Mutex
	closers []func() error
}

// Options say what control plane a rig has.
type Options struct {
	// Compressed makes the node controllers hasty; else their timers are those of
	// a cluster.
	Compressed bool
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
	r := &Rig{program: program, network: "10.99"}
	if !netns.Inside() {
		r.network = "127.99"
	}
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

// address is an address of the rig's network.
func (r *Rig) address(third, fourth int) string {
	return fmt.Sprintf("%s.%d.%d", r.network, third, fourth)
}
