package cluster

import (
	"fmt"
	"maps"
	"strconv"
)

// counts compares the figures of the view that are not zero, without its age.
func (s *scenario) counts(a args) error {
	got := s.c.Counts(s.now)
	have := map[string]int{"floor": got.HeldByFloor, "frozen": got.Frozen, "shared": got.SharedApps}
	maps.Copy(have, got.Unbound)
	for name, n := range have {
		want := a.opts[name]
		if want == "" {
			want = "0"
		}
		if strconv.Itoa(n) != want {
			return fmt.Errorf("%s are %d", name, n)
		}
		delete(a.opts, name)
	}
	if len(a.opts) > 0 {
		return fmt.Errorf("nothing is known of %v", a.opts)
	}
	return nil
}
