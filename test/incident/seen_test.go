package incident

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kureka/kureka/test/rig/gateway"
)

// at is a moment of these tests, in seconds.
func at(seconds int) time.Time { return time.Unix(int64(seconds), 0) }

func response(start, end int, up ...string) gateway.Response {
	r := gateway.Response{Start: at(start), End: at(end), Code: 200, Listed: true, Statuses: map[string]string{}}
	for _, id := range up {
		r.Statuses[id] = "UP"
	}
	return r
}

func TestLedger_notesWhoIsMissingDuringTheWholeRequest(t *testing.T) {
	tests := map[string]struct {
		response gateway.Response
		missing  []string
	}{
		"all are there":                 {response: response(11, 12, "stays", "leaves")},
		"somebody is missing":           {response: response(11, 12, "leaves"), missing: []string{`stays ("", code 200)`}},
		"the request began before":      {response: response(9, 12)},
		"it left during the request":    {response: response(19, 21, "stays")},
		"it left after the request":     {response: response(18, 19, "stays"), missing: []string{`leaves ("", code 200)`}},
		"it left before the request":    {response: response(21, 22, "stays")},
		"the registry does not answer":  {response: gateway.Response{Start: at(21), End: at(22), Code: 503}, missing: []string{`stays ("", code 503)`}},
		"it ended the moment it left":   {response: response(19, 20, "stays")},
		"it began the moment it joined": {response: response(10, 11, "leaves"), missing: []string{`stays ("", code 200)`}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			l := ledger{
				counting: true,
				since:    map[string]time.Time{"stays": at(10), "leaves": at(10)},
				before:   map[string]time.Time{"leaves": at(20)},
			}
			l.check(tc.response)
			if _, _, missing := l.sum(); !cmp.Equal(tc.missing, missing) {
				t.Errorf("missing (-want +got):\n%s", cmp.Diff(tc.missing, missing))
			}
		})
	}
}

func TestSpread_hasTheMiddleOfWhatWasMeasured(t *testing.T) {
	s := Spread{30 * time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond}
	if got, want := s.String(), "min 10ms, median 20ms, max 30ms of 3"; got != want {
		t.Errorf("spread = %q, want %q", got, want)
	}
	if (Spread{}).Max() != 0 {
		t.Error("the maximum of nothing is not zero")
	}
}
