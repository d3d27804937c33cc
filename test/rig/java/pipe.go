package java

import (
	"context"
	"fmt"
	"io"
	"net"
)

// newPipe passes connections on to an address, from another.
func newPipe(ctx context.Context, from, to string) (net.Listener, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("opening a pipe: %w", err)
	}
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	go func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			go pass(ctx, dialer, near, to)
		}
	}()
	return listener, nil
}

// pass passes one connection on until either end closes it.
func pass(ctx context.Context, dialer *net.Dialer, near net.Conn, to string) {
	defer near.Close()
	far, err := dialer.DialContext(ctx, "tcp", to)
	if err != nil {
		return
	}
	defer far.Close()
	go func() {
		_, _ = io.Copy(far, near)
		far.Close()
	}()
	_, _ = io.Copy(near, far)
}
