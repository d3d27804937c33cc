package stage

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// Timeline collects what happened, in milliseconds since the last mark. Its
// methods may be called from several goroutines.
type Timeline struct {
	mu      sync.Mutex
	zero    time.Time
	entries []entry
}

type entry struct {
	at   time.Time
	line string
}

// maxLines bounds a timeline.
const maxLines = 2000

// NewTimeline returns a timeline that counts from now on.
func NewTimeline() *Timeline { return &Timeline{zero: time.Now()} }

// Mark begins to count anew, with what the scene does now.
func (t *Timeline) Mark(format string, args ...any) {
	t.mu.Lock()
	t.zero = time.Now()
	t.mu.Unlock()
	t.Add("scene", format, args...)
}

// Add notes what somebody does now.
func (t *Timeline) Add(who, format string, args ...any) {
	t.At(time.Now(), who, format, args...)
}

// At notes what somebody did at a time that has passed.
func (t *Timeline) At(at time.Time, who, format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.entries) == maxLines {
		return
	}
	line := fmt.Sprintf("%+7d ms  %-9s %s", at.Sub(t.zero).Milliseconds(), who, fmt.Sprintf(format, args...))
	t.entries = append(t.entries, entry{at, line})
}

// String is the whole timeline, in the order in which things happened.
func (t *Timeline) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	sorted := slices.Clone(t.entries)
	slices.SortStableFunc(sorted, func(a, b entry) int { return a.at.Compare(b.at) })
	lines := make([]string, len(sorted))
	for i, e := range sorted {
		lines[i] = e.line
	}
	return strings.Join(lines, "\n")
}
