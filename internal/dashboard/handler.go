package dashboard

import (
	"mime"
	"net/http"
	"strings"
)

// PagePrefix is the path under which all pages but the first are answered.
const PagePrefix = "/kureka/ui/"

// homePath is where a Eureka server has its page. Clients that are configured
// with the root as base path send requests below it, and health checks to it: every
// read of it is the page, and what is below it stays the API's.
const homePath = "/"

// Answers reports whether a request is for this package and not for the API of
// clients.
func Answers(r *http.Request) bool {
	path := r.URL.EscapedPath()
	return path == LastNPath || strings.HasPrefix(path, Prefix) || isForPage(r)
}

// New returns the handler of everything that Answers names.
func New(opts Options) http.Handler {
	api := &api{opts, make(chan struct{}, maxAtOnce)}
	pages := newPages(opts)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isForPage(r) {
			pages.ServeHTTP(w, r)
			return
		}
		api.ServeHTTP(w, r)
	})
}

func isForPage(r *http.Request) bool {
	path := r.URL.EscapedPath()
	if strings.HasPrefix(path, PagePrefix) {
		return true
	}
	return isRead(r) && (path == homePath || path == LastNPath && wantsPage(r.Header))
}

func isRead(r *http.Request) bool { return r.Method == http.MethodGet || r.Method == http.MethodHead }

// wantsPage reports whether HTML is asked for by name, as browsers do and neither
// clients nor monitors. The root is a page for all of them, because health checks ask
// for that of a Eureka server.
func wantsPage(h http.Header) bool {
	for _, line := range h.Values("Accept") {
		for part := range strings.SplitSeq(line, ",") {
			kind, params, err := mime.ParseMediaType(part)
			weight, weighed := params["q"]
			refused := weighed && strings.Trim(weight, "0.") == ""
			if err == nil && kind == "text/html" && !refused {
				return true
			}
		}
	}
	return false
}
