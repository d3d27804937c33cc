package rolling

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/kureka/kureka/test/rig/instance/child"
)

// startEureka starts the server of Spring Cloud Netflix with its response cache and
// self-preservation, which the oracle runs without, and returns the base URL of its
// API when it answers.
func (w *world) startEureka() string {
	w.Helper()
	address := shared.rig.ServerAddress()
	millis := func(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }
	argv := slices.Concat(shared.programs[eurekaImage], []string{
		"--server.address=" + address, "--server.port=8761", "--server.tomcat.threads.max=50",
		"--reference.uncached=false",
		"--eureka.server.use-read-only-response-cache=true",
		"--eureka.server.response-cache-update-interval-ms=" + millis(w.timing.response),
		"--eureka.server.enable-self-preservation=true",
		"--eureka.server.renewal-percent-threshold=" + w.timing.threshold,
		"--eureka.server.eviction-interval-timer-in-ms=" + millis(w.timing.eviction),
	})
	log, err := os.Create(filepath.Join(w.TempDir(), "eureka.log"))
	w.must(err)
	defer func() { _ = log.Close() }()        // the server has a copy of its own
	cmd := exec.Command(argv[0], argv[1:]...) //nolint:noctx // it lives until it is killed
	cmd.Stdout, cmd.Stderr = log, log
	p, err := child.Start(cmd)
	w.must(err)
	w.Cleanup(p.Kill)
	url := "http://" + address + ":8761/eureka"
	w.eventually("the Eureka server to answer", func(ctx context.Context) (bool, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/apps", nil)
		if err != nil {
			return false, err
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return false, err
		}
		res.Body.Close()
		return res.StatusCode == http.StatusOK, nil
	})
	return url
}
