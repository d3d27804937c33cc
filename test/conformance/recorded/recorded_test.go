package recorded

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse_readsWhatFormatWrote(t *testing.T) {
	t.Parallel()
	want := []Request{
		{
			Client: "c", Kind: "register", Status: 204, Method: "POST", URI: "/eureka/apps/A",
			Header: http.Header{"Accept": {"application/json"}, "X": {"1", "2"}}, Body: []byte("{\n\n\"a\": 1}\n"),
		},
		{Client: "c", Kind: "full fetch", Status: 200, Method: "GET", URI: "/eureka/apps?x=%20", Header: http.Header{"Empty": {""}}, Body: []byte{}},
	}
	got, err := Parse("c", Format(want))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("requests differ (-written +read):\n%s", diff)
	}
}

func TestParse_refusesWhatIsNoRequest(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"GET / HTTP/1.1\n\n", "### \n\n", "### register\nGET / HTTP/1.1\n\n\n", "### register x\nGET / HTTP/1.1\n\n\n",
		"### register 204\nGET /\n\n\n", "### register 204\nGET / HTTP/1.1\nno header\n\n\n", "### register 204\nGET / HTTP/1.1",
	} {
		if got, err := Parse("c", []byte(text)); err == nil {
			t.Errorf("%q was read as %+v", text, got)
		}
	}
}

func TestAll_hasRequestsOfEveryKind(t *testing.T) {
	t.Parallel()
	all, err := All()
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	for _, r := range all {
		kinds[r.Kind]++
	}
	for _, kind := range []string{"register", "heartbeat", "cancel", "full fetch", "delta fetch", "override", "clear override"} {
		if kinds[kind] == 0 {
			t.Errorf("there is no %s among %v", kind, kinds)
		}
	}
}
