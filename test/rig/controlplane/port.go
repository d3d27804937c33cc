package controlplane

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
)

// Ports are taken from below the range the kernel gives to outgoing connections
// (32768 and up on Linux). A client that redials a stopped API server could
// otherwise be given the very same port as its source and end up talking to
// itself, and the restarted server would find its port taken.
const (
	firstPort = 20000
	portCount = 12000
)

func freePort(ctx context.Context, host string) (string, error) {
	for range 100 {
		port := strconv.Itoa(firstPort + rand.IntN(portCount))
		listener, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(host, port))
		if err != nil {
			continue
		}
		return port, listener.Close()
	}
	return "", errors.New("finding a free port: 100 tries found none")
}
