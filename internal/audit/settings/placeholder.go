package settings

import "strings"

const (
	// maxNesting is how deep placeholders are resolved that hold placeholders.
	maxNesting = 8
	// maxResolved is how long a text gets by resolving, in bytes; what would be
	// longer is not known.
	maxResolved = 8 << 10
)

// What stands in a text for what every pod has another one of.
const (
	PodName    = "{pod name}"
	PodAddress = "{pod address}"
	unique     = "{unique}"
)

// wellKnown answers for names that an application has without being told.
func wellKnown(name string) (text string, certainty Certainty, ok bool) {
	switch name {
	case "hostname", "springcloudclienthostname", "podname":
		return PodName, PerPod, true
	case "springcloudclientipaddress", "podip":
		return PodAddress, PerPod, true
	case "springapplicationname", "serverport", "managementserverport", "springprofilesactive":
		return "{" + name + "}", Known, true
	}
	if strings.HasPrefix(name, "random") || name == "poduid" {
		return unique, PerPod, true
	}
	return "", Unknown, false
}

// resolve puts the values of placeholders into a value.
func (s *Settings) resolve(v Value) Value {
	r := resolver{settings: s, left: maxResolved}
	text, certainty := r.text(v.Text, maxNesting)
	return Value{Text: text, From: v.From, Certainty: max(certainty, v.Certainty)}
}

// resolver counts what one value may still grow by.
type resolver struct {
	settings *Settings
	left     int
}

func (r *resolver) text(in string, nesting int) (string, Certainty) {
	var out strings.Builder
	certainty := Known
	for in != "" {
		before, p, rest := nextPlaceholder(in)
		if r.left -= len(before) + 1; r.left < 0 {
			return out.String(), max(certainty, Unknown)
		}
		out.WriteString(before)
		if in = rest; p == nil {
			break
		}
		text, c := r.value(p, nesting)
		out.WriteString(text)
		certainty = max(certainty, c)
	}
	return out.String(), certainty
}

func (r *resolver) value(p *placeholder, nesting int) (string, Certainty) {
	name := canonical(p.name)
	if nesting == 0 {
		return "", Unknown
	}
	if v, ok := r.settings.values[name]; ok {
		text, certainty := r.text(v.Text, nesting-1)
		return text, max(certainty, v.Certainty)
	}
	if text, certainty, ok := wellKnown(name); ok {
		return text, certainty
	}
	if p.hasDefault && !r.settings.opaque {
		return r.text(p.otherwise, nesting-1)
	}
	return "", Unknown
}

// placeholder is ${name:otherwise}, $(name) or $name.
type placeholder struct {
	name, otherwise string
	hasDefault      bool
}

// nextPlaceholder cuts the text around its first placeholder; nil if there is none.
func nextPlaceholder(in string) (before string, p *placeholder, rest string) {
	for i := 0; i+1 < len(in); i++ {
		if in[i] != '$' {
			continue
		}
		name, after, ok := cutName(in[i+1:])
		if !ok && (in[i+1] == '{' || in[i+1] == '(') {
			break // nothing closes it, and Spring stops there, too
		}
		if !ok {
			continue
		}
		p = &placeholder{}
		p.name, p.otherwise, p.hasDefault = strings.Cut(name, ":")
		return in[:i], p, after
	}
	return in, nil, ""
}

// cutName cuts what follows a dollar sign.
func cutName(in string) (name, rest string, ok bool) {
	switch in[0] {
	case '{':
		return enclosed(in, '{', '}')
	case '(':
		return enclosed(in, '(', ')')
	}
	end := strings.IndexFunc(in, func(r rune) bool {
		return (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '_'
	})
	if end < 0 {
		end = len(in)
	}
	return in[:end], in[end:], end > 0 && (in[0] < '0' || in[0] > '9')
}

// enclosed cuts what lies between the bracket that a text begins with and the one
// that closes it.
func enclosed(in string, opening, closing byte) (inner, rest string, ok bool) {
	depth := 0
	for i := range len(in) {
		switch in[i] {
		case opening:
			depth++
		case closing:
			if depth--; depth == 0 {
				return in[1:i], in[i+1:], true
			}
		}
	}
	return "", "", false
}
