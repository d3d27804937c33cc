package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// Writers and readers at once: every document agrees with its own hash, and the
// packed form with the plain one it was made from.
func TestConcurrent_documentsAgreeWithThemselves(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.fill(300, 7)
	var writers, readers sync.WaitGroup
	stop := make(chan struct{})
	statuses := []string{"UP", "STARTING", "OUT_OF_SERVICE", "DOWN"}
	for w := range 4 {
		writers.Go(func() {
			for i := range 300 {
				n := (w*75 + i) % 300
				path := fmt.Sprintf("/eureka/apps/APP-%04d/pod-%05d:app:8080", n/7, n)
				switch i % 4 {
				case 0:
					r.do(http.MethodDelete, path, "")
				case 1:
					r.do(http.MethodPost, fmt.Sprintf("/eureka/apps/APP-%04d", n/7), body(fmt.Sprintf("APP-%04d", n/7), fmt.Sprintf("pod-%05d:app:8080", n), "UP", 1))
				default:
					r.do(http.MethodPut, path+"/status?value="+statuses[(w+i)%4], "")
				}
			}
		})
	}
	for _, target := range []string{"/eureka/apps", "/eureka/apps", "/eureka/vips/demo"} {
		for _, encoding := range []string{"gzip", "identity"} {
			readers.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
						checkHash(t, r.do(http.MethodGet, target, "", "Accept", "application/json", "Accept-Encoding", encoding))
					}
				}
			})
		}
	}
	writers.Wait()
	close(stop)
	readers.Wait()
}

func checkHash(t *testing.T, rec *httptest.ResponseRecorder) {
	t.Helper()
	text := rec.Body.Bytes()
	if rec.Header().Get("Content-Encoding") == "gzip" {
		var err error
		if text, err = unzip(text); err != nil {
			t.Error(err)
			return
		}
	}
	var doc listing
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Errorf("decoding: %v", err)
		return
	}
	client := newJavaClient()
	client.apps = map[string]map[string]string{}
	for _, app := range doc.Applications.Apps {
		client.apps[app.Name] = instancesOf(app)
	}
	if got := client.hash(); got != doc.Applications.Hash {
		t.Errorf("the document has %q and says %q", got, doc.Applications.Hash)
	}
}
