package app

import (
	"bytes"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"
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
		"number":            {[]string{"standalone", "--max-instances", "many"}, []string{"max-instances"}},
		"none allowed":      {[]string{"standalone", "--max-instances", "0"}, []string{"--max-instances 0"}},
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
	got, err := o.proxies()
	want := []netip.Prefix{netip.MustParsePrefix("192.0.2.1/32"), netip.MustParsePrefix("10.0.0.0/8")}
	if err != nil || len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestGateStaysShutForAsLongAsClientsMayBackOff(t *testing.T) {
	start := time.Unix(1_700_000_000, 0)
	tests := map[string]struct {
		fixed, absence, want time.Duration // absence negative: not known
	}{
		"first start":          {-1, 0, 45 * time.Second},
		"away for 20 s":        {-1, 20 * time.Second, 65 * time.Second},
		"away for an hour":     {-1, time.Hour, 345 * time.Second},
		"nobody knows":         {-1, -1, 345 * time.Second},
		"off":                  {0, time.Hour, 0},
		"fixed":                {10 * time.Second, time.Hour, 10 * time.Second},
		"a clock that is back": {-1, 0, 45 * time.Second},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := newGate(start, tc.fixed)
			if tc.absence >= 0 {
				g.away(tc.absence, time.Time{})
			}
			if tc.want > 0 && g.open(start.Add(tc.want-time.Millisecond)) {
				t.Error("open too early")
			}
			if !g.open(start.Add(tc.want)) {
				t.Error("still shut")
			}
		})
	}
}

func TestGateStaysShutForWhatTheProcessBeforeLeftOfItsOwn(t *testing.T) {
	start := time.Unix(1_700_000_000, 0)
	const absence = 5 * time.Second
	tests := map[string]struct {
		fixed     time.Duration
		listsFrom time.Time
		want      time.Duration
	}{
		"it had to wait longer":      {-1, start.Add(200 * time.Second), 200 * time.Second},
		"it had to wait less":        {-1, start.Add(20 * time.Second), 50 * time.Second},
		"it answered already":        {-1, start.Add(-time.Hour), 50 * time.Second},
		"its clock was hours ahead":  {-1, start.Add(5 * time.Hour), 345 * time.Second},
		"fixed lengths stay":         {10 * time.Second, start.Add(200 * time.Second), 10 * time.Second},
		"it was never told anything": {-1, time.Time{}, 50 * time.Second},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := newGate(start, tc.fixed)
			g.away(absence, tc.listsFrom)
			if got := g.listsFrom().Sub(start); got != tc.want {
				t.Errorf("lists from %v after the start, want %v", got, tc.want)
			}
		})
	}
}
