package pods

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/kureka/kureka/test/conformance"
	"github.com/kureka/kureka/test/rig/java"
	"github.com/kureka/kureka/test/rig/netns"
	"github.com/kureka/kureka/test/rig/stage"
)

var withClients = flag.Bool("clients", false, "build the application and run it in pods")

// applicationEnv carries the command line into the network namespace, which has no
// way out to build anything.
const applicationEnv = "KUREKA_ORDERS"

// shared is what all tests play on, applications what runs in its pods.
var (
	shared       stage.Setting
	applications *java.Runtime
)

func TestMain(m *testing.M) {
	flag.Parse()
	if !*withClients {
		os.Exit(m.Run())
	}
	if err := prepare(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(stage.Run(m, stage.Options{}, start))
}

func prepare() error {
	if netns.Inside() {
		return nil
	}
	shop, err := conformance.OpenWorkshop("..")
	if err != nil {
		return err
	}
	argv, err := conformance.JavaProgram(context.Background(), shop, os.Stderr, "orders", "dev.kureka.conformance.orders.OrdersApplication")
	if err != nil {
		return err
	}
	encoded, err := json.Marshal(argv)
	if err != nil {
		return fmt.Errorf("encoding the command line: %w", err)
	}
	return os.Setenv(applicationEnv, string(encoded))
}

func start(ctx context.Context, rig *stage.Rig) error {
	_, err := envtest.InstallCRDs(rig.Plane.Config(), envtest.CRDInstallOptions{
		Paths: []string{filepath.Join("..", "..", "..", "config", "crd", "bases")}, ErrorIfPathMissing: true,
	})
	if err != nil {
		return fmt.Errorf("installing the custom resources: %w", err)
	}
	operator, err := rig.StartManager(ctx, stage.OperatorOptions{Name: "kureka", Gate: "Off"})
	if err != nil {
		return err
	}
	var argv []string
	if err := json.Unmarshal([]byte(os.Getenv(applicationEnv)), &argv); err != nil {
		return fmt.Errorf("decoding the command line: %w", err)
	}
	applications = &java.Runtime{
		Programs: map[string][]string{"orders": argv}, Registry: operator.URL(), ProbeEvery: 300 * time.Millisecond,
	}
	shared = stage.Setting{Rig: rig, Operator: operator, Runtime: applications}
	return nil
}
