package eureka

// EncodeXMLName turns any text into an XML element name.
func EncodeXMLName(name string) string { return name }

// DecodeXMLName is the inverse of EncodeXMLName.
func DecodeXMLName(name string) string { return name }
