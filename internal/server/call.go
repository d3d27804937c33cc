package server

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/kureka/kureka/internal/eureka"
)

// retryAfter is what a refused client is told to wait, in seconds: the rhythm in
// which clients ask anyway.
const retryAfter = "30"

const contentType = "Content-Type"

// call is one request being answered. Every answer goes through its methods, so
// none has an unexpected body.
type call struct {
	w    http.ResponseWriter
	r    *http.Request
	now  time.Time
	code int  // of the answer, 0 before it
	sent bool // the answer tells the registry as it was in version, and was written
	// version is the registry's, of a list.
	version int64
	route
}

// method returns the method whose operation answers: HEAD is GET without the
// body.
func (c *call) method() string {
	if c.r.Method == http.MethodHead {
		return http.MethodGet
	}
	return c.r.Method
}

func (c *call) isRead() bool { return c.method() == http.MethodGet }

// format returns the format the client reads.
func (c *call) format() eureka.Format {
	return eureka.FormatFor(strings.Join(c.r.Header["Accept"], ","))
}

// listFormat is format for lists, which some clients ask to be compact. Some
// transports send the value in the brackets of a list.
func (c *call) listFormat() eureka.Format {
	if strings.EqualFold(strings.Trim(c.r.Header.Get("X-Eureka-Accept"), " []"), "compact") {
		return c.format().Compact()
	}
	return c.format()
}

// empty answers without a body.
func (c *call) empty(code int) {
	h := c.w.Header()
	switch {
	case code == http.StatusServiceUnavailable:
		h.Set("Retry-After", retryAfter)
	case code < http.StatusMultipleChoices && c.format() == eureka.JSON:
		// Some clients parse whatever is labelled JSON and fail on what is not, even
		// if there is nothing to parse.
		h.Set(contentType, eureka.JSON.ContentType())
	}
	c.begin(code)
}

// text answers with a short text.
func (c *call) text(code int, mediaType, text string) {
	h := c.w.Header()
	h.Set(contentType, mediaType)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Length", strconv.Itoa(len(text)))
	c.begin(code)
	_, _ = io.WriteString(c.w, text) // the client may have gone
}

// document answers 200 with a body in the given encoding.
func (c *call) document(f eureka.Format, encoding string, d document) {
	h := c.w.Header()
	h.Set(contentType, f.ContentType())
	h.Set("Vary", "Accept, Accept-Encoding, X-Eureka-Accept")
	h.Set("Content-Length", strconv.Itoa(d.size))
	if encoding != identityEncoding {
		h.Set("Content-Encoding", encoding)
	}
	c.begin(http.StatusOK)
	if c.r.Method == http.MethodHead {
		return
	}
	for _, piece := range d.pieces {
		if _, err := c.w.Write(piece); err != nil {
			return // the client has gone
		}
	}
	c.sent = true
}

func (c *call) begin(code int) {
	c.code = code
	c.w.WriteHeader(code)
}

// wantsGzip reports whether the client asked for gzip by name. A wildcard is no
// wish: the clients that decode gzip say so, and those that do not may send
// anything. Peers of the reference server ask but do not decode.
func (c *call) wantsGzip() bool {
	if strings.HasPrefix(c.r.Header.Get("User-Agent"), "Java-EurekaClient-Replication") {
		return false
	}
	for _, line := range c.r.Header["Accept-Encoding"] {
		for item := range strings.SplitSeq(line, ",") {
			coding, params, _ := strings.Cut(item, ";")
			coding = strings.TrimSpace(coding)
			if strings.EqualFold(coding, gzipEncoding) || strings.EqualFold(coding, "x-gzip") {
				return weight(params) > 0
			}
		}
	}
	return false
}

// weight reads the q parameter of an encoding, 1 if there is none.
func weight(params string) float64 {
	for param := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(param, "=")
		if !strings.EqualFold(strings.TrimSpace(name), "q") {
			continue
		}
		if q, err := strconv.ParseFloat(strings.TrimSpace(value), 64); err == nil {
			return q
		}
	}
	return 1
}
