package dashboard

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/kureka/kureka/internal/registry"
)

// paramBound asks for instances that are bound to a pod, or for those that are not.
const paramBound = "bound"

type instanceList struct {
	// Matched is how many there are, Instances at most as many as were asked for.
	Matched   int              `json:"matched"`
	Instances []listedInstance `json:"instances"`
}

type listedInstance struct {
	App                    string            `json:"app"`
	ID                     string            `json:"id"`
	Status                 string            `json:"status"`
	Reason                 string            `json:"reason,omitempty"`
	Override               string            `json:"override,omitempty"`
	Namespace              string            `json:"namespace,omitempty"`
	Bound                  bool              `json:"bound"`
	Node                   string            `json:"node,omitempty"`
	Address                string            `json:"address,omitempty"`
	HostName               string            `json:"hostName"`
	IPAddr                 string            `json:"ipAddr"`
	Port                   int               `json:"port,omitempty"`
	SecurePort             int               `json:"securePort,omitempty"`
	VIP                    string            `json:"vipAddress,omitempty"`
	Metadata               map[string]string `json:"metadata,omitempty"`
	LastRenewal            *time.Time        `json:"lastRenewal,omitempty"`
	RenewalIntervalSeconds int               `json:"renewalIntervalSeconds,omitempty"`
	LeaseDurationSeconds   int               `json:"leaseDurationSeconds,omitempty"`
	UpdatedAt              time.Time         `json:"updatedAt"`
}

// misasked says what is wrong with a question for instances, "" if it makes sense.
func misasked(q url.Values) string {
	known := []string{"limit", paramApp, paramNamespace, paramStatus, paramReason, paramText, paramBound}
	for key := range q {
		if !slices.Contains(known, key) {
			return "filters are app, namespace, status, reason, q, bound and limit"
		}
	}
	if !slices.Contains([]string{"", "true", "false"}, q.Get(paramBound)) {
		return "bound is true or false"
	}
	if q.Get(paramStatus) != "" && registry.ParseStatus(q.Get(paramStatus)) == registry.None {
		return "status is UP, DOWN, STARTING, OUT_OF_SERVICE or UNKNOWN"
	}
	return ""
}

func (a *api) instances(w http.ResponseWriter, q url.Values) {
	limit, problem := limitOf(q)
	if problem = cmp.Or(problem, misasked(q)); problem != "" {
		a.fail(w, http.StatusBadRequest, problem)
		return
	}
	f, bound := filterOf(q), q.Get(paramBound)
	m := f.matcher()
	out := instanceList{Instances: []listedInstance{}}
	for i := range all(a.Registry.Snapshot(), f.App) {
		if !m.matches(i) || bound != "" && bound != strconv.FormatBool(i.PodUID != "") {
			continue
		}
		if out.Matched++; out.Matched <= limit {
			out.Instances = append(out.Instances, listedInstanceOf(i))
		}
	}
	a.write(w, http.StatusOK, out)
}

func listedInstanceOf(i *registry.Instance) listedInstance {
	r := rowOf(i)
	out := listedInstance{
		App: r.App, ID: r.ID, Status: r.Status, Reason: r.Reason, Override: r.Override, Namespace: r.Namespace, Bound: i.PodUID != "",
		Node: r.Node, Address: r.Address, LastRenewal: moment(r.Renewed), UpdatedAt: r.Since.UTC(),
		HostName: i.HostName, IPAddr: i.IPAddr, Port: enabled(i.Port), SecurePort: enabled(i.SecurePort), VIP: i.VIP,
	}
	if !i.Kept {
		out.RenewalIntervalSeconds, out.LeaseDurationSeconds = i.Interval, i.Duration
	}
	if len(i.Metadata) > 0 {
		out.Metadata = make(map[string]string, len(i.Metadata))
	}
	for _, p := range i.Metadata {
		out.Metadata[p.Key] = p.Value
	}
	return out
}

// enabled is the number of a port that is in use, 0 for another.
func enabled(p registry.Port) int {
	if !p.Enabled {
		return 0
	}
	return p.Number
}
