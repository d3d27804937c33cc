package commands

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/kureka/kureka/test/rig/markdown"
	"github.com/kureka/kureka/test/rig/netns"
)

// promised is what the commands of each section of the README print, in this order.
func promised() map[string][]string {
	return map[string][]string{
		"Try it without a cluster": {"HTTP/1.1 204 No Content", `"instanceId":"orders-1"`},
		"Play with a cluster of your own": {
			"customresourcedefinition.apiextensions.k8s.io/registrypolicies.kureka.dev created", "pod/orders created", `"status":"UP"`,
			`pod "orders" force deleted`, `"reason": "PodGone"`,
		},
	}
}

func TestTheCommandsOfTheReadmeDoWhatItSays(t *testing.T) {
	netns.Require(t)
	readme, err := markdown.Read(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range readme.Blocks {
		if b.Marker != "" && promised()[b.Heading] == nil {
			t.Errorf("README.md:%d: nobody knows what its commands print", b.Line)
		}
	}
	path, assets := programs(t)
	for heading, outputs := range promised() {
		t.Run(heading, func(t *testing.T) {
			s := session{dir: checkout(t), path: path, assets: assets, cache: t.TempDir()}
			t.Cleanup(func() { s.downAgain(t) })
			rest := s.run(t, script(readme.Below(heading, "run")))
			for _, want := range outputs {
				_, after, found := strings.Cut(rest, want)
				if !found {
					t.Fatalf("after what was there before it does not print %s:\n%s", want, rest)
				}
				rest = after
			}
		})
	}
}

// script puts the blocks of a section together. One that serves until it is ended
// goes on in the background, as in another terminal, and the next waits for it.
func script(blocks []markdown.Block) string {
	var b strings.Builder
	b.WriteString("set -eux\n")
	for _, block := range blocks {
		if !strings.HasPrefix(block.Text, "bin/kureka") {
			b.WriteString(block.Text)
			continue
		}
		b.WriteString(strings.TrimRight(block.Text, "\n") + ` &
trap "kill $!" EXIT
curl --silent --fail --retry 300 --retry-delay 1 --retry-all-errors --output /dev/null localhost:8081/readyz
`)
	}
	return b.String()
}

// session is where commands are run.
type session struct{ dir, path, assets, cache string }

// run returns what a script prints, with its commands.
func (s session) run(t *testing.T, script string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	shell := s.shell(ctx, script)
	var out bytes.Buffer
	shell.Stdout, shell.Stderr = &out, &out
	shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	shell.Cancel = func() error { return syscall.Kill(-shell.Process.Pid, syscall.SIGKILL) }
	if err := shell.Run(); err != nil {
		t.Fatalf("%v:\n%s", err, &out)
	}
	return out.String()
}

func (s session) shell(ctx context.Context, script string) *exec.Cmd {
	shell := exec.CommandContext(ctx, "bash", "-c", script)
	shell.Dir = s.dir
	// Modules come from the cache: the tests are made of the same. To make it must not
	// look as if another make had started it, or it prints that it does.
	shell.Env = append(os.Environ(), "PATH="+s.path+":"+os.Getenv("PATH"), "KUBEBUILDER_ASSETS="+s.assets,
		"KUREKA_CACHE="+s.cache, "KUBECACHEDIR="+s.cache, "GOPROXY=off", "MAKELEVEL=", "MAKEFLAGS=", "MFLAGS=")
	return shell
}

// downAgain ends the control plane if the commands did not get that far.
func (s session) downAgain(t *testing.T) {
	t.Helper()
	if out, err := s.shell(context.WithoutCancel(t.Context()), "make cluster-down").CombinedOutput(); err != nil {
		t.Errorf("ending the control plane: %v\n%s", err, out)
	}
}

// checkout copies what a clone of this repository would have, with what is changed.
func checkout(t *testing.T) string {
	t.Helper()
	list := exec.CommandContext(t.Context(), "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		t.Fatalf("listing the files: %v", err)
	}
	dir := t.TempDir()
	for name := range strings.SplitSeq(strings.TrimRight(string(out), "\x00"), "\x00") {
		source := filepath.Join(root, name)
		info, err := os.Stat(source)
		if os.IsNotExist(err) {
			continue // it was removed and that is not committed
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(source)
		if err != nil {
			t.Fatal(err)
		}
		target := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(target), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(target, content, info.Mode().Perm()); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
