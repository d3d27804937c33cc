package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kureka/kureka/test/rig/controlplane"
	"github.com/kureka/kureka/test/rig/kubelet"
)

const maxNodes = 200

// serve runs a control plane with its nodes until ctx ends.
func serve(ctx context.Context, s settings) (err error) {
	if s, err = s.absolute(); err != nil {
		return err
	}
	if st, ok, err := s.running(); err != nil || ok {
		return errors.Join(err, alreadyRunning(st, ok))
	}
	if err := removeAll(s.file(dataDir)); err != nil {
		return err
	}
	options := controlplane.Options{Dir: s.file(dataDir), Timers: controlplane.Compressed}
	if s.stock {
		options.Timers = controlplane.Stock
	}
	cp, err := controlplane.Start(ctx, options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cp.Stop(), removeAll(s.file(dataDir))) }()
	nodes, err := startNodes(ctx, cp.Config(), s)
	defer stopNodes(nodes)
	if err != nil {
		return err
	}
	if err := cp.Kubeconfig(s.path); err != nil {
		return err
	}
	if err := s.saveState(); err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "cluster: ready with %d nodes; logs in %s\n", s.nodes, cp.LogDir())
	<-ctx.Done()
	return removeAll(s.file(stateFile), s.path)
}

// startNodes starts fake nodes spread over three zones. Their pods are Running and
// Ready, yet nothing runs.
func startNodes(ctx context.Context, config *rest.Config, s settings) ([]*kubelet.Kubelet, error) {
	var nodes []*kubelet.Kubelet
	memory := kubelet.NewMemory()
	for i := range s.nodes {
		options := kubelet.Options{
			Name:    fmt.Sprintf("node-%d", i+1),
			Zone:    fmt.Sprintf("zone-%c", 'a'+i%3),
			NodeIP:  fmt.Sprintf("10.99.0.%d", i+10),
			PodCIDR: fmt.Sprintf("10.99.%d.0/24", i+1),
			Runtime: memory,
		}
		if !s.stock {
			options.LeaseDuration = 2 * time.Second
			options.Timings = kubelet.FastTimings()
		}
		node, err := kubelet.New(config, options)
		if err != nil {
			return nodes, err
		}
		if err := node.Start(ctx); err != nil {
			return nodes, err
		}
		nodes = append(nodes, node)
	}
	return nodes, nil
}

func stopNodes(nodes []*kubelet.Kubelet) {
	for _, node := range nodes {
		node.Stop()
	}
}
