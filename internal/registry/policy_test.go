package registry

import (
	"fmt"
	"strconv"
	"testing"
	"time"
)

// Clients do not learn of a policy, so one that shortens leases must leave each
// room for its client's own rhythm.
func TestAPolicyThatShortensLeasesEvictsNobodyWhoRenews(t *testing.T) {
	for _, limit := range []int{50, 45, 40} {
		t.Run(fmt.Sprintf("%d s", limit), func(t *testing.T) {
			now := time.Unix(1_700_000_000, 0)
			e := New(now, Options{})
			for i := range 60 {
				e.Register(now, Caller{}, &Record{
					App: "A", ID: strconv.Itoa(i), RenewalInterval: 60 * time.Second, LeaseDuration: 180 * time.Second,
				}, Binding{})
			}
			for second := range 600 {
				now = now.Add(time.Second)
				e.Renew(now, Caller{}, Key{"A", strconv.Itoa(second % 60)}, Beat{})
				if second == 200 {
					p := DefaultPolicy()
					p.MaxDuration = time.Duration(limit) * time.Second
					e.SetPolicies(now, p, nil)
				}
				if gone := e.Tick(now).Evicted; len(gone) > 0 {
					t.Fatalf("evicted %v", gone)
				}
			}
		})
	}
}
