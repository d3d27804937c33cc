package dashboard_test

import (
	"net/http"
	"slices"
	"testing"
)

func TestInstancesAreListedAndFiltered(t *testing.T) {
	tests := map[string]struct {
		want    []string
		matched float64
	}{
		"":                       {[]string{"DEMO/c UP ", "DEMO/" + oddID + " OUT_OF_SERVICE PodDeleting", "VM/v UP "}, 3},
		"?limit=1":               {[]string{"DEMO/c UP "}, 3},
		"?app=demo&status=up":    {[]string{"DEMO/c UP "}, 1},
		"?namespace=-":           {[]string{"VM/v UP "}, 1},
		"?bound=false":           {[]string{"VM/v UP "}, 1},
		"?bound=true&app=VM":     {[]string{}, 0},
		"?reason=PodDeleting":    {[]string{"DEMO/" + oddID + " OUT_OF_SERVICE PodDeleting"}, 1},
		"?q=192.0.2.12&app=DEMO": {[]string{"DEMO/c UP "}, 1},
	}
	for query, tc := range tests {
		_, doc := get(t, incident(t), "/kureka/v1/instances"+query)
		list, _ := doc["instances"].([]any)
		got := make([]string, 0, len(list))
		for _, one := range list {
			app, _ := at(one, "app").(string)
			id, _ := at(one, "id").(string)
			status, _ := at(one, "status").(string)
			reason, _ := at(one, "reason").(string)
			got = append(got, app+"/"+id+" "+status+" "+reason)
		}
		if !slices.Equal(got, tc.want) || doc["matched"] != tc.matched {
			t.Errorf("%q: %v of %v, want %v of %v", query, got, doc["matched"], tc.want, tc.matched)
		}
	}
	for _, query := range []string{"?status=GONE", "?bound=perhaps", "?limit=0", "?zone=a"} {
		if code, doc := get(t, incident(t), "/kureka/v1/instances"+query); code != http.StatusBadRequest || doc["error"] == nil {
			t.Errorf("%q: %d %v", query, code, doc)
		}
	}
}
