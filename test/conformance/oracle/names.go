package main

// The wire's names of what is generated and compared.
const (
	wireID         = "instanceId"
	wireStatus     = "status"
	wireOverridden = "overriddenStatus"
	wirePort       = "port"
	wireSecurePort = "securePort"
	wireDataCenter = "dataCenterInfo"
	wireLease      = "leaseInfo"
	wireMetadata   = "metadata"
	wireDirty      = "lastDirtyTimestamp"
	wireAction     = "actionType"
	wireServiceUp  = "leaseInfo.serviceUpTimestamp"
	wireNull       = "null"
)

// What two answers can differ in besides fields of instances.
const (
	codes    = "code"
	texts    = "text"
	extras   = "extra keys"
	presence = "presence" // of an instance
)

// Scalars with their type, as fields holds them.
const (
	textUp       = "text UP"
	textOut      = "text OUT_OF_SERVICE"
	textUnknown  = "text UNKNOWN"
	textAdded    = "text ADDED"
	textModified = "text MODIFIED"
)

const mediaJSON = "application/json"
