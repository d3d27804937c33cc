package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/kureka/kureka/internal/cli"
)

var (
	pluginUse     = regexp.MustCompile(`kubectl kureka ([a-z-]+.*)`)
	pluginCommand = regexp.MustCompile(`(?m)^  ([a-z-]+) +[A-Z]`)
	pluginFlag    = regexp.MustCompile(`(?m)^ +(?:-[a-zA-Z], )?--([a-z-]+)`)
)

// pluginHelp is what the plugin of kubectl says of each of its commands, which are
// named with their parents, as `override set`.
func pluginHelp(t *testing.T) map[string]string {
	t.Helper()
	help := map[string]string{}
	var visit func(command string)
	visit = func(command string) {
		var out strings.Builder
		args := append(strings.Fields(command), "--help")
		code := cli.Main(t.Context(), args, cli.Environment{Out: &out, Err: &out, Now: time.Now, Getenv: func(string) string { return "" }})
		if code != 0 {
			t.Fatalf("asking for the help of %q: %s", command, out.String())
		}
		help[command] = out.String()
		_, children, _ := strings.Cut(out.String(), "Available Commands:")
		children, _, _ = strings.Cut(children, "\nFlags:")
		for child := range matches(pluginCommand, children) {
			if name := strings.TrimSpace(command + " " + child); help[name] == "" {
				visit(name)
			}
		}
	}
	visit("")
	return help
}

// Every command of the plugin that a document names exists, with its flags.
func TestEveryCommandOfThePluginExists(t *testing.T) {
	help := pluginHelp(t)
	for _, d := range documents(t) {
		for _, c := range d.Code() {
			for _, m := range pluginUse.FindAllStringSubmatch(c.Text, -1) {
				command := ""
				for word := range strings.FieldsSeq(m[1]) {
					next := strings.TrimSpace(command + " " + word)
					if help[next] == "" {
						break
					}
					command = next
				}
				if command == "" {
					t.Errorf("%s:%d names the command kubectl kureka %s", d.Path, c.Line, m[1])
				}
				for flag := range matches(flagUse, m[1]) {
					if !matches(pluginFlag, help[command])[flag] {
						t.Errorf("%s:%d names the flag --%s of kubectl kureka %s", d.Path, c.Line, flag, command)
					}
				}
			}
		}
	}
}

// otherFlags are those of the plugin and of the scripts for chaos.
func otherFlags(t *testing.T) names {
	t.Helper()
	flags := names{}
	add := func(text string) {
		for flag := range matches(pluginFlag, text) {
			flags[flag] = true
		}
	}
	for _, help := range pluginHelp(t) {
		add(help)
	}
	scripts, err := filepath.Glob(filepath.Join(root, "hack", "chaos", "*.sh"))
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no script for chaos: %v", err)
	}
	for _, script := range scripts {
		text, err := os.ReadFile(script)
		if err != nil {
			t.Fatal(err)
		}
		add(strings.ReplaceAll(string(text), "\t", " "))
	}
	return flags
}
