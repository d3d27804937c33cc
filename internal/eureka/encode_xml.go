package eureka

// The ends of the XML documents begun by AppendApplicationOpenXML and
// AppendApplicationsHeadXML.
const (
	ApplicationCloseXML = `</application>`
	ApplicationsTailXML = `</applications>`
)

// AppendApplicationsHeadXML appends the start of an applications document up
// to its first application.
func AppendApplicationsHeadXML(dst []byte, version, hash string) []byte { return dst }

// AppendApplicationOpenXML appends the start of an application up to its
// first instance.
func AppendApplicationOpenXML(dst []byte, name string) []byte { return dst }

// AppendApplicationXML appends one application element.
func AppendApplicationXML(dst []byte, name string, instances []Instance) []byte { return dst }

// AppendInstanceXML appends one instance element.
func AppendInstanceXML(dst []byte, in *Instance) []byte { return dst }
