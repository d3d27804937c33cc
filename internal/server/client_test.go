package server

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// javaClient keeps a registry the way the Java client does, with its habit of
// taking over a delta's own application when it knows none of that name.
type javaClient struct {
	apps    map[string]map[string]string // application, id, status
	full    int                          // full fetches
	version string
}

func newJavaClient() *javaClient { return &javaClient{} }

// fetch is one cycle: the delta, and everything if the hash does not match.
func (c *javaClient) fetch(r *rig) {
	if len(c.apps) == 0 {
		c.fetchAll(r)
		return
	}
	doc := r.list("/eureka/apps/delta")
	c.version = doc.Applications.Version
	for _, app := range doc.Applications.Apps {
		c.apply(app)
	}
	if c.hash() != doc.Applications.Hash {
		c.fetchAll(r)
	}
}

func (c *javaClient) fetchAll(r *rig) {
	c.full++
	c.apps = map[string]map[string]string{}
	for _, app := range r.list("/eureka/apps").Applications.Apps {
		c.apps[app.Name] = instancesOf(app)
	}
}

func (c *javaClient) apply(app application) {
	for _, inst := range app.Instances {
		if inst.Action == "DELETED" {
			delete(c.apps[inst.App], inst.ID)
			if len(c.apps[inst.App]) == 0 {
				delete(c.apps, inst.App)
			}
			continue
		}
		if c.apps[inst.App] == nil {
			c.apps[inst.App] = instancesOf(app)
		}
		c.apps[inst.App][inst.ID] = inst.Status
	}
}

func instancesOf(app application) map[string]string {
	all := map[string]string{}
	for _, inst := range app.Instances {
		all[inst.ID] = inst.Status
	}
	return all
}

func (c *javaClient) hash() string {
	counts := map[string]int{}
	for _, app := range c.apps {
		for _, status := range app {
			counts[status]++
		}
	}
	var text strings.Builder
	for _, status := range slices.Sorted(maps.Keys(counts)) {
		fmt.Fprintf(&text, "%s_%d_", status, counts[status])
	}
	return text.String()
}

// Over any history, a client that applies deltas has what a full fetch has, and
// never needs a second one.
func TestJavaClient_followsByDeltasAlone(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		r := newRig(t)
		r.register("ANCHOR", "anchor", "UP", 1) // an empty client fetches everything
		client := newJavaClient()
		client.fetch(r)
		statuses := rapid.SampledFrom([]string{"UP", "DOWN", "STARTING", "OUT_OF_SERVICE"})
		step := func(rt *rapid.T) {
			path := fmt.Sprintf("/eureka/apps/APP%d/id-%d", rapid.IntRange(0, 2).Draw(rt, "app"), rapid.IntRange(0, 3).Draw(rt, "id"))
			r.clock.advance(time.Duration(rapid.IntRange(0, 3000).Draw(rt, "pause")) * time.Millisecond)
			r.do(http.MethodPut, "/eureka/apps/ANCHOR/anchor", "")
			r.engine.Tick(r.clock.Now())
			switch rapid.IntRange(0, 5).Draw(rt, "verb") {
			case 0, 1:
				r.register(path[len("/eureka/apps/"):][:4], path[len("/eureka/apps/APP0/"):], statuses.Draw(rt, "status"), rapid.Int64Range(1, 9).Draw(rt, "dirty"))
			case 2:
				r.do(http.MethodDelete, path, "")
			case 3:
				r.do(http.MethodPut, path+"/status?value="+statuses.Draw(rt, "pin"), "")
			case 4:
				r.do(http.MethodDelete, path+"/status", "")
			case 5:
				r.do(http.MethodPut, path+"?status="+statuses.Draw(rt, "beat")+"&lastDirtyTimestamp=5", "")
			}
		}
		for range rapid.IntRange(1, 8).Draw(rt, "cycles") {
			for range rapid.IntRange(0, 8).Draw(rt, "steps") {
				step(rt)
			}
			client.fetch(r)
			var fresh javaClient
			fresh.fetchAll(r)
			if client.full != 1 || client.hash() != fresh.hash() || !maps.EqualFunc(client.apps, fresh.apps, maps.Equal) {
				rt.Fatalf("after %d full fetches the client has %v, the registry %v", client.full, client.apps, fresh.apps)
			}
		}
	})
}

func TestDelta_versionChangesWithItsContent(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.register("DEMO", "demo-1", "UP", 1)
	seen := map[string]bool{}
	for i := range 5 {
		version := r.list("/eureka/apps/delta").Applications.Version
		if seen[version] {
			t.Errorf("version %s occurs twice", version)
		}
		seen[version] = true
		if again := r.list("/eureka/apps/delta").Applications.Version; again != version {
			t.Errorf("the version went from %s to %s without a change", version, again)
		}
		r.want(200, http.MethodPut, fmt.Sprintf("/eureka/apps/DEMO/demo-1/metadata?k=%d", i))
	}
}
