package dashboard

import (
	"bytes"
	"fmt"
	"html/template"
	"io/fs"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// painter makes pages of what is to be shown. Everything shown is text to it: the
// templates escape by context, and no text is ever declared safe.
type painter map[string]*template.Template

func newPainter(files map[string]asset) painter {
	tools := template.FuncMap{
		"asset": func(name string) string { return files[name].address },
		"ago":   ago, "stamp": stamp, "iso": iso, "number": number[int], "long": number[int64], "rate": rate, "span": span,
		"link": webLink, "instance": instanceLink, "answer": answerLink, "meaning": meaning, "place": place, "low": strings.ToLower, "words": words, "dict": dict,
	}
	shared := template.Must(template.New("layout.html").Funcs(tools).ParseFS(embedded, "pages/shared/*.html"))
	out := painter{}
	for _, file := range pageFiles() {
		name := strings.TrimSuffix(path.Base(file), ".html")
		out[name] = template.Must(template.Must(shared.Clone()).ParseFS(embedded, file))
	}
	return out
}

func pageFiles() []string {
	files, err := fs.Glob(embedded, "pages/*.html")
	if err != nil {
		panic(err) // the pattern above is wrong
	}
	return files
}

func (p painter) page(made page, in frame) ([]byte, error) {
	var b bytes.Buffer
	if err := p[made.name].Execute(&b, in); err != nil {
		return nil, fmt.Errorf("filling in the page: %w", err)
	}
	return b.Bytes(), nil
}

// dict gives a part of a template several values by name: "name", value and so on.
func dict(pairs ...any) (map[string]any, error) {
	out := make(map[string]any, len(pairs)/2)
	for pair := range slices.Chunk(pairs, 2) {
		name, ok := pair[0].(string)
		if !ok || len(pair) < 2 {
			return nil, fmt.Errorf("want pairs of a name and a value, got %v", pairs)
		}
		out[name] = pair[1]
	}
	return out, nil
}

// ago tells how long before now a moment was, or how long after.
func ago(now, at time.Time) string {
	if at.IsZero() {
		return "never"
	}
	if d := at.Sub(now); d >= time.Second {
		return "in " + span(d)
	}
	if d := now.Sub(at); d >= time.Second {
		return span(d) + " ago"
	}
	return "now"
}

// span rounds a duration to what people say.
func span(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < 2*time.Minute:
		return strconv.Itoa(int(d/time.Second)) + " s"
	case d < 2*time.Hour:
		return strconv.Itoa(int(d/time.Minute)) + " min"
	case d < 2*day:
		return strconv.Itoa(int(d/time.Hour)) + " h"
	}
	return strconv.Itoa(int(d/day)) + " d"
}

func iso(t time.Time) string   { return t.UTC().Format(time.RFC3339) }
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") + " UTC" }

// number writes an integer with a comma after every thousand.
func number[T int | int64](n T) string {
	text := strconv.FormatInt(int64(n), 10)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// rate writes a number of renewals per minute.
func rate(perMinute float64) string {
	if perMinute >= 100 {
		return number(int(perMinute + 0.5))
	}
	return strconv.FormatFloat(float64(int(perMinute*10+0.5))/10, 'f', -1, 64)
}

// place names a partition of self-preservation.
func place(partition string) string {
	if partition == "" {
		return "outside pods"
	}
	return partition
}

// words puts spaces into a name such as PodDeleting.
func words(name string) string {
	var b strings.Builder
	for i, r := range name {
		if i > 0 && r >= 'A' && r <= 'Z' {
			b.WriteByte(' ')
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// meaning says what follows from evidence of a class, "" if nothing does.
func meaning(class string) string {
	return map[string]string{
		"proof":          "Proof: it is certainly gone. It is removed at once, and what its process still sends changes nothing.",
		"ending":         "Its own end has begun: it is out of service at once, while its process may still run.",
		"asked":          "Somebody asked for it to be out of service.",
		"hard-notice":    "Its node is about to go: it is out of service at once, unless it is the application's last instance in service.",
		"planned-notice": "Its node is to go in an orderly way: it is out of service as far as the application's floor allows.",
		"observed":       "Its kubelet reports it: it is out of service as far as the policy says and the application's floor allows.",
		"inferred":       "Concluded from silence and confirmed by a second witness: it is out of service as far as the floor allows, until a sign of life comes.",
	}[class]
}

// webLink returns what may be linked to of what a client calls its page: a whole
// address of the web. Everything else is shown as text.
func webLink(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return u.String()
}

// instanceLink is the page of an instance. Ids may hold anything, also what browsers
// would make another path of.
func instanceLink(app, id string) string {
	return PagePrefix + "instance?" + url.Values{paramApp: {app}, paramID: {id}}.Encode()
}

// answerLink is the same as JSON.
func answerLink(app, id string) string {
	return Prefix + "instances/" + url.PathEscape(app) + "/" + url.PathEscape(id)
}
