package app

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/wait"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/kureka/kureka/api/v1alpha1"
	"github.com/kureka/kureka/test/rig/controlplane"
)

// shop is a namespace on a real control plane, with pods that have no client and a
// registry that watches them.
type shop struct {
	t     *testing.T
	plane *controlplane.ControlPlane
	admin client.Client
	opts  Options
	app   *App
	stop  func() error
}

const shopNode = "n1"

func openShop(t *testing.T) *shop {
	t.Helper()
	plane := controlplane.StartFor(t, controlplane.Options{})
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{v1alpha1.AddToScheme, clientscheme.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	s := &shop{t: t, plane: plane}
	var err error
	s.admin, err = client.New(plane.Config(), client.Options{Scheme: scheme})
	s.must(err)
	_, err = envtest.InstallCRDs(plane.Config(), envtest.CRDInstallOptions{
		Paths: []string{filepath.Join("..", "..", "config", "crd", "bases")}, ErrorIfPathMissing: true, MaxTime: time.Minute,
	})
	s.must(err)
	s.must(s.admin.Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name: shopNode, Labels: map[string]string{corev1.LabelTopologyZone: "eu-1"},
	}}))
	s.opts = options(Manager)
	s.opts.Kubeconfig, s.opts.Namespace = filepath.Join(t.TempDir(), "kubeconfig"), metav1.NamespaceDefault
	s.opts.WebhookAddr, s.opts.RegistryClass = "0", "ours"
	s.must(plane.Kubeconfig(s.opts.Kubeconfig))
	s.open()
	return s
}

// open starts a registry that knows nothing.
func (s *shop) open() { s.app, s.stop = start(s.t, s.opts) }

func (s *shop) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// eventually polls until the condition holds. The deadline is for a test that
// fails; nothing is concluded from how long it took.
func (s *shop) eventually(what string, condition func() bool) {
	s.t.Helper()
	err := wait.PollUntilContextTimeout(s.t.Context(), 10*time.Millisecond, 90*time.Second, true,
		func(context.Context) (bool, error) { return condition(), nil })
	if err != nil {
		s.t.Fatalf("waited in vain until %s; the registry shows %s", what, s.read("/eureka/apps", "application/json"))
	}
}

// runPod creates a pod that is ready, as a kubelet would leave it.
func (s *shop) runPod(name, ip string, labels, annotations map[string]string) *corev1.Pod {
	s.t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: metav1.NamespaceDefault, Labels: labels, Annotations: annotations},
		Spec: corev1.PodSpec{NodeName: shopNode, Containers: []corev1.Container{{
			Name: "app", Image: "app", Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080}},
		}}},
	}
	s.must(s.admin.Create(s.t.Context(), pod))
	s.status(pod, ip, "c1", true)
	return pod
}

func (s *shop) status(pod *corev1.Pod, ip, container string, ready bool) {
	s.t.Helper()
	is := corev1.ConditionFalse
	if ready {
		is = corev1.ConditionTrue
	}
	pod.Status = corev1.PodStatus{
		Phase: corev1.PodRunning, PodIP: ip, PodIPs: []corev1.PodIP{{IP: ip}},
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: is}, {Type: corev1.ContainersReady, Status: is}},
		ContainerStatuses: []corev1.ContainerStatus{{
			Name: "app", ContainerID: "test://" + pod.Name + "-" + container, Ready: ready,
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
		}},
	}
	s.must(s.admin.Status().Update(s.t.Context(), pod))
}

// edit changes a pod's metadata.
func (s *shop) edit(pod *corev1.Pod, change func(*corev1.Pod)) {
	s.t.Helper()
	before := pod.DeepCopy()
	change(pod)
	s.must(s.admin.Patch(s.t.Context(), pod, client.MergeFrom(before)))
}

func (s *shop) read(path, accept string) string {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, "http://"+s.app.Addr().String()+path, http.NoBody)
	s.must(err)
	req.Header.Set("Accept", accept)
	resp, err := web.Do(req)
	s.must(err)
	body, err := io.ReadAll(resp.Body)
	s.must(err)
	s.must(resp.Body.Close())
	return string(body)
}

// listed is what clients read about one instance.
type listed struct {
	ID       string            `json:"instanceId"`
	Host     string            `json:"hostName"`
	IP       string            `json:"ipAddr"`
	Status   string            `json:"status"`
	VIP      string            `json:"vipAddress"`
	Health   string            `json:"healthCheckUrl"`
	Action   string            `json:"actionType"`
	Metadata map[string]string `json:"metadata"`
	Port     struct {
		Number  int    `json:"$"`
		Enabled string `json:"@enabled"`
	} `json:"port"`
}

// find returns an instance of a list or delta as JSON clients read it, nil if it is
// not there.
func (s *shop) find(path, id string) *listed {
	s.t.Helper()
	var doc struct {
		Applications struct {
			Application []struct {
				Instance []listed `json:"instance"`
			} `json:"application"`
		} `json:"applications"`
	}
	if json.Unmarshal([]byte(s.read(path, "application/json")), &doc) != nil {
		return nil
	}
	for _, app := range doc.Applications.Application {
		for _, i := range app.Instance {
			if i.ID == id {
				return &i
			}
		}
	}
	return nil
}

// shows waits until the list shows an instance with a status, "" for not at all.
func (s *shop) shows(id, status string) {
	s.t.Helper()
	s.eventually(fmt.Sprintf("%s is %q", id, status), func() bool {
		i := s.find("/eureka/apps", id)
		return i == nil && status == "" || i != nil && i.Status == status
	})
}

// images registers the pods with a label.
func images() *v1alpha1.EurekaRegistration {
	http := intstr.FromString("http")
	return &v1alpha1.EurekaRegistration{
		ObjectMeta: metav1.ObjectMeta{Name: "images", Namespace: metav1.NamespaceDefault},
		Spec: v1alpha1.EurekaRegistrationSpec{
			App: "images", Port: &http,
			Selector:           &v1alpha1.PodSelector{MatchLabels: map[string]v1alpha1.LabelValue{"app": "images"}},
			Metadata:           map[string]v1alpha1.MetadataValue{"team": "media"},
			MetadataFromLabels: []v1alpha1.MetadataFromLabel{{Label: "version"}},
			Paths:              &v1alpha1.Paths{HealthCheck: "/healthz"},
		},
	}
}

// comparesEverywhere looks at the first pod as clients read it, in lists and deltas,
// as JSON and XML.
func (s *shop) comparesEverywhere(id string) {
	s.t.Helper()
	want := listed{
		ID: id, Host: "10.99.1.1", IP: "10.99.1.1", Status: "UP", VIP: "images", Health: "http://10.99.1.1:8080/healthz",
		Metadata: map[string]string{"zone": "eu-1", "team": "media", "version": "v7"},
	}
	want.Port.Number, want.Port.Enabled = 8080, "true"
	for _, path := range []string{"/eureka/apps", "/eureka/apps/delta"} {
		i := s.find(path, id)
		if i == nil {
			s.t.Fatalf("%s lacks it: %s", path, s.read(path, "application/json"))
		}
		got := *i
		got.Action = ""
		if d := cmp.Diff(want, got); d != "" {
			s.t.Errorf("%s (-want +got)\n%s", path, d)
		}
		xml := s.read(path, "application/xml")
		for _, want := range []string{
			"<instanceId>" + id + "</instanceId>", "<ipAddr>10.99.1.1</ipAddr>", `<port enabled="true">8080</port>`, "<zone>eu-1</zone>", "<status>UP</status>",
		} {
			if !strings.Contains(xml, want) {
				s.t.Errorf("%s as XML lacks %s", path, want)
			}
		}
	}
}

// tellsAbout compares what the status and the explanation say.
func (s *shop) tellsAbout(registration *v1alpha1.EurekaRegistration, id string) {
	s.t.Helper()
	s.eventually("the status says so", func() bool {
		s.must(s.admin.Get(s.t.Context(), client.ObjectKeyFromObject(registration), registration))
		st := registration.Status
		return st.RegisteredInstances != nil && *st.RegisteredInstances == 1 && *st.MatchedPods == 1 && condition(registration, "Ready") == "Registered"
	})
	if body := s.read("/kureka/v1/instances/images/"+id, ""); !strings.Contains(body, `"keptBy": "EurekaRegistration default/images"`) {
		s.t.Errorf("explained as %s", body)
	}
}

func TestPodsWithoutAClientAreListedToEveryClient(t *testing.T) {
	s := openShop(t)
	pod := s.runPod("images-1", "10.99.1.1", map[string]string{"app": "images", "version": "v7"}, nil)
	registration := images()
	s.must(s.admin.Create(t.Context(), registration))
	const id = "images-1.default:images"
	s.shows(id, "UP")

	s.comparesEverywhere(id)
	s.tellsAbout(registration, id)

	// Its container restarts.
	s.status(pod, "10.99.1.1", "c2", false)
	s.shows(id, "STARTING")
	s.status(pod, "10.99.1.1", "c2", true)
	s.shows(id, "UP")

	// The registry restarts and knows it from the first list.
	s.must(s.stop())
	s.open()
	s.shows(id, "UP")

	// It leaves the selector, which a delta tells.
	s.edit(pod, func(p *corev1.Pod) { p.Labels["app"] = "other" })
	s.shows(id, "")
	if i := s.find("/eureka/apps/delta", id); i == nil || i.Action != "DELETED" {
		t.Errorf("the delta shows %+v", i)
	}
	s.edit(pod, func(p *corev1.Pod) { p.Labels["app"] = "images" })
	s.shows(id, "UP")

	// It is evicted: out at once, gone with its object.
	s.must(s.admin.SubResource("eviction").Create(t.Context(), pod, &policyv1.Eviction{}))
	s.shows(id, "OUT_OF_SERVICE")
	s.must(s.admin.Delete(t.Context(), pod, client.GracePeriodSeconds(0)))
	s.shows(id, "")

	// The registration is deleted.
	s.runPod("images-2", "10.99.1.2", map[string]string{"app": "images"}, nil)
	s.shows("images-2.default:images", "UP")
	s.must(s.admin.Delete(t.Context(), registration))
	s.shows("images-2.default:images", "")
}

// condition returns the reason of a condition.
func condition(r *v1alpha1.EurekaRegistration, kind string) string {
	for _, c := range r.Status.Conditions {
		if c.Type == kind {
			return c.Reason
		}
	}
	return ""
}

func TestPodsOfAServiceAndByAnnotationsAreListed(t *testing.T) {
	s := openShop(t)
	port := intstr.FromInt32(8080)
	registration := &v1alpha1.EurekaRegistration{
		ObjectMeta: metav1.ObjectMeta{Name: "payments", Namespace: metav1.NamespaceDefault},
		Spec:       v1alpha1.EurekaRegistrationSpec{App: "payments", ServiceName: "payments", Port: &port},
	}
	s.must(s.admin.Create(t.Context(), registration))
	foreign := images()
	foreign.Spec.RegistryClassName = "theirs"
	s.must(s.admin.Create(t.Context(), foreign))
	s.runPod("images-1", "10.99.1.9", map[string]string{"app": "images"}, nil)
	s.eventually("the missing Service is told", func() bool {
		s.must(s.admin.Get(t.Context(), client.ObjectKeyFromObject(registration), registration))
		return condition(registration, "Ready") == "ServiceNotFound"
	})
	a := s.runPod("a", "10.99.1.1", map[string]string{"app": "payments"}, nil)
	s.runPod("b", "10.99.1.2", map[string]string{"app": "payments"}, nil)
	s.must(s.admin.Create(t.Context(), &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "payments", Namespace: metav1.NamespaceDefault},
		Spec:       corev1.ServiceSpec{Selector: map[string]string{"app": "payments"}, Ports: []corev1.ServicePort{{Port: 80, TargetPort: port}}},
	}))
	s.shows("a.default:payments", "UP")
	s.shows("b.default:payments", "UP")

	// Asked out of service, and back.
	s.edit(a, func(p *corev1.Pod) { p.Annotations = map[string]string{"kureka.dev/status": "OutOfService"} })
	s.shows("a.default:payments", "OUT_OF_SERVICE")
	s.edit(a, func(p *corev1.Pod) { p.Annotations = nil })
	s.shows("a.default:payments", "UP")
	s.edit(a, func(p *corev1.Pod) {
		end := time.Now().Add(5 * time.Second).UTC().Format(time.RFC3339Nano)
		p.Annotations = map[string]string{"kureka.dev/status": "OutOfService", "kureka.dev/status-until": end}
	})
	s.shows("a.default:payments", "OUT_OF_SERVICE")
	s.shows("a.default:payments", "UP") // nobody takes the annotations away

	// One registers itself: one instance, the client's.
	code, _ := ask(t, s.app.Addr(), http.MethodPost, "/eureka/apps/PAYMENTS", strings.Replace(demoBody("b", "10.99.1.2"), `"DEMO"`, `"PAYMENTS"`, 1))
	if code != http.StatusNoContent {
		t.Fatalf("registering: %d", code)
	}
	s.shows("b", "UP")
	s.shows("b.default:payments", "")

	// By annotations, and wrong ones.
	c := s.runPod("c", "10.99.1.3", nil, map[string]string{"kureka.dev/app": "orders", "kureka.dev/port": "nonsense port"})
	s.eventually("an Event tells of the wrong annotation", func() bool {
		var events corev1.EventList
		s.must(s.admin.List(t.Context(), &events))
		for _, e := range events.Items {
			if e.InvolvedObject.UID == c.UID && e.Reason == "AnnotationInvalid" && e.Type == corev1.EventTypeWarning && strings.Contains(e.Message, "kureka.dev/port") {
				return true
			}
		}
		return false
	})
	if body := s.read("/kureka/v1/pods/default/c", ""); !strings.Contains(body, "nonsense port") {
		t.Errorf("explained as %s", body)
	}
	s.edit(c, func(p *corev1.Pod) { p.Annotations["kureka.dev/port"] = "http" })
	s.shows("c.default:orders", "UP")
	if s.find("/eureka/apps", "images-1.default:images") != nil {
		t.Error("a registration for another installation is used")
	}
}
