package main

// The gateways register nothing and decode no compressed answers.

// apisix indexes into both ports and lets the overridden status come first.
func apisix() profile {
	return profile{version: "f519a0f", id: plainID, header: accept(typeJSON), reads: &reads{
		full: pathApps, onlyUp: true, required: []string{keyPortEnabled, keySecureEnabled, keyOverridden, keyPort, keyIP, keyMetadata},
	}}
}

func istio() profile {
	return profile{version: "d48937a", id: plainID, header: typedJSON(), reads: &reads{
		full: pathApps, texts: []string{keyPortEnabled, keySecureEnabled, keyHost, keyIP, keyStatus},
		numbers: []string{keyPort, keySecurePort}, required: []string{keyPort, keySecurePort},
	}}
}

// higress has the types of fargo and drops applications with addresses that are
// names.
func higress() profile {
	return profile{version: "4e0d691", id: plainID, header: typedJSON(), reads: &reads{
		full: pathApps, numeric: true, required: []string{keyPort, keySecurePort}, texts: []string{keyPortEnabled, keySecureEnabled},
		numbers: []string{keyCountry, "leaseInfo.renewalIntervalInSecs", "leaseInfo.durationInSecs", "leaseInfo.evictionTimestamp"},
	}}
}
