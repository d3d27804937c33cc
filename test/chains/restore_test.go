package chains

import (
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kureka/kureka/test/rig/stage"
)

// etcd is restored from a backup. Resource versions go back, so that a watch that
// goes on from the last one it saw hears nothing until they have caught up, which
// can take days. A pod that died after the backup is in the API again; one that
// came after it is not, though its process lives.
func TestEtcdRestored(t *testing.T) {
	c := begin(t, plan{alone: true})
	pods := c.pods(0, 0, 1, 1)
	c.fresh(true)
	c.Timeline.Mark("etcd is backed up")
	c.must(c.Rig.Plane.Backup())
	c.crash(pods[0])
	c.await(stage.Gone, pods[0])
	young := c.pod(c.app+"-young", 1)
	c.ready(young)
	c.spend(1500)

	c.Timeline.Mark("etcd is restored")
	restored := time.Now()
	c.must(c.Rig.Plane.Restore(t.Context()))
	c.Timeline.Add("api", "the API server is ready again")
	c.await(stage.Gone, young)
	c.because("removed", "PodGone", young)
	c.measured("etcd restored, instance of a pod that is not in the backup gone", restored, stage.Gone, young)
	c.fresh(true)
	c.courses(up, pods[1:]...)
	c.untouched(pods[1:]...)
	c.Timeline.Mark("a death is seen again")
	c.crash(pods[1])
	c.await(stage.Gone, pods[1])
	c.because("removed", "PodGone", pods[1])
	c.courses(up, pods[2:]...)
	c.untouched(pods[2:]...)
	// Its object is back, so its kubelet runs it again: a process that lives. The dead
	// pod's UID is fenced, so it is only listed if it comes while the view is stale,
	// when nobody can tell whose its address is.
	if course := c.view.Leaving(pods[0].ID); course != "UP > gone" && course != "UP > gone > UP" {
		t.Errorf("the one that died after the backup was %q", course)
	}
}

// spend uses up resource versions.
func (c *chain) spend(n int) {
	c.t.Helper()
	maps := c.Rig.Client.CoreV1().ConfigMaps(c.Namespace)
	m, err := maps.Create(c.t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "spent"}}, metav1.CreateOptions{})
	c.must(err)
	for i := range n {
		m.Data = map[string]string{"spent": strconv.Itoa(i)}
		m, err = maps.Update(c.t.Context(), m, metav1.UpdateOptions{})
		c.must(err)
	}
}
