package app

import (
	"bytes"
	"errors"
	"net/netip"
	"strings"
	"testing"
)

func TestParseArgsSaysWhatIsWrongAndWhatToDo(t *testing.T) {
	tests := map[string]struct {
		args []string
		want []string
	}{
		"no command":        {nil, []string{`say "manager" or "standalone"`}},
		"unknown command":   {[]string{"serve"}, []string{`unknown command "serve"`}},
		"unknown flag":      {[]string{"standalone", "--nope"}, []string{"unknown flag: --nope"}},
		"stray argument":    {[]string{"standalone", "x"}, []string{`unexpected argument "x"`}},
		"address":           {[]string{"standalone", "--registry-bind-address", "8761"}, []string{`--registry-bind-address "8761"`, "host:port"}},
		"gate":              {[]string{"standalone", "--start-gate", "soon"}, []string{`--start-gate "soon"`, "Auto, Off"}},
		"gate too long":     {[]string{"standalone", "--start-gate", "1h"}, []string{`--start-gate "1h"`}},
		"proxy":             {[]string{"standalone", "--trusted-proxies", "host"}, []string{`--trusted-proxies "host"`}},
		"base path":         {[]string{"standalone", "--registry-base-paths", "/a,b"}, []string{`--registry-base-paths "b"`, "begins with a slash"}},
		"many base paths":   {[]string{"standalone", "--registry-base-paths", strings.Repeat(",/a", 17)[1:]}, []string{"at most 16"}},
		"prober":            {[]string{"manager", "--prober", "Maybe"}, []string{`--prober "Maybe"`, "On or Off"}},
		"mode":              {[]string{"manager", "--mode", "Watch"}, []string{`--mode "Watch"`, "Enforce or Observe"}},
		"peer":              {[]string{"standalone", "--replication-peers", "host"}, []string{`--replication-peers "host"`}},
		"number":            {[]string{"standalone", "--max-instances", "many"}, []string{"max-instances"}},
		"none allowed":      {[]string{"standalone", "--max-instances", "0"}, []string{"--max-instances 0"}},
		"no connections":    {[]string{"standalone", "--max-connections", "0"}, []string{"--max-connections 0"}},
		"all that is wrong": {[]string{"standalone", "--start-gate", "x", "--max-instances", "0"}, []string{"--start-gate", "--max-instances"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := ParseArgs(tc.args, &bytes.Buffer{})
			if err == nil {
				t.Fatal("accepted")
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q lacks %q", err, want)
				}
			}
		})
	}
}

func TestHelpAndVersionAreNoErrors(t *testing.T) {
	for _, arg := range []string{"help", "--help", "-h", "version"} {
		var out bytes.Buffer
		if _, err := ParseArgs([]string{arg}, &out); !errors.Is(err, ErrHelp) || out.Len() == 0 {
			t.Errorf("%s: %v, printed %q", arg, err, out.String())
		}
	}
}

func TestTrustedProxiesMayBeAddressesOrRanges(t *testing.T) {
	o := DefaultOptions()
	o.TrustedProxies = []string{"192.0.2.1", "10.1.2.3/8"}
	got, err := prefixes("trusted-proxies", o.TrustedProxies)
	want := []netip.Prefix{netip.MustParsePrefix("192.0.2.1/32"), netip.MustParsePrefix("10.0.0.0/8")}
	if err != nil || len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestConnectionsLeaveFilesForEverythingElse(t *testing.T) {
	o := DefaultOptions()
	o.MaxConnections = 1000
	for files, want := range map[int]int{0: 1000, 100: 1, 1024: 768, 1256: 1000, 1 << 20: 1000} {
		if got := o.connections(files); got != want {
			t.Errorf("with %d files there may be %d connections, want %d", files, got, want)
		}
	}
}
