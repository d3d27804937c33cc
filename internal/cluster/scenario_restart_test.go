package cluster

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kureka/kureka/internal/registry"
)

// The words of scenarios about restarts.

func (s *scenario) restart(a args) error {
	saved, err := json.Marshal(s.c.Checkpoint(s.now))
	if err != nil {
		return err
	}
	var cp Checkpoint
	if err := json.Unmarshal(saved, &cp); err != nil {
		return err
	}
	if err := s.pause(a); err != nil {
		return err
	}
	s.reg = registry.New(s.now, registry.Options{})
	s.c = New(s.reg, Options{AllNamespaces: true, Observer: func(Change) time.Duration { s.count++; return 0 }})
	catchUp, err := s.c.Restore(s.now, &cp)
	if err == nil {
		catchUp()
	}
	return err
}

func (s *scenario) pause(a args) error {
	d, err := time.ParseDuration(a.words[0])
	s.now = s.now.Add(d)
	return err
}

func (s *scenario) list(a args) error {
	for _, uid := range a.words {
		s.c.ObservePod(s.now, *s.pods[uid])
	}
	var lacks []string
	for _, p := range s.c.KnownPods() {
		if !slices.Contains(a.words, p.UID) {
			lacks = append(lacks, p.UID)
		}
	}
	s.c.SetPodsReadable(s.now, true)
	s.c.SetNodesReadable(true)
	slices.Sort(lacks)
	if got := strings.Join(lacks, ","); got != a.opts["lacks"] {
		return fmt.Errorf("lacks %s", got)
	}
	return nil
}
