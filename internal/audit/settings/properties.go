package settings

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// document is one part of an application file.
type document struct {
	// profile is the one that it is for; empty for every one.
	profile string
	pairs   []pair
}

type pair struct{ key, text string }

// add keeps a pair, or the profile that it names. A document that is for a profile by
// an expression is for none that can be known.
func (d *document) add(key, text string) {
	switch canonical(key) {
	case "springconfigactivateonprofile", "springprofiles":
		d.profile = strings.TrimSpace(text)
	}
	d.pairs = append(d.pairs, pair{key, text})
}

// parseProperties reads a .properties file with Spring's separators of documents.
// Every text is a valid one.
func parseProperties(text string) []document {
	documents := []document{{}}
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i := 0; i < len(lines) && len(documents) < maxDocuments; i++ {
		line := strings.TrimLeft(lines[i], " \t\f")
		if trimmed := strings.TrimRight(line, " \t"); trimmed == "#---" || trimmed == "!---" {
			documents = append(documents, document{})
			continue
		}
		if line == "" || line[0] == '#' || line[0] == '!' {
			continue
		}
		var whole strings.Builder
		for continues(line) && i+1 < len(lines) {
			whole.WriteString(line[:len(line)-1])
			i++
			line = strings.TrimLeft(lines[i], " \t\f")
		}
		whole.WriteString(line)
		key, value := cutPair(whole.String())
		documents[len(documents)-1].add(unescape(key), unescape(value))
	}
	return documents
}

// continues says whether a line ends with an odd number of backslashes.
func continues(line string) bool {
	return (len(line)-len(strings.TrimRight(line, `\`)))%2 == 1
}

// cutPair cuts a line at its first separator that is not escaped.
func cutPair(line string) (key, value string) {
	end := len(line)
	for i := 0; i < len(line); i++ {
		if line[i] == '\\' {
			i++
		} else if strings.IndexByte("=: \t\f", line[i]) >= 0 {
			end = i
			break
		}
	}
	value = strings.TrimLeft(line[end:], " \t\f")
	if value != "" && (value[0] == '=' || value[0] == ':') {
		value = strings.TrimLeft(value[1:], " \t\f")
	}
	return line[:end], value
}

func unescape(text string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			out.WriteByte(text[i])
			continue
		}
		i++
		switch c := text[i]; c {
		case 'n':
			out.WriteByte('\n')
		case 't':
			out.WriteByte('\t')
		case 'r':
			out.WriteByte('\r')
		case 'f':
			out.WriteByte('\f')
		case 'u':
			i += writeRune(&out, text[i+1:])
		default:
			out.WriteByte(c)
		}
	}
	return out.String()
}

// writeRune writes the character of four hexadecimal digits and returns how many of
// them there were.
func writeRune(out *strings.Builder, digits string) int {
	if len(digits) < 4 {
		return 0
	}
	n, err := strconv.ParseUint(digits[:4], 16, 16)
	if err != nil {
		return 0
	}
	r := rune(n)
	if !utf8.ValidRune(r) {
		r = utf8.RuneError
	}
	out.WriteRune(r)
	return 4
}
