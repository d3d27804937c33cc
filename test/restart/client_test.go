package restart

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// registry is what a client knows: its copy of the registry, kept up to date by
// deltas as the stock clients do it.
type registry struct {
	version string
	hash    string
	status  map[string]string // by application and id
}

type applications struct {
	Applications struct {
		Version     string `json:"versions__delta"`
		Hash        string `json:"apps__hashcode"`
		Application []struct {
			Name     string
			Instance []struct{ InstanceID, Status, ActionType string }
		}
	}
}

func read(text string) (applications, error) {
	var a applications
	err := json.Unmarshal([]byte(text), &a)
	return a, err
}

// fetch takes everything.
func (r *registry) fetch(p *process) {
	p.t.Helper()
	a, err := read(p.want(http.StatusOK, http.MethodGet, "/apps", ""))
	if err != nil {
		p.t.Fatal(err)
	}
	r.version, r.hash, r.status = a.Applications.Version, a.Applications.Hash, map[string]string{}
	for _, app := range a.Applications.Application {
		for _, i := range app.Instance {
			r.status[app.Name+"/"+i.InstanceID] = i.Status
		}
	}
}

// fetchDelta takes what changed, and reports whether that led to what the server
// has.
func (r *registry) fetchDelta(p *process) bool {
	p.t.Helper()
	a, err := read(p.want(http.StatusOK, http.MethodGet, "/apps/delta", ""))
	if err != nil {
		p.t.Fatal(err)
	}
	r.version, r.hash = a.Applications.Version, a.Applications.Hash
	for _, app := range a.Applications.Application {
		for _, i := range app.Instance {
			if key := app.Name + "/" + i.InstanceID; i.ActionType == "DELETED" {
				delete(r.status, key)
			} else {
				r.status[key] = i.Status
			}
		}
	}
	return r.count() == r.hash
}

// count is the hash of the client's own copy.
func (r *registry) count() string {
	counts := map[string]int{}
	for _, s := range r.status {
		counts[s]++
	}
	var hash strings.Builder
	for _, s := range slices.Sorted(maps.Keys(counts)) {
		fmt.Fprintf(&hash, "%s_%d_", s, counts[s])
	}
	return hash.String()
}

func registration(id, ip string) string {
	return fmt.Sprintf(`{"instance":{"instanceId":%q,"hostName":%q,"app":%q,"ipAddr":%q,"status":"UP","vipAddress":"demo",
		"port":{"$":8080,"@enabled":"true"},"dataCenterInfo":{"@class":"com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo","name":"MyOwn"}}}`,
		id, id, app(id), ip)
}

// app spreads the instances over applications.
func app(id string) string { return "APP-" + id[len(id)-1:] }

// everybody does something for each id, some at a time.
func everybody(ids []string, do func(id string)) {
	var wg sync.WaitGroup
	for chunk := range slices.Chunk(ids, len(ids)/8+1) {
		wg.Go(func() {
			for _, id := range chunk {
				do(id)
			}
		})
	}
	wg.Wait()
}
