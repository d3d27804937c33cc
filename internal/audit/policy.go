package audit

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kureka/kureka/api/v1alpha1"
)

// policy is what the rules ask of a policy. Times are in seconds.
type policy struct {
	drain        v1alpha1.DrainMode
	sleep        int // 0: Auto
	limit        int // of a sleep or hold
	cache        int // what the drain takes for the load balancer cache
	replaces     bool
	outNotReady  bool // takes out instances whose pods are not ready
	namesByPodIP bool
	renewal      int
	bounds       v1alpha1.LeaseBounds
}

// builtIn is what holds where nobody says otherwise.
func builtIn() policy {
	return policy{drain: v1alpha1.DrainDisabled, limit: 90, cache: 35, renewal: 30}
}

// policies finds the policy of a namespace.
type policies struct {
	cluster    policy
	namespaces map[string]policy
}

func policiesOf(in *Input) policies {
	p := policies{cluster: builtIn(), namespaces: map[string]policy{}}
	var denied []v1alpha1.NamespaceSetting
	for i := range in.ClusterPolicies {
		c := &in.ClusterPolicies[i]
		layer := &c.Spec.Policy
		if c.Status.Effective != nil {
			layer = c.Status.Effective
		}
		p.cluster.lay(layer)
		if c.Spec.NamespaceOverrides != nil {
			denied = c.Spec.NamespaceOverrides.Denied
		}
	}
	for i := range in.Policies {
		n := &in.Policies[i]
		layer := allowed(&n.Spec, denied)
		if n.Status.Effective != nil {
			layer = n.Status.Effective
		}
		effective := p.cluster
		effective.lay(layer)
		p.namespaces[n.Namespace] = effective
	}
	return p
}

func (p *policies) of(namespace string) *policy {
	if own, ok := p.namespaces[namespace]; ok {
		return &own
	}
	return &p.cluster
}

// allowed is what a namespace says of what it may say.
func allowed(spec *v1alpha1.RegistryPolicySpec, denied []v1alpha1.NamespaceSetting) *v1alpha1.Policy {
	layer := &v1alpha1.Policy{Leases: spec.Leases, Pods: spec.Pods, Drain: spec.Drain}
	if slices.Contains(denied, v1alpha1.SettingLeases) {
		layer.Leases = nil
	}
	if slices.Contains(denied, v1alpha1.SettingPods) {
		layer.Pods = nil
	}
	if slices.Contains(denied, v1alpha1.SettingDrain) {
		layer.Drain = nil
	}
	return layer
}

// lay takes over what a layer sets.
func (p *policy) lay(layer *v1alpha1.Policy) {
	if layer.Drain != nil {
		p.layDrain(layer.Drain)
	}
	if pods := layer.Pods; pods != nil {
		if pods.NotReady != "" {
			p.outNotReady = pods.NotReady == v1alpha1.OutOfService
		}
		if pods.HostName != "" {
			p.namesByPodIP = pods.HostName == v1alpha1.RewriteToPodIP
		}
	}
	if leases := layer.Leases; leases != nil {
		overwrite(&p.renewal, leases.DefaultRenewalIntervalSeconds)
		if leases.Bounds != nil {
			p.layBounds(leases.Bounds)
		}
	}
}

func (p *policy) layDrain(d *v1alpha1.Drain) {
	if d.Mode != "" {
		p.drain = d.Mode
	}
	if d.Seconds != nil {
		p.sleep = 0
		if d.Seconds.Type == intstr.Int {
			p.sleep = d.Seconds.IntValue()
		}
	}
	overwrite(&p.limit, d.MaxSeconds)
	overwrite(&p.cache, d.LoadBalancerCacheSeconds)
	if d.OnExistingHook != "" {
		p.replaces = d.OnExistingHook == v1alpha1.ReplaceHook
	}
}

func (p *policy) layBounds(b *v1alpha1.LeaseBounds) {
	for _, pair := range []struct{ to, from **int32 }{
		{&p.bounds.MinDurationSeconds, &b.MinDurationSeconds},
		{&p.bounds.MaxDurationSeconds, &b.MaxDurationSeconds},
		{&p.bounds.MinRenewalIntervalSeconds, &b.MinRenewalIntervalSeconds},
		{&p.bounds.MaxRenewalIntervalSeconds, &b.MaxRenewalIntervalSeconds},
	} {
		if *pair.from != nil {
			*pair.to = *pair.from
		}
	}
}

func overwrite(to *int, from *int32) {
	if from != nil {
		*to = int(*from)
	}
}
