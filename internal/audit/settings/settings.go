package settings

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Certainty says what is known of a value.
type Certainty int

// Certainties, the higher one counts where values are put together.
const (
	// Known values are the same in every pod of the workload.
	Known Certainty = iota
	// Unknown values come from what a manifest does not show.
	Unknown
	// PerPod values differ from pod to pod.
	PerPod
)

// Value is what a key is set to.
type Value struct {
	Text string
	// From says where: "env EUREKA_INSTANCE_HOSTNAME", "ConfigMap orders, application.yml".
	From string
	// Certainty of the text. PodName and PodAddress stand in it for what every pod
	// has another one of; if it is Unknown, parts are missing.
	Certainty Certainty
}

// Settings are what is known of the settings of one container. The zero value knows
// nothing. It may be read concurrently.
type Settings struct {
	values map[string]Value
	// opaque says that there are environment variables that nobody sees here.
	opaque bool
}

// canonical is what all spellings of a key have in common under relaxed binding.
func canonical(key string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		}
		return -1
	}, key)
}

// Text returns the value of a key in any spelling, its placeholders resolved.
func (s *Settings) Text(key string) (Value, bool) {
	v, ok := s.values[canonical(key)]
	if !ok {
		return Value{}, false
	}
	return s.resolve(v), true
}

// Has says whether any key begins with the prefix.
func (s *Settings) Has(prefix string) bool {
	prefix = canonical(prefix)
	for key := range s.values {
		if strings.HasPrefix(key, prefix) {
			return true
		}
	}
	return false
}

// Contains says whether any value contains the text.
func (s *Settings) Contains(text string) bool {
	for _, v := range s.values {
		if strings.Contains(v.Text, text) {
			return true
		}
	}
	return false
}

// Int returns a number. ok is false where it is not set, not known or no number.
func (s *Settings) Int(key string) (n int, from string, ok bool) {
	v, ok := s.Text(key)
	if !ok || v.Certainty != Known {
		return 0, "", false
	}
	n, err := strconv.Atoi(strings.TrimSpace(v.Text))
	return n, v.From, err == nil
}

// Is says whether a key is set to a boolean and where.
func (s *Settings) Is(key string, want bool) (from string, is bool) {
	v, ok := s.Text(key)
	if !ok || v.Certainty != Known {
		return "", false
	}
	return v.From, strings.EqualFold(strings.TrimSpace(v.Text), strconv.FormatBool(want))
}

// Duration returns a duration in one of Spring's forms: 35s, PT35S, or a plain number
// of milliseconds. ok is false where it is not set, not known or none of them.
func (s *Settings) Duration(key string) (d time.Duration, from string, ok bool) {
	v, ok := s.Text(key)
	if !ok || v.Certainty != Known {
		return 0, "", false
	}
	d, ok = parseDuration(strings.TrimSpace(v.Text))
	return d, v.From, ok
}

func parseDuration(text string) (time.Duration, bool) {
	if n, err := strconv.Atoi(text); err == nil {
		return scaled(float64(n), time.Millisecond)
	}
	if iso, ok := strings.CutPrefix(strings.ToUpper(text), "PT"); ok {
		d, err := time.ParseDuration(strings.ToLower(iso))
		return d, err == nil
	}
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.Atoi(days)
		if err != nil {
			return 0, false
		}
		return scaled(float64(n), 24*time.Hour)
	}
	d, err := time.ParseDuration(text)
	return d, err == nil
}

// scaled refuses what does not fit.
func scaled(n float64, unit time.Duration) (time.Duration, bool) {
	if math.Abs(n)*float64(unit) >= math.MaxInt64 {
		return 0, false
	}
	return time.Duration(n) * unit, true
}
