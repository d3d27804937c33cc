package conformance

import (
	"strings"
	"testing"
)

func TestClients_haveLanesOfTheirOwn(t *testing.T) {
	t.Parallel()
	type owner struct{ kind, value string }
	seen := map[owner]string{}
	for number, c := range allClients() {
		slug := c.Slug()
		if c.Name == "" || (c.Version == "") != c.Packaged || c.Family == "" || c.Program == nil {
			t.Errorf("%s is not complete", slug)
		}
		s, err := newSettings(number+1, c, "http://registry.example/eureka/", "127.0.0.1:1", nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"LANE_APP", "LANE_ID", "LANE_HOST", "LANE_IP", "LANE_PORT", "LANE_SECURE_PORT", "LANE_VIP"} {
			key := owner{name, s[name]}
			if other := seen[key]; other != "" {
				t.Errorf("%s has the %s of %s, %q", slug, name, other, s[name])
			}
			seen[key] = slug
		}
		if _, err := s.instance(); err != nil {
			t.Errorf("%s: %v", slug, err)
		}
	}
}

func TestClients_seeWithoutChangingWhatOthersSee(t *testing.T) {
	t.Parallel()
	for _, c := range allClients() {
		in := puppet(churnApp, 1, "UP")
		in.Metadata["under_score"] = "<0007>"
		c.sees([]Instance{in})
		c.listing(in, true)
		if in.Metadata["under_score"] != "<0007>" || len(in.Metadata) != 3 {
			t.Errorf("%s has changed the instance: %v", c.Slug(), in.Metadata)
		}
	}
}

func TestPage_hasARowOfEveryClientAndAColumnOfEveryScene(t *testing.T) {
	t.Parallel()
	clients := []*Client{{Name: "reader", Version: "1", Family: familyGo, ReadOnly: true, Notes: []string{"It reads."}}, {
		Name: "writer", Version: "2", Variant: "XML", Family: familyRust, Emulated: true, Lacks: Lacks{Reads: true, Rejoin: true},
	}}
	all := []scene{{name: "a", title: "first", applies: registers}, {name: "b", title: "second", applies: reads}}
	got := string(page(clients, all))
	for _, want := range []string{
		"1 clients that register, 1 that read",
		"| Client | Version | Language | first | second |\n|---|---|---|---|---|\n",
		"| reader | 1 | Go | – | yes |\n",
		"| writer (XML), *emulated* | 2 | Rust | yes | – |\n",
		"- reader 1: It reads.\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the page lacks %q:\n%s", want, got)
		}
	}
}

func TestPage_saysWhichVersionOfAPackageRanLast(t *testing.T) {
	t.Parallel()
	one := &Client{Name: "packaged", Packaged: true, ran: "7", Family: familyTools, Notes: []string{"It is old."}}
	written := string(page([]*Client{one}, nil))
	if !strings.Contains(written, "\n| packaged | 7 | tool |\n") || !strings.Contains(written, "- packaged 7: It is old.\n") {
		t.Errorf("the page is:\n%s", written)
	}
	other := *one
	other.ran = "8"
	if again := string(page(asOn(written, []*Client{&other}), nil)); again != written {
		t.Errorf("another version is a difference:\n%s", again)
	}
	if other.ran != "8" {
		t.Errorf("the client says that it ran %s", other.ran)
	}
}
