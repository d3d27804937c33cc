package dashboard_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/kureka/kureka/internal/dashboard"
)

// stuck is a reader that takes its answer when it is let.
type stuck struct {
	http.ResponseWriter
	begun chan<- struct{}
	let   <-chan struct{}
}

func (s stuck) Write(b []byte) (int, error) {
	s.begun <- struct{}{}
	<-s.let
	return s.ResponseWriter.Write(b)
}

func TestSlowReadersTakeNoMoreThanTheirSlots(t *testing.T) {
	for path, slots := range map[string]int{dashboard.Prefix + "view": 8, dashboard.PagePrefix + "cluster": 16} {
		checkSlots(t, path, slots)
	}
}

func checkSlots(t *testing.T, path string, slots int) {
	t.Helper()
	h := incident(t)
	ask := func(w http.ResponseWriter) {
		h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody))
	}
	begun, let, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	for range slots {
		go func() {
			ask(stuck{httptest.NewRecorder(), begun, let})
			done <- struct{}{}
		}()
		<-begun
	}
	w := httptest.NewRecorder()
	if ask(w); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
		t.Errorf("one more was answered %d", w.Code)
	}
	close(let)
	for range slots {
		<-done
	}
	w = httptest.NewRecorder()
	if ask(w); w.Code != http.StatusOK {
		t.Errorf("after them it was answered %d", w.Code)
	}
}
