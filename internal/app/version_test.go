package app

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kureka/kureka/internal/version"
)

func TestVersion_isToldToPeopleAndPrograms(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"version"}, {"--version"}, {"version", "-o", "text"}} {
		var out bytes.Buffer
		if _, err := ParseArgs(args, &out); !errors.Is(err, ErrHelp) {
			t.Errorf("%v: error %v", args, err)
		}
		if got := out.String(); got != version.Get().Lines() {
			t.Errorf("%v says %q", args, got)
		}
	}
	var out bytes.Buffer
	if _, err := ParseArgs([]string{"version", "--output=json"}, &out); !errors.Is(err, ErrHelp) {
		t.Fatal(err)
	}
	var got version.Info
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(version.Get(), got); diff != "" {
		t.Errorf("the JSON (-want +got):\n%s", diff)
	}
}

func TestVersion_refusesWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"version", "-o", "yaml"}, {"version", "--registry-bind-address", ":1"}} {
		var out bytes.Buffer
		_, err := ParseArgs(args, &out)
		if err == nil || errors.Is(err, ErrHelp) || out.Len() > 0 {
			t.Errorf("%s: error %v, output %q", strings.Join(args, " "), err, out.String())
		}
	}
}
