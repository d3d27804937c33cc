package dashboard_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWhoCameAndWhoLeftIsToldAtBothPaths(t *testing.T) {
	_, doc := get(t, incident(t), "/kureka/v1/lastn")
	rows := func(list string) (out [][]any) {
		all, _ := doc[list].([]any)
		for _, one := range all {
			out = append(out, []any{at(one, "app"), at(one, "id"), at(one, "at"), at(one, "reason")})
		}
		return out
	}
	if diff := cmp.Diff([][]any{
		{"LEFT", "l", "2026-11-29T12:00:30Z", nil},
		{"VM", "v", "2026-11-29T12:00:00Z", nil},
		{"DEMO", "c", "2026-11-29T12:00:00Z", nil},
		{"DEMO", "b", "2026-11-29T12:00:00Z", nil},
		{"DEMO", oddID, "2026-11-29T12:00:00Z", nil},
	}, rows("registered")); diff != "" {
		t.Errorf("registered (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([][]any{
		{"LEFT", "l", "2026-11-29T12:00:30Z", "Cancelled"},
		{"DEMO", "b", "2026-11-29T12:00:02Z", "PodGone"},
	}, rows("ended")); diff != "" {
		t.Errorf("ended (-want +got)\n%s", diff)
	}
	_, page := get(t, incident(t), "/lastn")
	if diff := cmp.Diff(doc, page); diff != "" {
		t.Errorf("/lastn answers otherwise (-want +got)\n%s", diff)
	}
}
