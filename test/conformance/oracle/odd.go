package main

// oddBody is a registration as only some client, or nobody, would write it.
type oddBody struct {
	name   string
	fields []field
	whole  func(body string) string // changes the whole text
	dirty  dirty                    // the timestamp it then carries
}

// oddBodies are what clients of the field and people with a shell send. Those
// that the reference refuses and Kureka takes, or the reverse, have a rule of
// their name.
var oddBodies = []oddBody{
	{name: "no id", fields: []field{{name: wireID}}},
	{name: "id is null", fields: []field{{wireID, wireNull, ""}}},
	{name: "no host name", fields: []field{{name: "hostName"}}},
	{name: "no id and no host name", fields: []field{{name: wireID}, {name: "hostName"}}},
	{name: "empty host name", fields: []field{{"hostName", `""`, ""}}},
	{name: "no address", fields: []field{{name: "ipAddr"}}},
	{name: "no application", fields: []field{{name: "app"}}},
	{name: "empty application", fields: []field{{"app", `""`, ""}}},
	{name: "another application", fields: []field{{"app", `"OTHER"`, ""}}},
	{name: "no status", fields: []field{{name: wireStatus}}},
	{name: "status in lower case", fields: []field{{wireStatus, `"up"`, ""}}},
	{name: "unknown status", fields: []field{{wireStatus, `"SLEEPING"`, ""}}},
	{name: "no data center", fields: []field{{name: wireDataCenter}}},
	{name: "data center without name", fields: []field{{wireDataCenter, `{"@class":"com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo"}`, ""}}},
	{name: "data center without class", fields: []field{{wireDataCenter, `{"name":"MyOwn"}`, ""}}},
	{name: "data center of an unknown class", fields: []field{{wireDataCenter, `{"@class":"com.netflix.appinfo.DataCenterInfo","name":"MyOwn"}`, ""}}},
	{name: "metadata in a plain data center", fields: []field{{wireDataCenter, `{"@class":"com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo","name":"MyOwn","metadata":{"a":"b"}}`, ""}}},
	{name: "Amazon without metadata", fields: []field{{wireDataCenter, `{"@class":"com.netflix.appinfo.AmazonInfo","name":"Amazon"}`, ""}}},
	{name: "no ports", fields: []field{{name: wirePort}, {name: wireSecurePort}}},
	{name: "ports are null", fields: []field{{wirePort, wireNull, ""}, {wireSecurePort, wireNull, ""}}},
	{name: "port is a number", fields: []field{{wirePort, "8080", ""}}},
	{name: "port as text", fields: []field{{wirePort, `{"$":"8080","@enabled":"true"}`, ""}}},
	{name: "port enabled by a bool", fields: []field{{wirePort, `{"$":8080,"@enabled":true}`, ""}}},
	{name: "negative port", fields: []field{{wireSecurePort, `{"$":-1,"@enabled":"false"}`, ""}}},
	{name: "port that is a word", fields: []field{{wirePort, `{"$":"eighty","@enabled":"true"}`, ""}}},
	{name: "port out of range", fields: []field{{wirePort, `{"$":70000,"@enabled":"true"}`, ""}}},
	{name: "lease as texts", fields: []field{{wireLease, `{"renewalIntervalInSecs":"10","durationInSecs":"60"}`, ""}}},
	{name: "negative lease", fields: []field{{wireLease, `{"renewalIntervalInSecs":-1,"durationInSecs":-1}`, ""}}},
	{name: "unknown lease key", fields: []field{{wireLease, `{"evictionDurationInSecs":90}`, ""}}},
	{name: "lease is null", fields: []field{{wireLease, `null`, ""}}},
	{name: "metadata is null", fields: []field{{wireMetadata, `null`, ""}}},
	{name: "empty map marker", fields: []field{{wireMetadata, `{"@class":"java.util.Collections$EmptyMap"}`, ""}}},
	{name: "metadata of numbers and flags", fields: []field{{wireMetadata, `{"a":1,"b":true,"c":1.5}`, ""}}},
	{name: "metadata with a null", fields: []field{{wireMetadata, `{"a":null,"b":"x"}`, ""}}},
	{name: "nested metadata", fields: []field{{wireMetadata, `{"a":{"b":"c"}}`, ""}}},
	{name: "timestamps are numbers", fields: []field{{wireDirty, `2000`, ""}, {"lastUpdatedTimestamp", "1500", ""}}, dirty: dirty{2000, true}},
	{name: "timestamp is a word", fields: []field{{wireDirty, `"soon"`, ""}}, dirty: dirty{0, true}},
	{name: "flag is a bool", fields: []field{{"isCoordinatingDiscoveryServer", `false`, ""}}},
	{name: "claims to be the server", fields: []field{{"isCoordinatingDiscoveryServer", `"true"`, ""}}},
	{name: "nulls", fields: []field{{"homePageUrl", wireNull, ""}, {"vipAddress", wireNull, ""}, {"asgName", wireNull, ""}, {wireAction, wireNull, ""}}},
	{name: "action type", fields: []field{{wireAction, `"DELETED"`, ""}}},
	{name: "country", fields: []field{{"countryId", "49", ""}}},
	{name: "country is zero", fields: []field{{"countryId", "0", ""}}},
	{name: "service id", fields: []field{{"sid", `"s-1"`, ""}}},
	{name: "override in small letters", fields: []field{{wireOverridden, "", ""}, {"overriddenstatus", `"UNKNOWN"`, ""}}},
	{name: "brings an override", fields: []field{{wireOverridden, `"OUT_OF_SERVICE"`, ""}}},
	{name: "unknown key", fields: []field{{"unknown", `"x"`, ""}}},
	{name: "unknown nested key", fields: []field{{"unknown", `{"a":[1]}`, ""}}},
	{name: "empty body", whole: func(string) string { return "" }},
	{name: "no JSON", whole: func(string) string { return "instance=a" }},
	{name: "cut off", whole: func(body string) string { return body[:len(body)/2] }},
	{name: "array", whole: func(body string) string { return "[" + body + "]" }},
	{name: "empty object", whole: func(string) string { return "{}" }},
	{name: "no root", whole: func(body string) string { return body[len(`{"instance":`) : len(body)-1] }},
	{name: "another root", whole: func(body string) string { return `{"Instance":` + body[len(`{"instance":`):] }},
	{name: "text after the end", whole: func(body string) string { return body + " x" }},
}
