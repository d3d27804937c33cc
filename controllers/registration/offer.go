package registration

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kureka/kureka/api/v1alpha1"
	"github.com/kureka/kureka/internal/cluster"
	"github.com/kureka/kureka/internal/evidence"
)

// offerOf translates a registration. What the API server checks on writing is
// checked here only as far as nothing could be registered otherwise: an object may
// have been stored before the checks were there.
func offerOf(r *v1alpha1.EurekaRegistration) (cluster.Offer, error) {
	spec := &r.Spec
	o := cluster.Offer{
		Namespace: r.Namespace, Name: r.Name, Revision: fmt.Sprintf("%s/%d", r.UID, r.Generation),
		Created: r.CreationTimestamp.Time, Service: spec.ServiceName,
		Listing: cluster.Listing{
			App: strings.ToUpper(spec.App), VIP: spec.VIPAddress, SecureVIP: spec.SecureVIPAddress,
			PodDNS: spec.HostName == v1alpha1.HostNamePodDNS,
		},
	}
	var err error
	if o.Selects, err = selects(spec); err != nil {
		return o, err
	}
	switch {
	case spec.App == "":
		return o, errors.New("app is empty")
	case spec.Port == nil && spec.SecurePort == nil:
		return o, errors.New("neither port nor securePort is set")
	}
	for _, port := range []struct {
		name string
		from *intstr.IntOrString
		to   *cluster.PortRef
	}{{"port", spec.Port, &o.Port}, {"securePort", spec.SecurePort, &o.SecurePort}, {"managementPort", spec.ManagementPort, &o.ManagementPort}} {
		if *port.to, err = portRef(port.from); err != nil {
			return o, fmt.Errorf("%s: %w", port.name, err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(spec.Metadata)) {
		o.AddMetadata(name, string(spec.Metadata[name]))
	}
	for _, l := range spec.MetadataFromLabels {
		name := l.Name
		if name == "" {
			name = l.Label
		}
		o.FromLabels = append(o.FromLabels, cluster.LabelCopy{Label: l.Label, Name: name})
	}
	if spec.Paths != nil {
		o.HomePage, o.StatusPage, o.HealthCheck = spec.Paths.HomePage, spec.Paths.StatusPage, spec.Paths.HealthCheck
	}
	return o, nil
}

// selects compiles the selector; nil where a Service chooses.
func selects(spec *v1alpha1.EurekaRegistrationSpec) (func(evidence.Labels) bool, error) {
	if (spec.Selector == nil) == (spec.ServiceName == "") {
		return nil, errors.New("want exactly one of selector and serviceName")
	}
	if spec.Selector == nil {
		return nil, nil
	}
	selector, err := metav1.LabelSelectorAsSelector(spec.Selector.LabelSelector())
	switch {
	case err != nil:
		return nil, fmt.Errorf("selector: %w", err)
	case selector.Empty():
		return nil, errors.New("selector: without a term it would choose every pod")
	}
	return func(l evidence.Labels) bool { return selector.Matches(l) }, nil
}

func portRef(p *intstr.IntOrString) (cluster.PortRef, error) {
	switch {
	case p == nil:
		return cluster.PortRef{}, nil
	case p.Type == intstr.String && p.StrVal != "":
		return cluster.PortRef{Name: p.StrVal}, nil
	case p.Type == intstr.Int && p.IntVal >= 1 && p.IntVal <= 65535:
		return cluster.PortRef{Number: int(p.IntVal)}, nil
	}
	return cluster.PortRef{}, fmt.Errorf("%s is neither a number from 1 to 65535 nor a name", p.String())
}
