package kubelet

import (
	"context"
	"fmt"
	"net"
	"strconv"
)

// openPort accepts connections, and closes them, until the context ends.
func (k *Kubelet) openPort(ctx context.Context) error {
	if k.options.Port == 0 {
		return nil
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(k.options.NodeIP, strconv.Itoa(k.options.Port)))
	if err != nil {
		return fmt.Errorf("opening the kubelet's port: %w", err)
	}
	k.running.Go(func() {
		<-ctx.Done()
		_ = l.Close() // nobody can be told
	})
	k.running.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return // closed above
			}
			_ = conn.Close() // nothing was sent
		}
	})
	return nil
}

// vanish takes the node's addresses off the network. One that cannot be taken off is
// logged: the node then looks like one that lives.
func (k *Kubelet) vanish() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.options.Vanish == nil || k.vanished != nil {
		return
	}
	for _, addr := range append(k.addresses.taken(), k.options.NodeIP) {
		restore, err := k.options.Vanish(addr)
		if err != nil {
			k.log.Error(err, "an address stays on the network", "address", addr)
			continue
		}
		k.vanished = append(k.vanished, restore)
	}
}

// appear brings them back.
func (k *Kubelet) appear() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, restore := range k.vanished {
		if err := restore(); err != nil {
			k.log.Error(err, "an address stays off the network")
		}
	}
	k.vanished = nil
}
