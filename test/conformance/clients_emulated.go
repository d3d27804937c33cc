package conformance

import (
	"context"
	"io"
	"strconv"
	"strings"
)

// emulatedClients cannot be installed here or have been dormant for years. Their
// requests and the strictness of their decoders are written down in
// clients/emulated.
func emulatedClients() []*Client {
	program := emulatedProgram()
	clients := []*Client{
		{Name: "Steeltoe", Version: "3.x", Family: familyNET, Kind: "steeltoe-3", Delta: true, Lacks: Lacks{Override: true}, Does: Does{Reconcile: true}},
		{Name: "Steeltoe", Version: "4.x", Family: familyNET, Kind: "steeltoe-4", Delta: true, Lacks: Lacks{Override: true}, Does: Does{Reconcile: true}},
		{Name: "wasp-eureka", Version: "1.1.1", Family: familyPython, Kind: "wasp-eureka", Lacks: noReturn(Lacks{Status: true}), Registers: withoutSecure},
		{Name: "python-eureka", Version: "0.6.1", Family: familyPython, Kind: "python-eureka", Base: "/eureka/v2/", Lacks: noReturn(Lacks{Status: true, Override: true})},
		{Name: "HikoQiu/go-eureka-client", Version: "ac92e3f", Family: familyGo, Kind: "hikoqiu", Lacks: noReturn(Lacks{Status: true, Amazon: true}), UpByOverride: true, Notes: []string{
			"An instance with Amazon's data center ends its discovery, as it does with a Eureka server.",
		}},
		{Name: "micro/go-plugins eureka", Version: "v2", Family: familyGo, Kind: "go-micro", Lacks: noReturn(writesOnly()), Registers: asGoMicro},
		{Name: "schibsted/krakend-eureka", Version: "62d0125", Family: familyGo, Kind: "krakend", Lacks: noReturn(writesOnly()), Registers: asFargo, UpByOverride: true, Notes: []string{
			"It registers as STARTING and is UP by an override of its own. Who takes it out of service by an override brings it back by setting UP, not by removing the override.",
		}},
		{Name: "PavelLoparev/php-eureka-client", Version: "1c8c7d7", Family: familyPHP, Kind: "php-loparev", Base: "/eureka/v2%20/", Lacks: noReturn(Lacks{Status: true})},
		{Name: "piwvh/php-eureka", Version: "4dc2688", Family: familyPHP, Kind: "php-piwvh", Lacks: noReturn(Lacks{Status: true, Override: true})},
		{Name: "lua-resty-eureka-client", Version: "d2991c1", Family: familyLua, Kind: "lua-resty", Lacks: noReturn(Lacks{Status: true}), Notes: []string{
			"It stops renewing for good after one heartbeat that fails.",
		}},
		{Name: "eurexa", Version: "d428d57", Family: familyElixir, Kind: "eurexa", Lacks: noReturn(writesOnly()), Registers: underHostName},
		{Name: "rust-eureka", Version: "0.2.0", Family: familyRust, Kind: "rust-eureka", Base: "/", Lacks: noReturn(writesOnly()), Registers: underHostName, Notes: []string{
			"It registers, but its decoder refuses instance ids and so every Eureka server of today.",
		}},
		{Name: "eureka-client", Version: "family", Family: familyRust, Kind: "rust-eureka-client", Lacks: noReturn(Lacks{Status: true, Reads: true, Deltas: true})},
		{Name: "nacos-sync", Version: "0c35e09", Family: familyJVM, Kind: "nacos-sync", Lacks: noReturn(Lacks{Status: true, Override: true}), Registers: withoutSecurePortNumber},
		{Name: "Micronaut discovery-client", Version: "32bfaab", Family: familyJVM, Kind: "micronaut", Lacks: Lacks{Status: true, Override: true}, UpByOverride: true},
		{Name: "Armeria", Version: "0241e20", Family: familyJVM, Kind: "armeria", Lacks: Lacks{Override: true}},
		{Name: "SmallRye Stork", Version: "edfeeea", Family: familyJVM, Kind: "stork", Lacks: noReturn(Lacks{Status: true, Override: true, Renew: true}), Registers: withoutSecure, Notes: []string{
			"It never renews; it asks for a lease of 10,000 s, which it gets.",
		}},
		{Name: "APISIX discovery", Version: "f519a0f", Family: familyTools, Kind: "apisix", ReadOnly: true, Sees: seesUp},
		{Name: "Istio (pilot, up to 1.0)", Version: "d48937a", Family: familyTools, Kind: "istio", Base: "/eureka/v2/", ReadOnly: true},
		{Name: "Higress", Version: "4e0d691", Family: familyTools, Kind: "higress", ReadOnly: true},
	}
	for _, c := range clients {
		c.Program, c.Emulated = program, true
		c.Lacks.Deltas = c.Lacks.Deltas || !c.Delta
	}
	return clients
}

// noReturn is for clients that do not register again, or of which it is not known.
func noReturn(l Lacks) Lacks {
	l.Rejoin = true
	return l
}

func writesOnly() Lacks { return Lacks{Status: true, Override: true, Reads: true, Deltas: true} }

func withoutSecure(in Instance) Instance {
	in.SecurePort = unsetSecurePort
	return in
}

func withoutSecurePortNumber(in Instance) Instance {
	in.SecurePort = 0
	return in
}

// asFargo is under its host name, with a secure port of 0.
func asFargo(in Instance) Instance { return withoutSecurePortNumber(underHostName(in)) }

// asGoMicro has a host name with a port, and keeps its id in the metadata too.
func asGoMicro(in Instance) Instance {
	in = withoutSecurePortNumber(in)
	in.HostName = in.IPAddr + ":" + strconv.Itoa(in.Port)
	in.Metadata["instanceId"] = strings.TrimPrefix(in.ID, in.HostName+":")
	return in
}

func seesUp(in Instance) (Instance, bool) { return in, in.Status == "UP" }

func emulatedProgram() *Program {
	return &Program{
		Name: "emulated", Hosts: true,
		Prepare: func(ctx context.Context, shop *Workshop, progress io.Writer) ([]string, error) {
			return shop.ownProgram(ctx, progress, "emulated")
		},
	}
}
