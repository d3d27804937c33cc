package controlplane

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// shared is the control plane of all tests that leave it as they found it.
var shared *ControlPlane

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	cp, err := Start(context.Background(), Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	shared = cp
	code := m.Run()
	if err := cp.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

func TestAPIServerOutageKeepsObjectsAndCredentials(t *testing.T) {
	cp := shared
	client := newClient(t, cp.Config())
	want, err := client.CoreV1().ConfigMaps("default").Create(t.Context(),
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "kept"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		cp.StopAPIServer()
		if _, err := client.CoreV1().ConfigMaps("default").Get(t.Context(), "kept", metav1.GetOptions{}); err == nil {
			t.Fatal("the API server still answers after it was stopped")
		}
		if err := cp.StartAPIServer(t.Context()); err != nil {
			t.Fatal(err)
		}
		got, err := client.CoreV1().ConfigMaps("default").Get(t.Context(), "kept", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got.UID != want.UID {
			t.Errorf("UID after the outage = %s, want %s", got.UID, want.UID)
		}
	}
}

func TestFrozenAPIServerAcceptsAndStaysSilent(t *testing.T) {
	cp := shared
	client := newClient(t, cp.Config())
	cp.FreezeAPIServer()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{}); err == nil {
		t.Error("a frozen API server answered")
	}
	cp.ThawAPIServer()
	if _, err := client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Errorf("after the thaw: %v", err)
	}
}

func TestUsersHaveOnlyTheirRights(t *testing.T) {
	cp := shared
	user, err := cp.AddUser("ann", "readers")
	if err != nil {
		t.Fatal(err)
	}
	list := func() error {
		_, err := newClient(t, user).CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
		return err
	}
	if err := list(); !apierrors.IsForbidden(err) {
		t.Fatalf("listing nodes without a role: %v, want forbidden", err)
	}
	bindReaders(t, newClient(t, cp.Config()))
	err = wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, 20*time.Second, true,
		func(context.Context) (bool, error) { return list() == nil, nil })
	if err != nil {
		t.Errorf("listing nodes with a role: %v", list())
	}
}

func TestControllerManagerRuns(t *testing.T) {
	cp := shared
	client := newClient(t, cp.Config())
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, 30*time.Second, true,
		func(ctx context.Context) (bool, error) {
			_, err := client.CoreV1().ServiceAccounts("default").Get(ctx, "default", metav1.GetOptions{})
			return err == nil, nil
		})
	if err != nil {
		t.Errorf("the default service account did not appear: %v\n%s", err, cp.manager.logTail())
	}
}

func TestKubeconfigWorks(t *testing.T) {
	cp := shared
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := cp.Kubeconfig(path); err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := newClient(t, config).CoreV1().Nodes().List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Error(err)
	}
}

func TestRestoreGoesBack(t *testing.T) {
	cp, err := Start(t.Context(), Options{NoControllerManager: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cp.Stop() })
	client := newClient(t, cp.Config())
	// create returns the resource version of what it created.
	create := func(name string) int {
		created, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		version, err := strconv.Atoi(created.ResourceVersion)
		if err != nil {
			t.Fatal(err)
		}
		return version
	}
	create("before")
	if err := cp.Backup(); err != nil {
		t.Fatal(err)
	}
	after := create("after")
	for i := range 500 { // more than what a start of the API server writes
		after = create("after-" + strconv.Itoa(i))
	}
	if err := cp.Restore(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := client.CoreV1().ConfigMaps("default").Get(t.Context(), "before", metav1.GetOptions{}); err != nil {
		t.Errorf("what was backed up: %v", err)
	}
	if _, err := client.CoreV1().ConfigMaps("default").Get(t.Context(), "after", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("what came after the backup: %v, want not found", err)
	}
	if again := create("again"); again >= after {
		t.Errorf("resource version %d after the restore, %d before", again, after)
	}
}

func TestStopLeavesNothing(t *testing.T) {
	cp, err := Start(t.Context(), Options{NoControllerManager: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := cp.Stop(); err != nil {
		t.Fatal(err)
	}
	for _, p := range []*process{cp.etcd, cp.apiServer} {
		if err := syscall.Kill(p.pid, 0); err == nil {
			t.Errorf("%s is still there", p.name)
		}
	}
	if _, err := os.Stat(cp.dir); !os.IsNotExist(err) {
		t.Errorf("the folder is still there: %v", err)
	}
}

func TestFailedStartShowsTheLog(t *testing.T) {
	_, err := Start(t.Context(), Options{NoControllerManager: true, APIServerArgs: []string{"--no-such-flag"}})
	if err == nil || !strings.Contains(err.Error(), "unknown flag: --no-such-flag") {
		t.Errorf("Start() = %v, want the reason from the log", err)
	}
}

func newClient(t *testing.T, config *rest.Config) kubernetes.Interface {
	t.Helper()
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func bindReaders(t *testing.T, client kubernetes.Interface) {
	t.Helper()
	name := metav1.ObjectMeta{Name: "node-readers"}
	role := &rbacv1.ClusterRole{ObjectMeta: name, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"nodes"}, Verbs: []string{"list"}},
	}}
	if _, err := client.RbacV1().ClusterRoles().Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: name,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: "readers"}},
	}
	if _, err := client.RbacV1().ClusterRoleBindings().Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}
