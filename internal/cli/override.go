package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
)

// The annotations of a pod by which its instances are out of service.
const (
	statusAnnotation = "kureka.dev/status"
	untilAnnotation  = "kureka.dev/status-until"
	// askedStatus is the value of statusAnnotation, and the only one there is.
	askedStatus = "OutOfService"
)

// longestOverride bounds --for. What is to last longer is no exception any more.
const longestOverride = 30 * 24 * time.Hour

func newOverride(o *options) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "override",
		Short: "Take an instance out of service for some time, and put it back",
		Long: `Take an instance out of service for some time, and put it back.

It writes annotations of the instance's pod, so who may patch pods of the namespace
may do this, and the API server's audit log has it. It holds for all instances of the
pod, also the last ones of their applications, and ends at its time by itself.`,
	}
	cmd.AddCommand(newOverrideSet(o), newOverrideClear(o))
	return cmd
}

func newOverrideSet(o *options) *cobra.Command {
	var lasts time.Duration
	cmd := &cobra.Command{
		Use:     "set APP ID OUT_OF_SERVICE --for DURATION",
		Short:   "Take an instance out of service for some time",
		Example: "  kubectl kureka override set ORDERS orders-1:orders:8080 OUT_OF_SERVICE --for 30m",
		Args:    cobra.ExactArgs(3),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case !strings.EqualFold(args[2], statusOutOfService) && args[2] != askedStatus:
				return fmt.Errorf("%s cannot be asked for: a pod can only be asked out of service, which is OUT_OF_SERVICE", args[2])
			case lasts < time.Second || lasts > longestOverride:
				return fmt.Errorf("--for is %s: want one second to %s", lasts, duration(longestOverride))
			}
			return o.setOverride(cmd.Context(), strings.ToUpper(args[0]), args[1], lasts)
		},
	}
	cmd.Flags().DurationVar(&lasts, "for", 0, "how long it lasts, such as 30m or 2h; required")
	return cmd
}

func newOverrideClear(o *options) *cobra.Command {
	return &cobra.Command{
		Use:   "clear APP ID",
		Short: "Put an instance back that was taken out of service",
		Args:  cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.clearOverride(cmd.Context(), strings.ToUpper(args[0]), args[1])
		},
	}
}

func (o *options) setOverride(ctx context.Context, app, id string, lasts time.Duration) error {
	e, siblings, err := o.boundTo(ctx, app, id)
	if err != nil {
		return err
	}
	// The registry's clock, which it has told by now, decides when it ends.
	end := o.clock.now().Add(lasts).UTC().Truncate(time.Second).Format(time.RFC3339)
	if err := o.annotate(ctx, e.Binding.Pod, map[string]any{statusAnnotation: askedStatus, untilAnnotation: end}); err != nil {
		return err
	}
	fmt.Fprintf(o.Out, "%s/%s is to be OUT_OF_SERVICE until %s: the pod %s/%s is annotated.\n", app, id, end, e.Binding.Pod.Namespace, e.Binding.Pod.Name)
	if len(siblings) > 0 {
		fmt.Fprintln(o.Out, "So are the other instances of the pod:", strings.Join(siblings, ", "))
	}
	if e.Floor.InService <= 1 && e.Status == statusUp {
		fmt.Fprintf(o.Err, "warning: it was the only instance of %s in service, and nobody is held back for that\n", app)
	}
	if e.Policy.Mode == modeObserve {
		fmt.Fprintln(o.Err, "warning: the policy only observes, so this has no effect")
	}
	return nil
}

func (o *options) clearOverride(ctx context.Context, app, id string) error {
	e, _, err := o.boundTo(ctx, app, id)
	if err != nil {
		return err
	}
	if err := o.annotate(ctx, e.Binding.Pod, map[string]any{statusAnnotation: nil, untilAnnotation: nil}); err != nil {
		return err
	}
	fmt.Fprintf(o.Out, "Nobody asks for %s/%s to be out of service any more: the pod %s/%s is not annotated.\n", app, id, e.Binding.Pod.Namespace, e.Binding.Pod.Name)
	if e.Override != "" {
		fmt.Fprintf(o.Err, "warning: an override of the registry itself remains, %s: its clients set those, and they clear them\n", e.Override)
	}
	return nil
}

// boundTo asks what an instance is bound to, and which other instances its pod has.
func (o *options) boundTo(ctx context.Context, app, id string) (e explanation, siblings []string, err error) {
	a, err := o.connect(ctx)
	if err != nil {
		return e, nil, err
	}
	defer a.close()
	if err := a.get(ctx, instancePath(app, id), nil, &e); err != nil {
		return e, nil, err
	}
	p := e.Binding.Pod
	if p == nil {
		return e, nil, fmt.Errorf("%s/%s is bound to no pod (%s), and only pods can be asked out of service through Kubernetes", app, id, unboundWording(e.Binding.Unbound))
	}
	var all podExplanation
	if err := a.get(ctx, "/kureka/v1/pods/"+p.Namespace+"/"+p.Name, nil, &all); err != nil && !errors.Is(err, errNotFound) {
		return e, nil, err
	}
	for _, i := range all.Instances {
		if i.App != app || i.ID != id {
			siblings = append(siblings, i.App+"/"+i.ID)
		}
	}
	return e, siblings, nil
}

// annotate sets annotations of a pod, and removes those that are nil. A pod of the
// same name that is another one by now is left alone.
func (o *options) annotate(ctx context.Context, p *pod, annotations map[string]any) error {
	config, _, err := o.cluster()
	if err != nil {
		return err
	}
	core, err := typedcorev1.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("reaching the API server: %w", err)
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": p.UID, "annotations": annotations}})
	if err != nil {
		return fmt.Errorf("writing the annotations: %w", err)
	}
	if _, err := core.Pods(p.Namespace).Patch(ctx, p.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "kubectl-kureka"}); err != nil {
		return fmt.Errorf("annotating the pod %s/%s: %w", p.Namespace, p.Name, err)
	}
	return nil
}
