package conformance

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// goClients are the Go libraries that the module proxy has. The application sends
// the heartbeats of fargo and go-eureka-client.
func goClients() []*Client {
	program := goProgram()
	return []*Client{
		{
			Name: "hudl/fargo", Version: "v1.4.0", Variant: "XML", Family: familyGo, Program: program, Kind: "fargo-xml",
			Lacks: Lacks{Deltas: true}, Registers: underHostName, Sees: seesXMLNumbers,
			Notes: []string{"In XML the client takes metadata that looks like a number for one, so `0007` becomes `7`."},
		},
		{
			Name: "hudl/fargo", Version: "v1.4.0", Variant: "JSON", Family: familyGo, Program: program, Kind: "fargo-json",
			Lacks: Lacks{Deltas: true},
		},
		{
			Name: "go-kit/kit sd/eureka", Version: "v0.13.0", Family: familyGo, Program: program, Kind: "go-kit",
			Lacks: Lacks{Deltas: true, Status: true, Override: true}, Sees: seesAddress, Returns: withoutMetadata,
			Notes: []string{
				"It follows single applications and knows the address and port of an instance and nothing else.",
				"When the registry has forgotten it, it registers again without its metadata.",
			},
		},
		{
			Name: "ArthurHlt/go-eureka-client", Version: "v1.1.0", Family: familyGo, Program: program, Kind: "arthurhlt",
			Lacks: Lacks{Deltas: true, Override: true}, Registers: onlyAddress, Sees: seesRawXML,
			Notes: []string{"It leaves the escapes of XML in metadata as they are."},
		},
		{
			Name: "xuanbo/eureka-client", Version: "v0.0.5", Family: familyGo, Program: program, Kind: "xuanbo",
			Lacks: Lacks{Deltas: true, Status: true, Override: true}, Registers: withoutSecurePort,
		},
	}
}

// underHostName is for clients that send no instance id.
func underHostName(in Instance) Instance {
	in.ID = in.HostName
	return in
}

// withoutSecurePort is for a client that sends none, and its application as vip.
func withoutSecurePort(in Instance) Instance {
	in.SecurePort, in.VIP = unsetSecurePort, strings.ToLower(in.App)
	return in
}

// onlyAddress is for a client that sends neither an instance id nor a secure port.
func onlyAddress(in Instance) Instance {
	in.ID, in.SecurePort = in.HostName, unsetSecurePort
	return in
}

// unsetSecurePort is what a Eureka server lists for an instance without one.
const unsetSecurePort = 7002

func withoutMetadata(in Instance) Instance {
	in.Metadata = nil
	return in
}

func seesXMLNumbers(in Instance) (Instance, bool) {
	in, _ = seesElementNames(in)
	for key, value := range in.Metadata {
		if number, err := strconv.ParseFloat(value, 64); err == nil {
			in.Metadata[key] = strconv.FormatFloat(number, 'g', -1, 64)
		}
	}
	return in, true
}

func seesRawXML(in Instance) (Instance, bool) {
	in, _ = seesElementNames(in)
	escape := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
	for key, value := range in.Metadata {
		in.Metadata[key] = escape.Replace(value)
	}
	return in, true
}

func seesAddress(in Instance) (Instance, bool) {
	return Instance{App: in.App, ID: in.IPAddr + ":" + strconv.Itoa(in.Port), IPAddr: in.IPAddr, Port: in.Port}, true
}

func goProgram() *Program {
	return &Program{
		Name: "go",
		Prepare: func(ctx context.Context, shop *Workshop, progress io.Writer) ([]string, error) {
			program := filepath.Join(shop.Cache, "lane-go")
			if err := os.MkdirAll(shop.Cache, 0o750); err != nil {
				return nil, err
			}
			dir := filepath.Join(shop.Source, "clients", "go")
			return []string{program}, shop.Run(ctx, progress, "building the Go clients", dir, "go", "build", "-o", program, ".")
		},
	}
}
