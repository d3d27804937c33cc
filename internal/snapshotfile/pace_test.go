package snapshotfile

import (
	"io"
	"testing"
	"time"
)

func TestAGentleSaveRestsAsLongAsItWorked(t *testing.T) {
	var rested []time.Duration
	p := &paced{w: io.Discard, rest: func(d time.Duration) { rested = append(rested, d) }, since: time.Now().Add(-time.Hour)}
	for range 2 {
		if n, err := p.Write([]byte("a line")); n != len("a line") || err != nil {
			t.Fatal(n, err)
		}
	}
	if len(rested) == 0 || rested[0] < time.Hour {
		t.Errorf("it rested %v after an hour's work", rested)
	}
}
