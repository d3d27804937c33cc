package chains

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/kureka/kureka/test/rig/stage"
)

// grants are what an operator's user may do: what the product's manifests grant its
// service account, or less.
type grants string

const (
	withPods    grants = "pods\n"
	withoutPods grants = "podtemplates\n" // something it does not ask for
)

// limitedUser returns a user with the rights of the manifests and no others.
func limitedUser(ctx context.Context, rig *stage.Rig, name string) (*rest.Config, error) {
	if err := permit(ctx, rig, name, withPods); err != nil {
		return nil, err
	}
	return rig.Plane.AddUser(name)
}

// permit changes what the user of the chain's operator may do.
func (c *chain) permit(g grants) {
	c.t.Helper()
	c.must(permit(c.t.Context(), c.Rig, nameOf(c.t), g))
}

// permit applies the roles of the product's manifests under a name of the user's.
func permit(ctx context.Context, rig *stage.Rig, user string, g grants) error {
	roles, err := os.ReadFile(filepath.Join("..", "..", "config", "rbac", "role.yaml"))
	if err != nil {
		return fmt.Errorf("reading the roles: %w", err)
	}
	manifest := strings.ReplaceAll(string(roles), "name: kureka\n", "name: "+user+"\n")
	manifest = strings.ReplaceAll(manifest, "- kureka\n", "- "+user+"\n") // its Lease has its name, too
	manifest = strings.ReplaceAll(manifest, "- pods\n", "- "+string(g))
	return apply(ctx, rig, manifest+
		fmt.Sprintf(binding, "ClusterRoleBinding", user, "", "ClusterRole", user)+
		fmt.Sprintf(binding, "RoleBinding", user, ", namespace: "+stage.SystemNamespace, "Role", user)+
		fmt.Sprintf(binding, "RoleBinding", user, ", namespace: kube-node-lease", "Role", user))
}

const binding = `
---
apiVersion: rbac.authorization.k8s.io/v1
kind: %s
metadata: {name: %s%s}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: %s, name: %s}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: %[2]s}]
`

// All rights are taken away in the middle of everything, and granted again. A pod
// dies meanwhile.
func TestRightsRevoked(t *testing.T) {
	c := begin(t, plan{proxied: true, user: true})
	c.lease = time.Minute
	pods := c.pods(0, 0, 1, 1)
	c.fresh(true)
	c.Timeline.Mark("all rights are revoked")
	c.must(deleteBindings(t.Context(), c.Rig, nameOf(t)))
	c.must(c.proxy.Cut(t.Context())) // rights are asked when a watch begins
	c.until("the operator to say what it may not do", func() bool {
		v, err := c.Operator.View(t.Context())
		problems := 0
		for _, w := range v.Watches {
			if strings.Contains(w.Problem, "not allowed") {
				problems++
			}
		}
		return err == nil && !v.Fresh && problems == len(v.Watches)
	})
	c.crash(pods[0])
	c.pass(5 * time.Second)
	c.courses(up, pods[1:]...)

	c.Timeline.Mark("the rights are granted again")
	granted := time.Now()
	c.permit(withPods)
	c.fresh(true)
	c.t.Logf("measured: rights granted again, view fresh: %s", time.Since(granted).Round(10*time.Millisecond))
	c.await(stage.Gone, pods[0])
	c.because("removed", "PodGone", pods[0])
	c.courses(up, pods[1:]...)
	c.untouched(pods[1:]...)
	c.Timeline.Mark("a death is seen again")
	c.crash(pods[1])
	c.await(stage.Gone, pods[1])
	c.because("removed", "PodGone", pods[1])
	c.courses(up, pods[2:]...)
}

func deleteBindings(ctx context.Context, rig *stage.Rig, user string) error {
	rbac := rig.Client.RbacV1()
	if err := rbac.ClusterRoleBindings().Delete(ctx, user, metav1.DeleteOptions{}); err != nil {
		return fmt.Errorf("revoking rights: %w", err)
	}
	for _, namespace := range []string{stage.SystemNamespace, "kube-node-lease"} {
		if err := rbac.RoleBindings(namespace).Delete(ctx, user, metav1.DeleteOptions{}); err != nil {
			return fmt.Errorf("revoking rights: %w", err)
		}
	}
	return nil
}
