package conformance

import (
	"context"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var (
	withClients = flag.Bool("clients", false, "install the clients and run the lanes")
	update      = flag.Bool("update", false, "write docs/compatibility.md")
	capturing   = flag.Bool("capture", false, "write the requests of the clients to recorded/requests")
	only        = flag.String("lanes", "", "run only the lanes whose slug matches, and leave the page alone")
)

// allClients are the rows of the page, in its order.
func allClients() []*Client {
	return slices.Concat(jvmClients(), javaScriptClients(), pythonClients(), goClients(), prometheusClients(), emulatedClients())
}

func TestClients(t *testing.T) {
	if !*withClients {
		t.Skip("the clients have to be installed: make conformance")
	}
	clients := chosen(t)
	ctx := t.Context()
	shop, err := OpenWorkshop(".")
	if err != nil {
		t.Fatal(err)
	}
	stage, failed, err := openStage(ctx, shop, clients, t.TempDir(), os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stage.close)
	t.Run("start", func(t *testing.T) { report(t, clients, failed) })
	if len(stage.lanes) == 0 {
		t.Fatal("no lane has started")
	}
	for _, scene := range scenes() {
		t.Run(scene.name, func(t *testing.T) { play(ctx, t, stage, scene) })
	}
	t.Run("wire", func(t *testing.T) { report(t, clients, stage.brokenWires()) })
	if err := stage.server.alive(); err != nil {
		t.Error(err)
	}
	if *capturing {
		if err := stage.capture(); err != nil {
			t.Error(err)
		}
	}
	if *only == "" && !t.Failed() {
		checkPage(t, clients)
	}
}

// checkPage compares docs/compatibility.md with what has been shown, or writes it.
func checkPage(t *testing.T, clients []*Client) {
	t.Helper()
	if *update {
		if err := os.WriteFile(pagePath, page(clients, scenes()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(pagePath)
	if err != nil {
		t.Fatal(err)
	}
	want := page(asOn(string(have), clients), scenes())
	if diff := cmp.Diff(string(want), string(have)); diff != "" {
		t.Errorf("docs/compatibility.md is not what the run has shown (-shown +file); run test/conformance/run -update:\n%s", diff)
	}
}

func chosen(t *testing.T) []*Client {
	t.Helper()
	pattern, err := regexp.Compile(*only)
	if err != nil {
		t.Fatal(err)
	}
	clients := slices.DeleteFunc(allClients(), func(c *Client) bool { return !pattern.MatchString(c.Slug()) })
	if len(clients) == 0 {
		t.Fatalf("no lane matches %q", *only)
	}
	return clients
}

func play(ctx context.Context, t *testing.T, s *stage, scene scene) {
	t.Helper()
	clients := make([]*Client, 0, len(s.lanes))
	for _, l := range s.lanes {
		clients = append(clients, l.client)
	}
	fmt.Fprintf(os.Stderr, "--> scene %s, %d lanes\n", scene.name, len(clients))
	failed, err := scene.play(ctx, s)
	if err != nil {
		t.Fatal(err)
	}
	report(t, clients, failed)
	s.drop(failed)
}

// report makes one subtest of each client.
func report(t *testing.T, clients []*Client, failed map[string]error) {
	t.Helper()
	for _, c := range clients {
		t.Run(c.Slug(), func(t *testing.T) {
			if err := failed[c.Slug()]; err != nil {
				t.Error(err)
			}
		})
	}
}
