package cluster

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kureka/kureka/internal/evidence"
	"github.com/kureka/kureka/internal/registry"
	"github.com/kureka/kureka/internal/verdict"
)

// The words of scenarios about pods without a client.

func (a args) ns() string {
	if ns := a.opts["ns"]; ns != "" {
		return ns
	}
	return "ns"
}

func pairsOf(text string) map[string]string {
	out := map[string]string{}
	for pair := range strings.SplitSeq(text, ",") {
		if k, v, ok := strings.Cut(pair, ":"); ok {
			out[k] = v
		}
	}
	return out
}

func portOf(text string) PortRef {
	if n, err := strconv.Atoi(text); err == nil {
		return PortRef{Number: n}
	}
	return PortRef{Name: text}
}

func (s *scenario) offer(a args) error {
	key := a.ns() + "/" + a.words[0]
	o := Offer{
		Namespace: a.ns(), Name: a.words[0], Revision: s.now.String() + fmt.Sprint(a.opts), Service: a.opts["service"],
		Created: time.Unix(1_700_000_000+int64(a.num("created", 0)), 0),
		Listing: Listing{
			App: strings.ToUpper(a.opts["app"]), Port: portOf(a.opts["port"]), SecurePort: portOf(a.opts["secure"]),
			ManagementPort: portOf(a.opts["management"]), VIP: a.opts["vip"], HealthCheck: a.opts["health"], HomePage: a.opts["home"],
			StatusPage: a.opts["statuspage"], PodDNS: a.has("dns"),
		},
	}
	for _, k := range slices.Sorted(maps.Keys(pairsOf(a.opts["meta"]))) {
		o.Metadata = append(o.Metadata, registry.Pair{Key: k, Value: pairsOf(a.opts["meta"])[k]})
	}
	if label, name, ok := strings.Cut(a.opts["from"], ":"); ok {
		o.FromLabels = []LabelCopy{{label, name}}
	}
	if label, value, ok := strings.Cut(a.opts["select"], ":"); ok {
		o.Selects = func(l evidence.Labels) bool { return l.Get(label) == value }
	}
	s.offers[key] = o
	return s.putOffers()
}

func (s *scenario) unoffer(a args) error {
	delete(s.offers, a.ns()+"/"+a.words[0])
	return s.putOffers()
}

func (s *scenario) putOffers() error {
	s.c.SetOffers(s.now, slices.Collect(maps.Values(s.offers)))
	return nil
}

func (s *scenario) settings(a args) error {
	p := verdict.DefaultPolicy()
	p.ReadinessHold = time.Duration(a.num("hold", 0)) * time.Second
	p.Observe = slices.Contains(a.words, "observe")
	p.SelfPreservation = !slices.Contains(a.words, "leases-end")
	p.HostNamePodIP = slices.Contains(a.words, "podip")
	p.NotReady, p.AcrossNamespaces = verdict.Ignore, verdict.Warn
	if v := a.opts["notready"]; v != "" {
		p.NotReady = verdict.Action(v)
	}
	if v := a.opts["spread"]; v != "" {
		p.AcrossNamespaces = verdict.AcrossNamespaces(v)
	}
	s.c.SetPolicies(s.now, p, nil)
	return nil
}

// show compares what is listed about an instance.
func (s *scenario) show(a args) error {
	i := s.c.Snapshot().Get(a.key())
	if i == nil {
		return errors.New("it is not listed")
	}
	port := func(p registry.Port) string {
		if !p.Enabled {
			return "off"
		}
		return strconv.Itoa(p.Number)
	}
	meta := make([]string, 0, len(i.Metadata))
	for _, m := range i.Metadata {
		meta = append(meta, m.Key+":"+m.Value)
	}
	leases := 0
	for _, p := range s.reg.Partitions() {
		leases += p.Leases
	}
	got := map[string]string{
		"host": i.HostName, "ip": i.IPAddr, "port": port(i.Port), "secure": port(i.SecurePort), "vip": i.VIP, "svip": i.SecureVIP,
		"meta": strings.Join(meta, ","), "home": i.HomePageURL, "statuspage": i.StatusPageURL, "health": i.HealthCheckURL,
		"shealth": i.SecureHealthURL, "leases": strconv.Itoa(leases), "kept": strconv.FormatBool(i.Kept),
	}
	for name, want := range a.opts {
		if value, known := got[name]; !known || value != want {
			return fmt.Errorf("%s is %q", name, value)
		}
	}
	return nil
}

func (s *scenario) state(a args) error {
	state, ok := s.c.OfferState(a.ns(), a.words[0])
	reasons := make([]string, 0, len(state.Problems))
	for _, p := range state.Problems {
		reasons = append(reasons, p.Reason)
	}
	if !ok || state.Matched != a.num("matched", 0) || state.Registered != a.num("registered", 0) || strings.Join(reasons, ",") != a.opts["problem"] {
		return fmt.Errorf("is %+v", state)
	}
	return nil
}

func (s *scenario) fault(a args) error {
	e, ok := s.c.ExplainPod(a.ns(), a.words[0])
	got := strings.Join(e.Faults, "; ")
	if want := strings.Join(a.words[1:], " "); !ok || want == "none" && got != "" || want != "none" && !strings.Contains(got, want) {
		return fmt.Errorf("faults are %q", got)
	}
	return nil
}

// setOfferPart sets what only offers ask about.
func setOfferPart(p *evidence.Pod, k, v string) {
	switch k {
	case "labels":
		p.Labels = evidence.NewLabels(pairsOf(v))
	case "annotations":
		p.Annotations = pairsOf(v)
	case "subdomain":
		p.Subdomain = v
	}
}
