package eureka

import "strings"

// ValidationError says which demand of the register call an instance does not
// meet. The text is the whole body of the 400 answer.
type ValidationError struct {
	Text string
}

// Error returns the text.
func (e *ValidationError) Error() string {
	return e.Text
}

// Validate checks a decoded instance the way the reference server checks a
// registration for the application named in the path, and returns a
// *ValidationError with the reference's text for the first demand not met.
// White space alone is not missing.
func Validate(in *Instance, pathApp string) error {
	switch {
	case in.InstanceID == "":
		return &ValidationError{"Missing instanceId"}
	case in.HostName == "":
		return &ValidationError{"Missing hostname"}
	case in.IPAddr == "":
		return &ValidationError{"Missing ip address"}
	case in.App == "":
		return &ValidationError{"Missing appName"}
	}
	if want := strings.ToUpper(pathApp); in.App != want {
		return &ValidationError{"Mismatched appName, expecting " + want + " but was " + in.App}
	}
	if in.DataCenter.Absent {
		return &ValidationError{"Missing dataCenterInfo"}
	}
	if in.DataCenter.Name == "" {
		return &ValidationError{"Missing dataCenterInfo Name"}
	}
	return nil
}
