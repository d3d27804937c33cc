package controllers

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/kureka/kureka/internal/cluster"
)

// An Event whose text is broken may be refused, or read as something else.
func TestALongNoteIsCutBetweenCharacters(t *testing.T) {
	for shift := range 4 {
		ch := cluster.Change{Detail: strings.Repeat("x", shift) + strings.Repeat("€", maxNote)}
		got := note(ch)
		if !utf8.ValidString(got) || len(got) > maxNote || len(got) < maxNote-utf8.UTFMax {
			t.Errorf("after %d bytes: %d bytes, valid: %v", shift, len(got), utf8.ValidString(got))
		}
	}
}
