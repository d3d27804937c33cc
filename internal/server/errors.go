package server

import (
	"errors"
	"net/http"
	"strings"

	"github.com/kureka/kureka/internal/eureka"
)

// errTooLarge says that a body exceeds the limit, packed or unpacked.
var errTooLarge = errors.New("the body is too large")

// refuse answers a registration that cannot be accepted. It is the only answer
// that explains itself: nobody else than the person who wrote the client reads
// it, and no client mistakes it for a document.
func (c *call) refuse(err error) {
	if errors.Is(err, errTooLarge) {
		c.empty(http.StatusRequestEntityTooLarge)
		return
	}
	if invalid, ok := errors.AsType[*eureka.ValidationError](err); ok {
		c.text(http.StatusBadRequest, "text/plain; charset=utf-8", invalid.Text)
		return
	}
	reason := "cannot parse request body"
	if unreadable, ok := errors.AsType[*eureka.DecodeError](err); ok && unreadable.Field != "" {
		reason += ": " + unreadable.Error() // fixed words, nothing of the body
	}
	if strings.Contains(c.r.Header.Get(contentType), "xml") {
		c.text(http.StatusBadRequest, eureka.XML.ContentType(), "<error><message>"+reason+"</message></error>")
		return
	}
	c.text(http.StatusBadRequest, eureka.JSON.ContentType(), `{"error": "`+reason+`"}`)
}
