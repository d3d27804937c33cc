package eureka

import (
	"encoding/xml"
	"testing"
)

func TestXMLNames(t *testing.T) {
	tests := map[string]string{
		"":                   "",
		"plain":              "plain",
		"user.name-2":        "user.name-2",
		"build_id":           "build__id",
		"a$b":                "a_-b",
		"_":                  "__",
		"$":                  "_-",
		"__":                 "____",
		"2nd key":            "_.0032nd_.0020key",
		"-x":                 "_.002dx",
		"k:v":                "k_.003av",
		"a/b\\c":             "a_.002fb_.005cc",
		"<&>":                "_.003c_.0026_.003e",
		"nul\x00":            "nul_.0000",
		"größe":              "größe",
		"鍵":                  "鍵",
		"\u00d7":             "_.00d7",
		"e\u0301":            "e_.0301",
		"🔑":                  "_.d83d_.dd11",
		"a_.0041":            "a__.0041",
		"_-":                 "__-",
		"noncharacter\uFFFF": "noncharacter_.ffff",
	}
	for key, want := range tests {
		got := EncodeXMLName(key)
		if got != want {
			t.Errorf("EncodeXMLName(%q) = %q, want %q", key, got, want)
		}
		if back := DecodeXMLName(got); back != key {
			t.Errorf("DecodeXMLName(%q) = %q, want %q", got, back, key)
		}
	}
}

func TestXMLNamesThatNobodyEscaped(t *testing.T) {
	tests := map[string]string{
		"a_b": "a_b", "a_": "a_", "_a": "_a", "a_.12": "a_.12", "a_.xyzw": "a_.xyzw", "a_.+123": "a_.+123",
		"a_.00E9": "aé", "___": "__", "_.d83d": "\uFFFD", "_.dd11_.d83d": "\uFFFD\uFFFD", "_.d83dx": "\uFFFDx",
	}
	for name, want := range tests {
		if got := DecodeXMLName(name); got != want {
			t.Errorf("DecodeXMLName(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestUnescapedLettersAreNamesToOtherParsers(t *testing.T) {
	for _, letters := range nameLetters {
		for r := letters[0]; r <= letters[1]; r++ {
			if name := EncodeXMLName(string(r)); name == string(r) && !isXMLName(name) {
				t.Errorf("%U is written as it is but is no name", r)
			}
		}
	}
}

// isXMLName reports whether a parser takes the text for the name of an element
// without a namespace.
func isXMLName(name string) bool {
	var root struct{ XMLName xml.Name }
	err := xml.Unmarshal([]byte("<"+name+"></"+name+">"), &root)
	return err == nil && root.XMLName == xml.Name{Local: name}
}
