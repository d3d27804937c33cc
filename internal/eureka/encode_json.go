package eureka

// The ends of the JSON documents begun by AppendApplicationOpenJSON and
// AppendApplicationsHeadJSON.
const (
	ApplicationCloseJSON = `]}`
	ApplicationsTailJSON = `]}}`
)

// AppendApplicationsHeadJSON appends the start of an applications document up
// to the opening bracket of the array of applications.
func AppendApplicationsHeadJSON(dst []byte, version, hash string) []byte { return dst }

// AppendApplicationOpenJSON appends the start of an application up to the
// opening bracket of its array of instances.
func AppendApplicationOpenJSON(dst []byte, name string) []byte { return dst }

// AppendApplicationJSON appends one application object, without a root.
func AppendApplicationJSON(dst []byte, name string, instances []Instance) []byte { return dst }

// AppendInstanceJSON appends one instance object, without a root.
func AppendInstanceJSON(dst []byte, in *Instance) []byte { return dst }
