package cluster

import (
	"fmt"
	"slices"
	"strings"
)

// awaiting compares who awaits its registration.
func (s *scenario) awaiting(a args) error {
	want := strings.TrimSuffix(a.words[0], "none")
	waiting := s.c.Awaiting()
	pods := make([]string, 0, len(waiting))
	for _, p := range waiting {
		name := p.Name
		if p.Up != "" {
			name += ":" + p.Up
		}
		pods = append(pods, name)
	}
	slices.Sort(pods)
	if got := strings.Join(pods, ","); got != want {
		return fmt.Errorf("awaiting are %q", got)
	}
	return nil
}
