package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/kureka/kureka/api/v1alpha1"
)

// namespacePolicy is what is in force in a namespace, and how its leases stand.
type namespacePolicy struct {
	Namespace string           `json:"namespace"`
	Source    string           `json:"source"`
	Problem   string           `json:"problem,omitempty"`
	Effective *v1alpha1.Policy `json:"effective,omitempty"`
	Figures   *namespace       `json:"figures,omitempty"`
}

func newPolicy(o *options) *cobra.Command {
	var form string
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Show the policy in force in each namespace, and how its leases stand",
		Long:  "Show the policy in force in each namespace, and how its leases stand. With --namespace every field is shown.",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			list, err := o.policies(cmd.Context())
			if err != nil {
				return err
			}
			switch {
			case form == formatJSON:
				return printJSON(o.Out, list)
			case o.namespace() != "":
				return o.printPolicy(&list[0])
			}
			return o.printPolicies(list)
		},
	}
	addOutput(cmd, &form, formatJSON)
	return cmd
}

// policies joins what the custom resources say with the figures of the registry, for
// one namespace or for all that either of them knows.
func (o *options) policies(ctx context.Context) ([]namespacePolicy, error) {
	a, err := o.connect(ctx)
	if err != nil {
		return nil, err
	}
	defer a.close()
	var live namespaces
	if err := a.get(ctx, "/kureka/v1/namespaces", nil, &live); err != nil {
		return nil, err
	}
	figures := map[string]*namespace{}
	for i := range live.Namespaces {
		figures[live.Namespaces[i].Name] = &live.Namespaces[i]
	}
	said, err := o.readPolicies(ctx, o.namespace())
	if err != nil {
		return nil, err
	}
	names := sortedKeys(keysOf(figures), keysOf(said.namespaces))
	if o.namespace() != "" {
		names = []string{o.namespace()}
	}
	out := make([]namespacePolicy, 0, len(names))
	for _, name := range names {
		p := namespacePolicy{Namespace: name, Figures: figures[name]}
		p.Effective, p.Source = said.effective(name)
		if own := said.namespaces[name]; own != nil {
			if c := meta.FindStatusCondition(own.Status.Conditions, "Accepted"); c != nil && c.Status != "True" {
				p.Problem = c.Reason + ": " + c.Message
			}
		}
		out = append(out, p)
	}
	return out, nil
}

func keysOf[V any](m map[string]V) map[string]struct{} {
	out := make(map[string]struct{}, len(m))
	for key := range m {
		out[key] = struct{}{}
	}
	return out
}

func (o *options) printPolicies(list []namespacePolicy) error {
	t := newTable("NAMESPACE", "DECIDED BY", "MODE", "DRAIN", "SELF-PRESERVATION", "RENEWALS/MIN", "EXPECTED", "HELD", "PROBLEM")
	for i := range list {
		p := &list[i]
		mode, drain := v1alpha1.Enforce, v1alpha1.DrainDisabled
		if p.Effective != nil {
			mode = p.Effective.Mode
			if p.Effective.Drain != nil {
				drain = p.Effective.Drain.Mode
			}
		}
		n := p.Figures
		if n == nil {
			n = &namespace{SelfPreservation: "no leases"}
		}
		t.add(namespaceName(p.Namespace), p.Source, mode, drain, n.SelfPreservation, fmt.Sprintf("%.0f", n.RenewalsReceivedPerMinute),
			fmt.Sprintf("%.0f", n.RenewalsExpectedPerMinute), n.LeasesHeld, p.Problem)
	}
	return t.print(o.Out)
}

// printPolicy shows every field of one namespace.
func (o *options) printPolicy(p *namespacePolicy) error {
	fmt.Fprintf(o.Out, "%s is decided by: %s\n", p.Namespace, p.Source)
	if p.Problem != "" {
		fmt.Fprintln(o.Out, "problem:", p.Problem)
	}
	fmt.Fprintln(o.Out)
	t := newTable("FIELD", "VALUE")
	if p.Effective == nil {
		fmt.Fprintln(o.Out, "No policy has a status: see docs/custom-resources.md for what is built in.")
	} else {
		fields, err := flatten(p.Effective)
		if err != nil {
			return err
		}
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			t.add(name, fields[name])
		}
	}
	if n := p.Figures; n != nil {
		t.add("now: selfPreservation", n.SelfPreservation)
		t.add("now: leases", n.Leases)
		t.add("now: renewals a minute", fmt.Sprintf("%.0f of %.0f", n.RenewalsReceivedPerMinute, n.RenewalsExpectedPerMinute))
		t.add("now: leases held", n.LeasesHeld)
	}
	return t.print(o.Out)
}

// flatten writes a policy as fields with dots between, as they stand in a spec.
func flatten(p *v1alpha1.Policy) (map[string]string, error) {
	text, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("writing the policy: %w", err)
	}
	var tree map[string]any
	if err := json.Unmarshal(text, &tree); err != nil {
		return nil, fmt.Errorf("writing the policy: %w", err)
	}
	out := map[string]string{}
	walk("", tree, out)
	return out, nil
}

func walk(at string, v any, out map[string]string) {
	branch, ok := v.(map[string]any)
	if !ok {
		out[strings.TrimPrefix(at, ".")] = fmt.Sprint(v)
		return
	}
	for key, value := range branch {
		walk(at+"."+key, value, out)
	}
}
