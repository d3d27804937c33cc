package eureka

import "testing"

func TestFormatFollowsTheAcceptHeader(t *testing.T) {
	tests := map[string]Format{
		"": XML, "*/*": XML, "application/xml": XML, "text/html, image/gif, *; q=.2": XML,
		"application/json": JSON, "application/json;q=0.1, application/xml": JSON, "APPLICATION/JSON": JSON,
		"application/vnd.demo+json": JSON, "  application/json": JSON, "application/json, application/*+json": JSON,
	}
	for accept, want := range tests {
		if got := FormatFor(accept); got != want {
			t.Errorf("FormatFor(%q) = %s, want %s", accept, got, want)
		}
	}
}

func TestContentTypeNamesTheFormatAlone(t *testing.T) {
	for f, want := range map[Format]string{JSON: "application/json", XML: "application/xml"} {
		if got := f.ContentType(); got != want {
			t.Errorf("%s: got %q, want %q", f, got, want)
		}
	}
}
