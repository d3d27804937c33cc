package docs

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

const plugin = "cmd/kubectl-kureka"

var pluginUse = regexp.MustCompile(`kubectl kureka ([a-z-]+)(.*)`)

// Every command of the plugin that a document names exists, with its flags.
func TestEveryCommandOfThePluginExists(t *testing.T) {
	if !exists(plugin) {
		t.Skipf("there is no %s yet", plugin)
	}
	help := map[string]string{}
	for _, d := range documents(t) {
		for _, c := range d.Code() {
			for _, m := range pluginUse.FindAllStringSubmatch(c.Text, -1) {
				command := m[1]
				if help[command] == "" {
					help[command] = pluginHelp(t, command)
				}
				if !strings.Contains(help[command], "kubectl kureka "+command) {
					t.Errorf("%s:%d names the command kubectl kureka %s", d.Path, c.Line, command)
				}
				for flag := range matches(flagUse, m[2]) {
					if !strings.Contains(help[command], "--"+flag) {
						t.Errorf("%s:%d names the flag --%s of kubectl kureka %s", d.Path, c.Line, flag, command)
					}
				}
			}
		}
	}
}

// pluginHelp is what the plugin says of a command.
func pluginHelp(t *testing.T, command string) string {
	t.Helper()
	help := exec.CommandContext(t.Context(), "go", "run", "./"+plugin, command, "--help")
	help.Dir = root
	out, err := help.CombinedOutput()
	if err != nil {
		t.Fatalf("asking for the help of %s: %v\n%s", command, err, out)
	}
	return string(out)
}
