package netns

import (
	"net"
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	os.Exit(Run(m))
}

func TestAnyAddressCanBeBoundAndIsSeenAsTheSource(t *testing.T) {
	Require(t)
	tests := map[string]struct{ server, client string }{
		"two pods":         {server: "10.99.3.7", client: "10.99.5.5"},
		"pod and itself":   {server: "10.99.3.7", client: "10.99.3.7"},
		"far ends":         {server: "10.99.0.2", client: "10.99.255.254"},
		"pod and loopback": {server: "127.0.0.1", client: "10.99.5.5"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", net.JoinHostPort(tc.server, "0"))
			if err != nil {
				t.Fatal(err)
			}
			defer listener.Close()
			dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(tc.client)}}
			client, err := dialer.DialContext(t.Context(), "tcp", listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			server, err := listener.Accept()
			if err != nil {
				t.Fatal(err)
			}
			defer server.Close()
			source, _, err := net.SplitHostPort(server.RemoteAddr().String())
			if err != nil {
				t.Fatal(err)
			}
			if source != tc.client {
				t.Errorf("source address = %s, want %s", source, tc.client)
			}
		})
	}
}

func TestInnerProgramsDoNotEnterAgain(t *testing.T) {
	Require(t)
	inside, err := Enter()
	if err != nil || !inside {
		t.Errorf("Enter() = %v, %v inside", inside, err)
	}
}
