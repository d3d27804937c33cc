package eureka

// DecodeError says why a registration body cannot be read. It never repeats
// what the body contains.
type DecodeError struct {
	// Field names the member at fault, "" if the document as a whole is.
	Field string
	// Reason is a short phrase.
	Reason string
}

// Error returns the field and the reason.
func (e *DecodeError) Error() string {
	if e.Field == "" {
		return e.Reason
	}
	return e.Field + ": " + e.Reason
}

// DecodeInstance reads a registration body. JSON and XML are told apart by
// their first character, since Content-Type is often absent or wrong and a
// body that begins with neither "{" nor "<" can be read as neither.
// The size of the body is the caller's to bound. Errors are *DecodeError.
func DecodeInstance(body []byte) (Instance, error) {
	return Instance{}, &DecodeError{Reason: "not implemented"}
}
