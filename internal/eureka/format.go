package eureka

import "strings"

// Format is one of the encodings of the wire. Its methods are everything
// an assembler of documents needs, so that it need not know which one it
// writes: head, then per application opener, instances and closer, then tail,
// with Separator between applications and between instances.
type Format uint8

// The formats. The compact ones say less about each instance, for clients that
// ask for that; documents with one instance as their root are always full.
const (
	JSON Format = iota
	XML
	CompactJSON
	CompactXML
)

// Formats is the number of formats.
const Formats = 4

// FormatFor returns the format of an answer to the given Accept header: JSON
// if it contains "json" in any case, else XML. That is the reference server's
// rule, and clients that send no header at all expect XML.
func FormatFor(accept string) Format {
	if strings.Contains(strings.ToLower(accept), "json") {
		return JSON
	}
	return XML
}

// Compact returns the format that says less about each instance.
func (f Format) Compact() Format {
	if f.isJSON() {
		return CompactJSON
	}
	return CompactXML
}

// isJSON reports whether the format is one of the two JSON ones.
func (f Format) isJSON() bool { return f == JSON || f == CompactJSON }

// String returns "json", "xml", "compact-json" or "compact-xml".
func (f Format) String() string {
	return [...]string{JSON: "json", XML: "xml", CompactJSON: "compact-json", CompactXML: "compact-xml"}[f]
}

// ContentType returns the media type, without a charset since some readers
// refuse any but their own spelling of it.
func (f Format) ContentType() string {
	if f.isJSON() {
		return "application/json"
	}
	return "application/xml"
}

// AppendHead appends the start of an applications document, up to the first
// application. Version is a decimal number, hash a reconcile hash.
func (f Format) AppendHead(dst []byte, version, hash string) []byte {
	if f.isJSON() {
		return AppendApplicationsHeadJSON(dst, version, hash)
	}
	return AppendApplicationsHeadXML(dst, version, hash)
}

// AppendAppOpen appends the start of an application inside an applications
// document, up to its first instance.
func (f Format) AppendAppOpen(dst []byte, name string) []byte {
	if f.isJSON() {
		return AppendApplicationOpenJSON(dst, name)
	}
	return AppendApplicationOpenXML(dst, name)
}

// AppendInstance appends one instance as it stands inside an application.
func (f Format) AppendInstance(dst []byte, in *Instance) []byte {
	switch f {
	case JSON:
		return AppendInstanceJSON(dst, in)
	case CompactJSON:
		return AppendCompactInstanceJSON(dst, in)
	case CompactXML:
		return AppendCompactInstanceXML(dst, in)
	default:
		return AppendInstanceXML(dst, in)
	}
}

// Separator stands between two instances and between two applications.
func (f Format) Separator() string {
	if f.isJSON() {
		return ","
	}
	return ""
}

// AppClose ends what AppendAppOpen began.
func (f Format) AppClose() string {
	if f.isJSON() {
		return ApplicationCloseJSON
	}
	return ApplicationCloseXML
}

// Tail ends what AppendHead began.
func (f Format) Tail() string {
	if f.isJSON() {
		return ApplicationsTailJSON
	}
	return ApplicationsTailXML
}

// AppendApplicationDocument appends a whole document with one application as
// its root.
func (f Format) AppendApplicationDocument(dst []byte, name string, instances []Instance) []byte {
	if f.isJSON() {
		dst = append(dst, `{"application":`...)
	}
	dst = f.AppendAppOpen(dst, name)
	for i := range instances {
		if i > 0 {
			dst = append(dst, f.Separator()...)
		}
		dst = f.AppendInstance(dst, &instances[i])
	}
	dst = append(dst, f.AppClose()...)
	if f.isJSON() {
		dst = append(dst, '}')
	}
	return dst
}

// AppendInstanceDocument appends a whole document with one instance as its
// root. It is also the body of a registration.
func (f Format) AppendInstanceDocument(dst []byte, in *Instance) []byte {
	if f.isJSON() {
		dst = append(dst, `{"instance":`...)
		dst = AppendInstanceJSON(dst, in)
		return append(dst, '}')
	}
	return AppendInstanceXML(dst, in)
}
