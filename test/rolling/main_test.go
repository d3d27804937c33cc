package rolling

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
	"github.com/kureka/kureka/test/rig/netns"
	"github.com/kureka/kureka/test/rig/stage"
)

var (
	withClients = flag.Bool("clients", false, "build the applications and restart them; minutes for each test")
	instances   = flag.Int("instances", 12, "instances of the application, each of which is restarted")
	surge       = flag.String("surge", "25%", "maxSurge of its Deployment; maxUnavailable is 0")
	rate        = flag.Int("rate", 50, "calls a second")
)

// programsEnv carries the command lines into the network namespace, which has no
// way out to build anything.
const programsEnv = "KUREKA_ROLLING"

// programs are command lines, by image.
type programs map[string][]string

// The images.
const (
	ordersImage  = "orders"
	gatewayImage = "gateway"
	eurekaImage  = "eureka"
)

// shared is what all tests play on, and what they have counted.
var shared struct {
	rig      *stage.Rig
	programs programs
	report   report
}

// services begins the addresses of Services, by which the control plane calls
// webhooks and nodes call hooks.
const services = "10.99.250"

func TestMain(m *testing.M) {
	flag.Parse()
	if !*withClients {
		os.Exit(m.Run())
	}
	if err := prepare(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := stage.Run(m, stage.Options{APIServerArgs: []string{"--service-cluster-ip-range=" + services + ".0/24"}}, start)
	fmt.Print(shared.report.String())
	os.Exit(code)
}

// prepare builds everything, outside the namespace.
func prepare(ctx context.Context) error {
	if netns.Inside() {
		return nil
	}
	shop, err := conformance.OpenWorkshop(filepath.Join("..", "conformance"))
	if err != nil {
		return err
	}
	built := programs{}
	for image, main := range map[string]string{
		ordersImage:  "dev.kureka.conformance.orders.OrdersApplication",
		gatewayImage: "dev.kureka.conformance.gateway.GatewayLane",
	} {
		if built[image], err = conformance.JavaProgram(ctx, shop, os.Stderr, image, main); err != nil {
			return err
		}
	}
	// Two dozen of these run at a time.
	last := len(built[ordersImage]) - 1
	built[ordersImage] = append(built[ordersImage][:last:last], "-Xmx64m", built[ordersImage][last])
	jar, err := conformance.ReferenceServer(ctx, shop, os.Stderr)
	if err != nil {
		return err
	}
	built[eurekaImage] = []string{"java", "-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-jar", jar}
	encoded, err := json.Marshal(built)
	if err != nil {
		return fmt.Errorf("encoding the command lines: %w", err)
	}
	return os.Setenv(programsEnv, string(encoded))
}

// start installs what Kureka needs in the cluster.
func start(ctx context.Context, rig *stage.Rig) error {
	if why := rig.Reduced(); why != "" {
		return fmt.Errorf("starting the rig: %s", why)
	}
	if err := json.Unmarshal([]byte(os.Getenv(programsEnv)), &shared.programs); err != nil {
		return fmt.Errorf("decoding the command lines: %w", err)
	}
	shared.rig = rig
	_, err := envtest.InstallCRDs(rig.Plane.Config(), envtest.CRDInstallOptions{
		Paths: []string{manifests("crd", "bases")}, ErrorIfPathMissing: true, MaxTime: time.Minute,
	})
	if err != nil {
		return fmt.Errorf("installing the custom resources: %w", err)
	}
	return installWebhook(ctx, rig)
}

// manifests is a path in the folder that Kureka is installed from.
func manifests(path ...string) string {
	return filepath.Join(append([]string{"..", "..", "config"}, path...)...)
}
