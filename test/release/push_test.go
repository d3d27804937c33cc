package release

import (
	"bufio"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// crane is a command of the tool that pushes images.
func crane(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	find := exec.CommandContext(t.Context(), "go", "tool", "-modfile=hack/image/go.mod", "-n", "crane")
	find.Dir = top
	path, err := find.Output()
	if err != nil {
		t.Fatalf("building crane: %v", err)
	}
	return exec.CommandContext(t.Context(), strings.TrimSpace(string(path)), args...)
}

// registryPort is what a registry for tests says when it listens.
var registryPort = regexp.MustCompile(`serving on port (\d+)`)

// serveImages starts a registry for images and returns its address.
func serveImages(t *testing.T) string {
	t.Helper()
	cmd := crane(t, "registry", "serve", "--address", "127.0.0.1:0")
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // ends it
		_ = cmd.Wait()
	})
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if found := registryPort.FindStringSubmatch(lines.Text()); found != nil {
			return "127.0.0.1:" + found[1]
		}
	}
	t.Fatal("the registry for images does not listen")
	return ""
}

func TestTheImage_isOneForOtherTools(t *testing.T) {
	name := serveImages(t) + "/kureka:" + version
	dir := filepath.Join(release(t), "kureka_"+version+"_image")
	for _, args := range [][]string{
		{"push", dir, name},
		{"validate", "--remote", name},
	} {
		if out, err := crane(t, args...).CombinedOutput(); err != nil {
			t.Fatalf("crane %v: %v: %s", args, err, out)
		}
	}
	for _, architecture := range architectures() {
		out, err := crane(t, "config", "--platform", "linux/"+architecture, name).Output()
		if err != nil {
			t.Fatal(err)
		}
		var c config
		if err := json.Unmarshal(out, &c); err != nil || c.Architecture != architecture || c.Config.User != "65532:65532" {
			t.Errorf("%s: %v: %s", architecture, err, out)
		}
	}
}
