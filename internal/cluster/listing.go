package cluster

import (
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/kureka/kureka/internal/registry"
)

// Names of metadata that clients know.
const (
	zoneMetadata       = "zone" // read by the zone-aware clients of Netflix and Spring
	managementMetadata = "management.port"
)

// Ports that are shown, disabled, where there is none.
const (
	noPort       = 80
	noSecurePort = 443
)

// keptKey is the id of the instance that is kept for a pod. Two pods never have the
// same namespace and name at once, and namespaces have no dots.
func keptKey(p *pod, app string) registry.Key {
	return registry.Key{App: app, ID: p.Name + "." + p.Namespace + ":" + strings.ToLower(app)}
}

// record builds what is listed for a pod, without status and timestamp. The pod
// must have an address.
func (l *Listing) record(p *pod, zone string) (*registry.Record, Problem) {
	key := keptKey(p, l.App)
	r := &registry.Record{
		App: key.App, ID: key.ID, HostName: p.IPs[0].String(), IPAddr: p.IPs[0].String(),
		VIP: l.VIP, SecureVIP: l.SecureVIP, CountryID: 1, DataCenter: registry.DataCenter{Name: "MyOwn"},
		Port: registry.Port{Number: noPort}, SecurePort: registry.Port{Number: noSecurePort},
	}
	if name := p.DNSName(); l.PodDNS && name != "" {
		r.HostName = name
	}
	management := 0
	for _, port := range []struct {
		ref PortRef
		use func(int)
	}{
		{l.Port, func(n int) { r.Port = registry.Port{Number: n, Enabled: true} }},
		{l.SecurePort, func(n int) { r.SecurePort = registry.Port{Number: n, Enabled: true} }},
		{l.ManagementPort, func(n int) { management = n }},
	} {
		if port.ref == (PortRef{}) {
			continue
		}
		n, problem := port.ref.of(p)
		if problem.Reason != "" {
			return nil, problem
		}
		port.use(n)
	}
	if r.VIP == "" {
		r.VIP = strings.ToLower(l.App)
	}
	if r.SecureVIP == "" && r.SecurePort.Enabled {
		r.SecureVIP = r.VIP
	}
	l.pages(r, management)
	r.Metadata = l.metadata(p, management, zone)
	return r, Problem{}
}

// of finds the number of a port in a pod.
func (r PortRef) of(p *pod) (int, Problem) {
	if r.Name == "" {
		return r.Number, Problem{}
	}
	n, ok := p.PortNamed(r.Name)
	if !ok {
		return 0, Problem{ProblemPort, "no container declares a port named " + r.Name}
	}
	return int(n), Problem{}
}

// pages sets the addresses of the pages. The home page is on the instance's own
// port, the others on the management port if there is one.
func (l *Listing) pages(r *registry.Record, management int) {
	own := origin("http", r.HostName, r.Port.Number)
	if !r.Port.Enabled {
		own = origin("https", r.HostName, r.SecurePort.Number)
	}
	other := own
	if management > 0 {
		other = origin("http", r.HostName, management)
	}
	at := func(base, path string) string {
		if path == "" {
			return ""
		}
		return base + path
	}
	r.HomePageURL, r.StatusPageURL = at(own, l.HomePage), at(other, l.StatusPage)
	r.HealthCheckURL = at(other, l.HealthCheck)
	if strings.HasPrefix(r.HealthCheckURL, "https:") {
		r.HealthCheckURL = ""
	}
	if r.SecurePort.Enabled && management == 0 {
		r.SecureHealthURL = at(origin("https", r.HostName, r.SecurePort.Number), l.HealthCheck)
	}
}

func origin(scheme, host string, port int) string {
	return scheme + "://" + net.JoinHostPort(host, strconv.Itoa(port))
}

// metadata is what the offer says, then what labels say, then what the cluster
// knows; the first word about a name counts.
func (l *Listing) metadata(p *pod, management int, zone string) []registry.Pair {
	out := slices.Clone(l.Metadata)
	add := func(name, value string) {
		if value != "" && !slices.ContainsFunc(out, func(m registry.Pair) bool { return m.Key == name }) {
			out = append(out, registry.Pair{Key: name, Value: value})
		}
	}
	for _, from := range l.FromLabels {
		add(from.Name, p.Labels.Get(from.Label))
	}
	if management > 0 {
		add(managementMetadata, strconv.Itoa(management))
	}
	add(zoneMetadata, zone)
	return out
}
