package cli

import (
	"strings"
	"testing"

	"github.com/kureka/kureka/test/rig/instance"
)

func TestOverride_endsAtItsTimeOrWhenItIsCleared(t *testing.T) {
	s := begin(t, 1, 2, instance.Config{App: "paints"})
	id := s.pods[0].ID
	said := ask(t, "override", "set", s.app, id, "OUT_OF_SERVICE", "--for", "1h")
	if said.code != 0 || !strings.Contains(said.out, "is to be OUT_OF_SERVICE until") {
		t.Fatalf("it says (%d) %s%s", said.code, said.out, said.err)
	}
	s.await(out, s.pods[0])
	s.why(s.app, id, "is OUT_OF_SERVICE since", "the annotation kureka.dev/status of its pod", "(until 2", "kubectl kureka override clear PAINTS "+id)
	if said = ask(t, "override", "clear", s.app, id); said.code != 0 {
		t.Fatalf("it says (%d) %s%s", said.code, said.out, said.err)
	}
	s.await(up, s.pods[0])

	if said = ask(t, "override", "set", s.app, id, "OUT_OF_SERVICE", "--for", "8s"); said.code != 0 {
		t.Fatalf("it says (%d) %s%s", said.code, said.out, said.err)
	}
	s.await(out, s.pods[0])
	s.await(up, s.pods[0])
	const course = "UP > OUT_OF_SERVICE > UP > OUT_OF_SERVICE > UP"
	if got := s.view.Course(id); !strings.HasPrefix(course, got) {
		t.Errorf("its course is %s, want %s", got, course)
	}
}

func TestOverride_refusesWhatCannotBe(t *testing.T) {
	s := begin(t, 1, 1, instance.Config{App: "glue"})
	for want, args := range map[string][]string{
		"UP cannot be asked for":    {"override", "set", s.app, s.pods[0].ID, "UP", "--for", "1h"},
		"--for is 0s: want":         {"override", "set", s.app, s.pods[0].ID, "OUT_OF_SERVICE"},
		"there is no such instance": {"override", "clear", s.app, "other"},
	} {
		if said := ask(t, args...); said.code != 2 || !strings.Contains(said.err, want) {
			t.Errorf("%v: it says (%d) %s%s, want %q", args, said.code, said.out, said.err, want)
		}
	}
}
