package main

import (
	"errors"
	"os/exec"
	"testing"
	"time"
)

func TestADatabase_isTooOldAfterSixtyDays(t *testing.T) {
	t.Parallel()
	made := time.Date(2026, 11, 5, 23, 49, 57, 0, time.UTC)
	db := database{made: made}
	if err := db.fresh(made.Add(60 * 24 * time.Hour)); err != nil {
		t.Errorf("after sixty days: %v", err)
	}
	if err := db.fresh(made.Add(60*24*time.Hour + time.Second)); err == nil {
		t.Error("one that is older is taken for fresh")
	}
	if err := (database{}).fresh(made); err == nil {
		t.Error("one of no known time is taken for fresh")
	}
}

func TestOnlyTheCodeOfSomethingFound_isOne(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]bool{"exit 3": true, "exit 1": false, "exit 2": false, "kill -9 $$": false} {
		err := exec.CommandContext(t.Context(), "sh", "-c", code).Run()
		if got := ended(errors.Join(errors.New("scanning"), err), foundCode); got != want {
			t.Errorf("%q counts as found: %v, want %v", code, got, want)
		}
	}
}

func TestShorten_leavesTwoExamples(t *testing.T) {
	t.Parallel()
	const text = `Vulnerability #3: GO-2026-1
    Example traces found:
      #1: a.go:1:1: one
      #2: a.go:2:1: two
      #3: a.go:3:1: three
      #12: a.go:4:1: twelve

Vulnerability #10: GO-2026-2
`
	const want = `Vulnerability #3: GO-2026-1
    Example traces found:
      #1: a.go:1:1: one
      #2: a.go:2:1: two

Vulnerability #10: GO-2026-2
`
	if got := string(shorten([]byte(text))); got != want {
		t.Errorf("shortened to:\n%s", got)
	}
}
