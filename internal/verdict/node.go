package verdict

import (
	"strings"
	"time"

	"github.com/kureka/kureka/internal/evidence"
)

func nodeOutOfService(in Input) (string, time.Time, bool) {
	if in.Node == nil || in.Node.Condition("Ready").Status == evidence.True {
		return "", time.Time{}, false
	}
	t, ok := in.Node.Taint("node.kubernetes.io/out-of-service")
	return t.Value, time.Time{}, ok
}

func nodeShuttingDown(in Input) (string, time.Time, bool) {
	if in.Node == nil {
		return "", time.Time{}, false
	}
	c := in.Node.Condition("Ready")
	return c.Message, time.Time{}, c.Status == evidence.False && strings.Contains(c.Message, "node is shutting down")
}

// vmEvent reads the node problem detector's condition on Azure; its reason begins
// with the kind of event.
func vmEvent(kind string) func(Input) (string, time.Time, bool) {
	return func(in Input) (string, time.Time, bool) {
		if in.Node == nil {
			return "", time.Time{}, false
		}
		c := in.Node.Condition("VMEventScheduled")
		return c.Message, time.Time{}, c.Status == evidence.True && strings.HasPrefix(c.Reason, kind)
	}
}

func nodeDeleted(in Input) (string, time.Time, bool) {
	return "", time.Time{}, in.Node != nil && in.Node.Missing
}

func taint(key string) func(Input) (string, time.Time, bool) {
	return func(in Input) (string, time.Time, bool) {
		if in.Node == nil {
			return "", time.Time{}, false
		}
		t, ok := in.Node.Taint(key)
		return t.Value, time.Time{}, ok
	}
}

func condition(kind string) func(Input) (string, time.Time, bool) {
	return func(in Input) (string, time.Time, bool) {
		if in.Node == nil {
			return "", time.Time{}, false
		}
		c := in.Node.Condition(kind)
		return c.Reason, time.Time{}, c.Status == evidence.True
	}
}

func nodeDeleting(in Input) (string, time.Time, bool) {
	return "", time.Time{}, in.Node != nil && in.Node.Deleting
}

func annotation(key string) func(Input) (string, time.Time, bool) {
	return func(in Input) (string, time.Time, bool) {
		if in.Node == nil {
			return "", time.Time{}, false
		}
		value, ok := in.Node.Annotations[key]
		return value, time.Time{}, ok
	}
}

func additionalTaint(hard bool) func(Input) (string, time.Time, bool) {
	return func(in Input) (string, time.Time, bool) {
		if in.Node == nil {
			return "", time.Time{}, false
		}
		for _, t := range in.Policy.AdditionalTaints {
			if t.Hard == hard && t.matches(in.Node) {
				return t.Key, time.Time{}, true
			}
		}
		return "", time.Time{}, false
	}
}
