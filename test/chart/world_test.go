package chart

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/util/cert"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kureka/kureka/api/v1alpha1"
	"github.com/kureka/kureka/test/rig/controlplane"
	"github.com/kureka/kureka/test/rig/kubelet"
	"github.com/kureka/kureka/test/rig/markdown"
)

const (
	nodeName = "node-1"
	apiPort  = "8761"
	user     = "orders"
	password = "secret"
	// patience bounds every wait.
	patience = time.Minute
)

// world is an empty cluster with one node.
type world struct {
	t          *testing.T
	client     kubernetes.Interface
	api        client.Client // knows the custom resources, too
	kubeconfig string
	chart      string // what is installed
	node       *node
	web        *http.Client
	secured    bool // the API is encrypted and asks for a password
}

func newWorld(t *testing.T) *world {
	t.Helper()
	// There is no kube-proxy, so the API server calls the webhook's pod itself.
	plane := controlplane.StartFor(t, controlplane.Options{APIServerArgs: []string{"--enable-aggregator-routing=true"}})
	w := &world{t: t, chart: chartPath, web: &http.Client{Timeout: 5 * time.Second}, kubeconfig: filepath.Join(t.TempDir(), "kubeconfig")}
	w.must(plane.Kubeconfig(w.kubeconfig))
	var err error
	w.client, err = kubernetes.NewForConfig(plane.Config())
	w.must(err)
	kinds := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{scheme.AddToScheme, v1alpha1.AddToScheme} {
		w.must(add(kinds))
	}
	config := plane.Config()
	config.WarningHandler = warnings{t}
	w.api, err = client.New(config, client.Options{Scheme: kinds})
	w.must(err)
	w.node = &node{plane: plane, client: w.client, dir: t.TempDir(), program: os.Getenv("KUREKA_PROGRAM")}
	k, err := kubelet.New(plane.Config(), kubelet.Options{
		Name: nodeName, NodeIP: "10.99.0.10", PodCIDR: "10.99.1.0/24", Runtime: w.node,
		LeaseDuration: 2 * time.Second, Timings: kubelet.FastTimings(),
	})
	w.must(err)
	w.must(k.Start(t.Context()))
	t.Cleanup(func() {
		k.Stop()
		w.node.volumes.Wait()
	})
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("what the processes logged:\n%s", w.node.text())
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		schedule(ctx, w.client, nodeName)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	return w
}

// warnings of the API server are failures.
type warnings struct{ t *testing.T }

// HandleWarningHeader implements rest.WarningHandler.
func (w warnings) HandleWarningHeader(_ int, _, text string) {
	w.t.Errorf("the API server warns: %s", text)
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// eventually waits until a condition holds. The error it may return says what is
// still missing.
func (w *world) eventually(what string, holds func() error) {
	w.t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(w.t.Context(), probeEvery, patience, true, func(context.Context) (bool, error) {
		last = holds()
		return last == nil, nil
	})
	if err != nil {
		w.t.Fatalf("%s: never: %v", what, last)
	}
}

// documented runs the commands below a heading of docs/install.md that are marked to
// be run, with more arguments for Helm.
func (w *world) documented(heading string, more ...string) {
	w.t.Helper()
	page, err := markdown.Read(root + "/docs/install.md")
	w.must(err)
	blocks := page.Below(heading, "run")
	if len(blocks) == 0 {
		w.t.Fatalf("docs/install.md has no commands below %q", heading)
	}
	for _, b := range blocks {
		for line := range strings.Lines(b.Text) {
			switch args := strings.Fields(line); args[0] {
			case "helm":
				w.helm(append(args[1:], more...)...)
			case "kubectl":
				w.kubectl(args[1:]...)
			default:
				w.t.Fatalf("docs/install.md: this test cannot run %q", line)
			}
		}
	}
}

// helm runs Helm as an administrator.
func (w *world) helm(args ...string) string {
	w.t.Helper()
	for i, arg := range args {
		if arg == "charts/kureka" {
			args[i] = w.chart
		}
	}
	start := time.Now()
	out, err := helm(w.t, "", append(args, "--kubeconfig", w.kubeconfig)...)
	if err != nil {
		w.t.Fatalf("helm %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	w.t.Logf("helm %s took %s", args[0], time.Since(start).Round(100*time.Millisecond))
	return out
}

// kubectl runs it as an administrator.
func (w *world) kubectl(args ...string) {
	w.t.Helper()
	cmd := exec.CommandContext(w.t.Context(), program(w.t, "kubectl"), append(args, "--kubeconfig", w.kubeconfig, "--cache-dir", w.t.TempDir())...)
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func (w *world) namespace(name string, labels map[string]string) {
	w.t.Helper()
	w.must(w.api.Create(w.t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}))
}

// registry is the only pod of the release that lives.
func (w *world) registry() (*corev1.Pod, error) {
	pods, err := w.client.CoreV1().Pods(systemNamespace).List(w.t.Context(), metav1.ListOptions{LabelSelector: "app.kubernetes.io/name=kureka"})
	if err != nil {
		return nil, err
	}
	if len(pods.Items) != 1 || pods.Items[0].DeletionTimestamp != nil {
		return nil, fmt.Errorf("there are %d pods, or it is being deleted", len(pods.Items))
	}
	return &pods.Items[0], nil
}

// ask sends a request to a port of the registry's pod.
func (w *world) ask(method, port, path, body string) (code int, text string, err error) {
	pod, err := w.registry()
	if err != nil {
		return 0, "", err
	}
	url := "http://" + net.JoinHostPort(pod.Status.PodIP, port) + path
	if w.secured && port == apiPort {
		url = strings.Replace(url, "http:", "https:", 1)
	}
	req, err := http.NewRequestWithContext(w.t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	if w.secured {
		req.SetBasicAuth(user, password)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	resp, err := w.web.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = resp.Body.Close() }() // it was read
	content, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(content), err
}

// secrets makes the Secrets of an API that is encrypted and asks for a password.
func (w *world) secrets() {
	w.t.Helper()
	chain, key, err := cert.GenerateSelfSignedCertKey(objectName+"."+systemNamespace, nil, nil)
	w.must(err)
	hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
	w.must(err)
	for name, data := range map[string]map[string][]byte{
		"api-tls":   {"tls.crt": chain, "tls.key": key},
		"api-users": {"users": []byte(user + ":" + string(hash) + "\n")},
	} {
		w.must(w.api.Create(w.t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: systemNamespace, Name: name}, Data: data}))
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(chain)
	w.web.Transport = &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: objectName + "." + systemNamespace, MinVersion: tls.VersionTLS12},
	}
}
