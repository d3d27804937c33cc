package evidence

import (
	"testing"
	"time"
)

func TestWhatANodesClockShowsIsToldByOurs(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	theirs := now.Add(-5 * time.Second)
	tests := map[string]struct {
		node *Node
		want time.Time
	}{
		"of no node":                         {nil, theirs},
		"of one whose clock nobody compared": {&Node{}, theirs},
		"of one that is ahead":               {&Node{ClockAhead: 3 * time.Second, Compared: now}, theirs.Add(-3 * time.Second)},
		"of one that is behind, compared long ago": {
			&Node{ClockAhead: -3 * time.Second, Compared: now.Add(-time.Hour)}, theirs.Add(3 * time.Second),
		},
		"of one from a snapshot that does not tell when": {&Node{ClockAhead: 3 * time.Second}, theirs.Add(-3 * time.Second)},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tc.node.Moment(now, theirs); !got.Equal(tc.want) {
				t.Errorf("%s, want %s", got, tc.want)
			}
		})
	}
}
