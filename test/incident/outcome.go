package incident

import (
	"fmt"
	"slices"
	"time"
)

// Outcome is what a scene saw.
type Outcome interface {
	// Expectations are the states and orders that must have been seen.
	Expectations() []Expectation
	// Facts are the figures worth printing.
	Facts() []Fact
}

// Expectation compares what was seen with what had to be seen.
type Expectation struct{ What, Want, Got string }

// Met reports whether it was seen.
func (e Expectation) Met() bool { return e.Want == e.Got }

func (e Expectation) String() string {
	if e.Met() {
		return "ok      " + e.What
	}
	return fmt.Sprintf("FAILED  %s: want %s, got %s", e.What, e.Want, e.Got)
}

// expect compares two values by what they print as.
func expect(what string, want, got any) Expectation {
	return Expectation{What: what, Want: fmt.Sprint(want), Got: fmt.Sprint(got)}
}

// Unmet returns the expectations that were not met.
func Unmet(o Outcome) []Expectation {
	return slices.DeleteFunc(o.Expectations(), Expectation.Met)
}

// Fact is one figure of a scene.
type Fact struct{ What, Value string }

func fact(what string, value any) Fact {
	if d, ok := value.(time.Duration); ok {
		value = after(d)
	}
	return Fact{What: what, Value: fmt.Sprint(value)}
}

// after says how long after its cause something was seen. The registry learns of
// a change at the same time as whoever asked the API server for it, so it can be
// seen before the API server's acknowledgement.
func after(d time.Duration) string {
	if d <= 0 {
		return "before the acknowledgement"
	}
	return round(d).String()
}

// round keeps three digits or so.
func round(d time.Duration) time.Duration {
	switch {
	case d < 10*time.Millisecond:
		return d.Round(100 * time.Microsecond)
	case d < 10*time.Second:
		return d.Round(time.Millisecond)
	}
	return d.Round(100 * time.Millisecond)
}

// Spread is a set of durations.
type Spread []time.Duration

func (s Spread) sorted() Spread { return slices.Sorted(slices.Values(s)) }

// Min is the shortest. Like the others it is zero for an empty set.
func (s Spread) Min() time.Duration { return s.at(0) }

// Median is the middle one, the later of two.
func (s Spread) Median() time.Duration { return s.at(len(s) / 2) }

// Max is the longest.
func (s Spread) Max() time.Duration { return s.at(len(s) - 1) }

func (s Spread) at(i int) time.Duration {
	if len(s) == 0 {
		return 0
	}
	return s.sorted()[i]
}

func (s Spread) String() string {
	return fmt.Sprintf("min %s, median %s, max %s of %d", round(s.Min()), round(s.Median()), round(s.Max()), len(s))
}
