package eureka

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// nameLetters are the non-ASCII letters written as they are, as inclusive
// ranges in ascending order. They are names in every edition of XML 1.0;
// letters that only the later editions allow are escaped, since many parsers
// still follow the earlier ones.
var nameLetters = [...][2]rune{
	{0x00C0, 0x00D6},
	{0x00D8, 0x00F6},
	{0x00F8, 0x0131},
	{0x03A3, 0x03CE},
	{0x040E, 0x044F},
	{0x3041, 0x3094},
	{0x30A1, 0x30FA},
	{0x4E00, 0x9FA5},
	{0xAC00, 0xD7A3},
}

// EncodeXMLName turns any text into an XML element name the way the reference
// server does: "_" becomes "__", "$" becomes "_-", and a character that cannot
// stand at its place in a name becomes "_." and four hexadecimal digits, two
// such groups if it needs two UTF-16 units. A colon is escaped as well: it
// would declare a namespace prefix. Invalid bytes become U+FFFD. Only "" has
// no name and stays "".
func EncodeXMLName(name string) string {
	return string(appendXMLName(nil, name))
}

// appendXMLName appends what EncodeXMLName returns.
func appendXMLName(dst []byte, name string) []byte {
	for i, r := range name {
		switch {
		case r == '_':
			dst = append(dst, '_', '_')
		case r == '$':
			dst = append(dst, '_', '-')
		case isNameStart(r), i > 0 && isNameRest(r):
			dst = utf8.AppendRune(dst, r)
		case r > 0xFFFF:
			high, low := utf16.EncodeRune(r)
			dst = appendNameEscape(dst, high)
			dst = appendNameEscape(dst, low)
		default:
			dst = appendNameEscape(dst, r)
		}
	}
	return dst
}

func appendNameEscape(dst []byte, unit rune) []byte {
	return append(dst, '_', '.', hexDigits[unit>>12&0xF], hexDigits[unit>>8&0xF], hexDigits[unit>>4&0xF], hexDigits[unit&0xF])
}

func isNameStart(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
	}
	for _, letters := range nameLetters {
		if r <= letters[1] {
			return r >= letters[0]
		}
	}
	return false
}

func isNameRest(r rune) bool {
	return '0' <= r && r <= '9' || r == '-' || r == '.'
}

// DecodeXMLName is the inverse of EncodeXMLName. An underscore that begins no
// escape stands for itself, since clients other than Java write names as they
// are. Half of a surrogate pair becomes U+FFFD.
func DecodeXMLName(name string) string {
	if !strings.Contains(name, "_") {
		return name
	}
	decoded := make([]byte, 0, len(name))
	for name != "" {
		r, size := nextNameRune(name)
		decoded = utf8.AppendRune(decoded, r)
		name = name[size:]
	}
	return string(decoded)
}

// nextNameRune returns the first character that an encoded name stands for and
// how many bytes of the name stand for it.
func nextNameRune(name string) (r rune, size int) {
	switch {
	case strings.HasPrefix(name, "__"):
		return '_', 2
	case strings.HasPrefix(name, "_-"):
		return '$', 2
	}
	unit, ok := nameEscape(name)
	if !ok {
		return utf8.DecodeRuneInString(name)
	}
	if low, ok := nameEscape(name[nameEscapeLen:]); ok {
		if pair := utf16.DecodeRune(unit, low); pair != utf8.RuneError {
			return pair, 2 * nameEscapeLen
		}
	}
	return unit, nameEscapeLen
}

const nameEscapeLen = len("_.0000")

// nameEscape reads the escape of one UTF-16 unit at the start of name.
func nameEscape(name string) (unit rune, ok bool) {
	if len(name) < nameEscapeLen || name[:2] != "_." {
		return 0, false
	}
	n, err := strconv.ParseUint(name[2:nameEscapeLen], 16, 16)
	return rune(n), err == nil
}
