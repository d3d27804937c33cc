package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

func TestRunServesNodesAndLeavesNothing(t *testing.T) {
	s := settings{dir: t.TempDir(), nodes: 2}.withDefaults()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- serve(ctx, s) }()
	if err := s.waitReady(t.Context(), os.Getpid(), ended); err != nil {
		cancel()
		t.Fatal(err)
	}
	if got := countNodes(t, s.path); got != 2 {
		t.Errorf("%d nodes, want 2", got)
	}
	if err := up(t.Context(), s); err == nil {
		t.Error("a second control plane was started over the first")
	}
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(s.dir)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestDownSparesAProcessThatOnlyHasTheSameNumber(t *testing.T) {
	s := settings{dir: t.TempDir()}.withDefaults()
	content, err := json.Marshal(state{PID: os.Getpid(), Started: "1", Kubeconfig: s.path})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.file(stateFile), content, 0o600); err != nil {
		t.Fatal(err)
	}
	// This test is the process; it goes on.
	if err := down(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(s.file(stateFile)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the stale state is still there: %v", err)
	}
}

func TestStateThatCannotBeReadIsNotOverwritten(t *testing.T) {
	s := settings{dir: t.TempDir()}.withDefaults()
	if err := os.WriteFile(s.file(stateFile), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, command := range map[string]func(context.Context, settings) error{"up": up, "down": down, "run": serve} {
		if err := command(t.Context(), s); err == nil {
			t.Errorf("%s went on with a broken state", name)
		}
	}
}

func TestCommandLineIsChecked(t *testing.T) {
	for name, args := range map[string][]string{
		"no command":     {},
		"two commands":   {"up", "down"},
		"unknown":        {"restart"},
		"too many nodes": {"run", "--nodes", "201"},
		"negative nodes": {"run", "--nodes", "-1"},
	} {
		if err := run(t.Context(), args); err == nil {
			t.Errorf("%s: accepted %q", name, args)
		}
	}
}

func countNodes(t *testing.T, kubeconfig string) int {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	nodes, err := client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return len(nodes.Items)
}
