package stage

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"
)

// Explanation is what the operator says about one instance, as far as tests ask.
type Explanation struct {
	Status  string
	Verdict struct{ Class, Reason, InForce string }
	Checks  []struct {
		Name  string
		Fires bool
	}
	Binding struct {
		Pod *struct {
			Name, UID string
			Ready     bool
		}
		Unbound string
	}
	ViewFresh bool
}

// Fires reports whether a check fires, whatever follows from it.
func (e Explanation) Fires(check string) bool {
	for _, c := range e.Checks {
		if c.Name == check {
			return c.Fires
		}
	}
	return false
}

// Change is one change that the operator tells of.
type Change struct {
	At                                        time.Time
	ID, Namespace, Pod, Effect, Class, Reason string
	Detail                                    string
}

// SeenView is how well the operator sees its cluster.
type SeenView struct {
	Fresh, PodsReadable bool
	Watches             []struct {
		Resource string
		Synced   bool
		Problem  string
	}
}

// Explain asks for the explanation of an instance that is in the registry.
func (o *Operator) Explain(ctx context.Context, app, id string) (e Explanation, err error) {
	err = o.ask(ctx, "instances/"+url.PathEscape(strings.ToUpper(app))+"/"+url.PathEscape(id), &e)
	return e, err
}

// Changes asks for the changes of an application, newest first.
func (o *Operator) Changes(ctx context.Context, app string) ([]Change, error) {
	var answer struct{ Changes []Change }
	err := o.ask(ctx, "changes?limit=1000&app="+url.QueryEscape(app), &answer)
	return answer.Changes, err
}

// View asks how well the operator sees its cluster.
func (o *Operator) View(ctx context.Context) (v SeenView, err error) {
	err = o.ask(ctx, "view", &v)
	return v, err
}

func (o *Operator) ask(ctx context.Context, question string, answer any) error {
	err := o.get(ctx, ":8761/kureka/v1/"+question, func(body io.Reader) error { return json.NewDecoder(body).Decode(answer) })
	if err != nil {
		return fmt.Errorf("asking %s: %w", o.name, err)
	}
	return nil
}
