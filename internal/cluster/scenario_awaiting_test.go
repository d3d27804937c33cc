package cluster

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kureka/kureka/internal/evidence"
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

func setEnding(p *evidence.Pod, k, v string) (err error) {
	switch k {
	case "token":
		p.DrainToken = v
	case "grace":
		p.Grace, err = time.ParseDuration(v)
	default:
		setOfferPart(p, k, v)
	}
	return err
}

// ending compares the pods that a token stands for: the name, since how long it is
// seen to be ending, its grace, and its instances.
func (s *scenario) ending(a args) error {
	want := slices.DeleteFunc(a.words[1:], func(w string) bool { return w == "none" })
	all := s.c.Endings(a.words[0])
	got := make([]string, 0, len(all))
	for _, e := range all {
		parts := []string{e.Name}
		if !e.Since.IsZero() {
			parts = append(parts, s.now.Sub(e.Since).String(), e.Grace.String())
		}
		for _, key := range e.Instances {
			parts = append(parts, key.String())
		}
		got = append(got, strings.Join(parts, ":"))
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		return fmt.Errorf("ending are %q", got)
	}
	return nil
}

// lifetime is when the last container finished and when the next one began, as far as
// that is told.
func lifetime(spec []string) (finished, began time.Time, err error) {
	for i, at := range []*time.Time{&finished, &began} {
		if i >= len(spec) || spec[i] == "" {
			continue
		}
		n, err := strconv.Atoi(spec[i])
		if err != nil {
			return finished, began, err
		}
		*at = time.Unix(1_700_000_000+int64(n), 0)
	}
	return finished, began, nil
}
