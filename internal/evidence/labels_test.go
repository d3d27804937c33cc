package evidence

import (
	"maps"
	"testing"

	"pgregory.net/rapid"
)

func TestLabels_holdWhatTheyWereMadeOf(t *testing.T) {
	key := rapid.StringMatching(`([a-z]{1,3}\.[a-z]{1,2}/)?[a-zA-Z]([-_.a-z0-9]{0,3}[a-z0-9])?`)
	value := rapid.StringMatching(`([a-z0-9]([-_.a-z0-9]{0,3}[a-z0-9])?)?`)
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.MapOf(key, value).Draw(t, "labels")
		l := NewLabels(m)
		if l != NewLabels(maps.Clone(m)) {
			t.Fatal("the same labels are not equal")
		}
		for k, want := range m {
			if got, ok := l.Lookup(k); !ok || got != want || !l.Has(k) || l.Get(k) != want {
				t.Fatalf("%q is %q, %v; want %q", k, got, ok, want)
			}
		}
		other := key.Draw(t, "other")
		if _, exists := m[other]; l.Has(other) != exists {
			t.Fatalf("Has(%q) is %v", other, !exists)
		}
	})
}

func TestLabels_noneAreEmpty(t *testing.T) {
	if l := NewLabels(nil); l != (Labels{}) || l.Has("") || l.Has("a") {
		t.Error("there is a label")
	}
}
