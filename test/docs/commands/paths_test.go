package commands

import (
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/kureka/kureka/test/rig/markdown"
	"github.com/kureka/kureka/test/rig/netns"
)

var (
	eurekaPath = regexp.MustCompile(`(?:^|[ :0-9'"])(?:kureka-system:8761|localhost:8761)?(/eureka(?:/v[12])?(?:/[A-Za-z0-9_{}./-]*)?)`)
	ownPath    = regexp.MustCompile(`/kureka/v1(/[A-Za-z0-9_{}./-]*)?`)
	parameter  = regexp.MustCompile(`\\\{[a-z]+\\\}`)
)

// Every path that a document names is one that the registry knows: it refuses a
// method of it, where it answers what it does not know with 404.
func TestEveryPathIsKnown(t *testing.T) {
	netns.Require(t)
	documents, err := markdown.ReadAll(root)
	if err != nil {
		t.Fatal(err)
	}
	serve(t)
	described := description(t)
	for _, d := range documents {
		for _, c := range d.Code() {
			for _, m := range eurekaPath.FindAllStringSubmatch(c.Text, -1) {
				if code, err := ask(t.Context(), http.MethodOptions, "http://localhost:8761"+resource(m[1])); code != http.StatusMethodNotAllowed {
					t.Errorf("%s:%d: %s is answered %d %v", d.Path, c.Line, m[1], code, err)
				}
			}
			for _, m := range ownPath.FindAllString(c.Text, -1) {
				if m = strings.TrimRight(m, "/"); m != "/kureka/v1" && !described.MatchString(m) {
					t.Errorf("%s:%d: %s is not described", d.Path, c.Line, m)
				}
			}
		}
	}
}

// resource is what a path leads to: a base path by itself is one of clients, who
// add to it.
func resource(path string) string {
	switch strings.Trim(path, "/") {
	case "eureka", "eureka/v1", "eureka/v2":
		return strings.TrimRight(path, "/") + "/apps"
	}
	return path
}

// description matches the paths that the registry's own description has.
func description(t *testing.T) *regexp.Regexp {
	t.Helper()
	resp, err := http.Get("http://localhost:8761/kureka/v1/openapi.yaml") //nolint:noctx // it is on this machine
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }() // it was read
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var forms []string
	for line := range strings.Lines(string(text)) {
		if path, ok := strings.CutPrefix(strings.TrimRight(line, ":\n"), "  /"); ok {
			forms = append(forms, parameter.ReplaceAllString(regexp.QuoteMeta("/"+path), "[^/]+"))
		}
	}
	if len(forms) == 0 {
		t.Fatal("the description has no paths")
	}
	return regexp.MustCompile("^(?:" + strings.Join(forms, "|") + ")$")
}
