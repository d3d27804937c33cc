package main

import (
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSequence_isReproducible(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		one, other := newGenerator(seed).sequence(16), newGenerator(seed).sequence(16)
		if diff := cmp.Diff(lines(one), lines(other)); diff != "" {
			t.Fatalf("seed %d differs from itself:\n%s", seed, diff)
		}
	}
}

func lines(steps []step) []string {
	all := make([]string, 0, len(steps))
	for i := range steps {
		all = append(all, steps[i].String())
	}
	return all
}

func TestParse_readsBothFormatsAlike(t *testing.T) {
	t.Parallel()
	docs := map[string]string{
		"application/json": `{"applications":{"versions__delta":"1","apps__hashcode":"UP_1_","application":[{"name":"A","instance":[
			{"instanceId":"i","app":"A","status":"UP","lastDirtyTimestamp":"1000","lastUpdatedTimestamp":"0"}]}]}}`,
		"application/xml": `<applications><versions__delta>1</versions__delta><apps__hashcode>UP_1_</apps__hashcode><application><name>A</name>
			<instance><instanceId>i</instanceId><app>A</app><status>UP</status><lastDirtyTimestamp>1000</lastDirtyTimestamp>
			<lastUpdatedTimestamp>0</lastUpdatedTimestamp></instance></application></applications>`,
	}
	want := fields{"instanceId": "text i", "app": "text A", "status": "text UP", "lastDirtyTimestamp": "text 1000", "lastUpdatedTimestamp": "text unset"}
	for format, text := range docs {
		doc, err := parse(format, []byte(text), 2000)
		if err != nil {
			t.Fatalf("%s: %v", format, err)
		}
		if diff := cmp.Diff(want, doc.instances[key{"A", "i"}]); diff != "" {
			t.Errorf("%s differs (-want +got):\n%s", format, diff)
		}
		if doc.value() != "1" || doc.countedHash() != "UP_1_" || len(doc.apps) != 1 {
			t.Errorf("%s: version %q, hash %q, applications %q", format, doc.value(), doc.countedHash(), doc.apps)
		}
	}
}

func TestCompare_findsEveryKindOfDifference(t *testing.T) {
	t.Parallel()
	read := func(text string) answer {
		doc, err := parse("application/json", []byte(text), 2000)
		if err != nil {
			t.Fatal(err)
		}
		return answer{code: http.StatusOK, contentType: "application/json", doc: doc}
	}
	ref := read(`{"applications":{"apps__hashcode":"UP_2_","application":[{"name":"A","instance":[{"instanceId":"i","status":"UP"},{"instanceId":"j","status":"UP"}]}]}}`)
	got := read(`{"applications":{"apps__hashcode":"UP_1_","application":[{"name":"A","instance":[{"instanceId":"i","status":"DOWN"}]}],"more":1}}`)
	found := compareAnswers(ref, got)
	whats := make([]string, 0, len(found))
	for _, d := range found {
		whats = append(whats, d.what)
	}
	if diff := cmp.Diff([]string{"extra keys", "hash", "status", presence}, whats); diff != "" {
		t.Errorf("differences differ (-want +got):\n%s", diff)
	}
	if d := compareAnswers(ref, answer{code: http.StatusNotFound}); len(d) != 1 || d[0].what != "code" {
		t.Errorf("codes differ as %v", d)
	}
}

func TestFaults_findsWhatNoClientExpects(t *testing.T) {
	t.Parallel()
	beat := &step{kind: heartbeat}
	for name, a := range map[string]answer{
		"a 404 with a body": {code: http.StatusNotFound, body: []byte("{}")}, "a 200 with a body": {code: http.StatusOK, body: []byte("{}")},
	} {
		if len(faults(beat, a, nil)) == 0 {
			t.Errorf("%s is no fault", name)
		}
	}
	doc, err := parse("application/json", []byte(`{"applications":{"apps__hashcode":"UP_1_","application":[{"name":"A","instance":[
		{"instanceId":"i","status":"UP","actionType":"DELETED"},{"instanceId":"j","status":"UP","actionType":"ADDED"}]}]}}`), 2000)
	if err != nil {
		t.Fatal(err)
	}
	listing := &document{instances: map[key]fields{{"A", "j"}: {"status": "text UP"}}}
	if got := faults(&step{kind: readDelta}, answer{code: http.StatusOK, doc: doc}, listing); len(got) != 1 {
		t.Errorf("a delta that deletes first: %q", got)
	}
}

func TestRules_areThoseOfTheDocument(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../docs/wire-compat.md")
	if err != nil {
		t.Fatal(err)
	}
	headings := regexp.MustCompile("(?m)^### `([a-z-]+)`$").FindAllSubmatch(text, -1)
	documented := make([]string, 0, len(headings))
	for _, m := range headings {
		documented = append(documented, string(m[1]))
	}
	known := make([]string, 0, len(rules()))
	for _, r := range rules() {
		known = append(known, r.name)
	}
	slices.Sort(documented)
	slices.Sort(known)
	if diff := cmp.Diff(documented, known); diff != "" {
		t.Errorf("rules differ (-documented +known):\n%s", diff)
	}
}

func TestConclude_countsWhatWasPlayedAndWantsEveryRule(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		played, failed int
		fired          map[string]int
		fails          string
		says           string
	}{
		"all rules needed":    {enough, 0, map[string]int{"one": 1, "other": 2}, "", "1000 passed, 0 failed"},
		"a rule never needed": {enough, 0, map[string]int{"one": 1}, "1 rules explain nothing", "1000 passed, 0 failed"},
		"too few to tell":     {enough - 1, 0, map[string]int{"one": 1}, "", "999 passed, 0 failed"},
		"broken off":          {7, 5, map[string]int{"one": 1}, "5 sequences differ", "2 passed, 5 failed"},
	} {
		var out strings.Builder
		p := &player{rules: []rule{{name: "one"}, {name: "other"}}, fired: tc.fired}
		err := p.conclude(&out, 1, tc.played, tc.failed)
		if (err == nil) != (tc.fails == "") || err != nil && !strings.Contains(err.Error(), tc.fails) {
			t.Errorf("%s: %v, want %q", name, err, tc.fails)
		}
		if !strings.Contains(out.String(), tc.says) {
			t.Errorf("%s: no %q in\n%s", name, tc.says, out.String())
		}
	}
}
