package dashboard

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/kureka/kureka/internal/registry"
)

const (
	// maxSearch bounds the text of a search, in bytes.
	maxSearch = 200
	// rowsEach and appsEach are how much one page shows.
	rowsEach, appsEach = 200, 50
	// outsidePods is how a question names the instances of no namespace, whose own name
	// is empty.
	outsidePods = "-"
)

// The parameters of questions.
const (
	paramText      = "q"
	paramApp       = "app"
	paramID        = "id"
	paramNamespace = "namespace"
	paramStatus    = "status"
	paramReason    = "reason"
	paramView      = "view"
	paramPage      = "page"
)

// The two ways to list the registry.
const (
	byApplication = ""
	byInstance    = "instances"
)

// filter is what a question asks of the list of instances. Empty fields let
// everything pass.
type filter struct {
	Text, App, Namespace, Status, Reason string
	View                                 string // byApplication or byInstance
	Page                                 int    // from 1
}

func filterOf(q url.Values) filter {
	f := filter{
		Text: q.Get(paramText), App: strings.ToUpper(q.Get(paramApp)), Namespace: q.Get(paramNamespace), Reason: q.Get(paramReason),
		Status: registry.ParseStatus(q.Get(paramStatus)).String(), Page: pageOf(q),
	}
	if len(f.Text) > maxSearch {
		f.Text = f.Text[:maxSearch]
	}
	if q.Get(paramView) == byInstance || f.Narrows() && q.Get(paramView) != "applications" {
		f.View = byInstance
	}
	return f
}

// pageOf reads the number of a page; what is none is the first.
func pageOf(q url.Values) int {
	n, err := strconv.Atoi(q.Get(paramPage))
	if err != nil {
		return 1
	}
	return max(1, n)
}

// Narrows reports whether anything is filtered out.
func (f filter) Narrows() bool {
	return f.Text != "" || f.App != "" || f.Namespace != "" || f.Status != "" || f.Reason != ""
}

// link is the first page with the filter.
func (f filter) link() string {
	q := url.Values{}
	for key, value := range map[string]string{paramText: f.Text, paramApp: f.App, paramNamespace: f.Namespace, paramStatus: f.Status, paramReason: f.Reason} {
		if value != "" {
			q.Set(key, value)
		}
	}
	switch {
	case f.View == byInstance && !f.Narrows():
		q.Set(paramView, byInstance)
	case f.View == byApplication && f.Narrows():
		q.Set(paramView, "applications")
	}
	if f.Page > 1 {
		q.Set(paramPage, strconv.Itoa(f.Page))
	}
	if len(q) == 0 {
		return homePath
	}
	return homePath + "?" + q.Encode()
}

// To returns the filter's own page with one field set otherwise.
func (f filter) To(field, value string) string {
	f.Page = 1
	switch field {
	case paramView:
		f.View = value
	case paramApp:
		f.App, f.View = value, byInstance
	case paramNamespace:
		f.Namespace, f.View = value, byInstance
	case paramStatus:
		f.Status, f.View = value, byInstance
	case paramReason:
		f.Reason, f.View = value, byInstance
	case paramPage:
		f.Page, _ = strconv.Atoi(value)
	}
	return f.link()
}

// matcher is a filter made ready to be asked many times.
type matcher struct {
	filter
	status       registry.Status
	namespace    string
	lower, upper string
}

func (f filter) matcher() matcher {
	m := matcher{filter: f, status: registry.ParseStatus(f.Status), namespace: f.Namespace, lower: strings.ToLower(f.Text), upper: strings.ToUpper(f.Text)}
	if f.Namespace == outsidePods {
		m.namespace = ""
	}
	return m
}

func (m *matcher) matches(i *registry.Instance) bool {
	switch {
	case m.App != "" && m.App != i.App,
		m.status != registry.None && m.status != i.Status,
		m.Namespace != "" && m.namespace != i.Partition,
		m.Reason != "" && m.Reason != causeOf(i):
		return false
	}
	return m.lower == "" || m.mentions(i)
}

// mentions reports whether what people know an instance by contains the text, in
// any case.
func (m *matcher) mentions(i *registry.Instance) bool {
	if strings.Contains(i.App, m.upper) {
		return true
	}
	for _, field := range [...]string{i.ID, i.HostName, i.IPAddr, i.VIP, i.Node, i.Partition, i.Verdict.Reason} {
		if strings.Contains(strings.ToLower(field), m.lower) {
			return true
		}
	}
	return false
}

// The causes of an instance's status besides the reasons of verdicts.
const (
	causeOverride = "Override"
	causeClient   = "ClientStatus"
)

// causeOf says what keeps an instance out of service, "" if nothing does.
func causeOf(i *registry.Instance) string {
	switch {
	case i.Status == registry.Up:
		return i.Verdict.Reason // held back, if any
	case i.Verdict.OutOfService:
		return i.Verdict.Reason
	case i.Override == i.Status:
		return causeOverride
	}
	return causeClient
}
