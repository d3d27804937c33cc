package gateway

import (
	"net/http"
	"testing"
)

func TestProber_seesTheFirstResponseThatMatches(t *testing.T) {
	r := newRegistry(t)
	r.full = document("UP_2_", wire("a", "UP", "ADDED"), wire("b", "UP", "ADDED"))
	p := StartProber(t.Context(), ProberOptions{Registry: r.URL, App: "orders"})
	defer p.Stop()
	if _, err := p.Await(t.Context(), func(r Response) bool { return r.UpCount() == 2 }); err != nil {
		t.Fatal(err)
	}
	gone := p.Expect(func(r Response) bool { return r.Lacks("b") })
	r.script(func() { r.full = document("UP_1_", wire("a", "UP", "ADDED")) })
	got, err := gone.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !got.Up("a") || got.Up("b") || got.End.Before(got.Start) {
		t.Errorf("response = %+v", got)
	}
}

func TestProber_tellsSilenceFromAbsence(t *testing.T) {
	tests := map[string]struct {
		code   int
		listed bool
	}{
		"the application is unknown": {code: http.StatusNotFound, listed: true},
		"not answering yet":          {code: http.StatusServiceUnavailable, listed: false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRegistry(t)
			r.code = tc.code
			p := StartProber(t.Context(), ProberOptions{Registry: r.URL, App: "orders"})
			defer p.Stop()
			got, err := p.Await(t.Context(), func(Response) bool { return true })
			if err != nil {
				t.Fatal(err)
			}
			if got.Code != tc.code || got.Listed != tc.listed || got.Lacks("a") != tc.listed {
				t.Errorf("response = %+v, want code %d, listed %v", got, tc.code, tc.listed)
			}
		})
	}
}

func TestProber_stoppedEndsTheWait(t *testing.T) {
	p := StartProber(t.Context(), ProberOptions{Registry: newRegistry(t).URL, App: "orders"})
	never := p.Expect(func(Response) bool { return false })
	p.Stop()
	if _, err := never.Wait(t.Context()); err == nil {
		t.Error("no error")
	}
}
