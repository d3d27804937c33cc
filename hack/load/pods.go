package main

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// hosts returns where the clients run: in pods of a cluster, or nowhere.
func hosts(ctx context.Context, s settings) ([]host, error) {
	if s.kubeconfig == "" {
		all := make([]host, s.clients)
		for i := range all {
			all[i] = host{name: fmt.Sprintf("service-%d", i), ip: fmt.Sprintf("198.18.%d.%d", i/250, i%250+1)}
		}
		return all, nil
	}
	config, err := clientcmd.BuildConfigFromFlags("", s.kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig: %w", err)
	}
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	if err := createPods(ctx, client, s); err != nil {
		return nil, err
	}
	return running(ctx, client, s.clients)
}

func createPods(ctx context.Context, client kubernetes.Interface, s settings) error {
	const workers = 4
	var group sync.WaitGroup
	errs := make([]error, workers)
	for w := range workers {
		group.Go(func() {
			for i := w; i < s.clients && errs[w] == nil; i += workers {
				errs[w] = createPod(ctx, client, pod(i, s.nodes))
			}
		})
	}
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return fmt.Errorf("creating the pods: %w", err)
		}
	}
	return nil
}

// createPod tries again for as long as the API server is too busy.
func createPod(ctx context.Context, client kubernetes.Interface, p *corev1.Pod) error {
	return wait.PollUntilContextTimeout(ctx, time.Second, 10*time.Minute, true, func(ctx context.Context) (bool, error) {
		_, err := client.CoreV1().Pods(metav1.NamespaceDefault).Create(ctx, p, metav1.CreateOptions{})
		if isBusy(err) {
			return false, nil
		}
		if apierrors.IsAlreadyExists(err) { // a try that timed out has made it all the same
			err = nil
		}
		return err == nil, err
	})
}

// isBusy reports whether the API server is to be asked again.
func isBusy(err error) bool {
	return apierrors.IsTimeout(err) || apierrors.IsServerTimeout(err) || apierrors.IsTooManyRequests(err)
}

func pod(i, nodes int) *corev1.Pod {
	name := fmt.Sprintf("service-%d", i)
	env := make([]corev1.EnvVar, 20)
	for n := range env {
		env[n] = corev1.EnvVar{Name: fmt.Sprintf("SETTING_%d", n), Value: "a value as long as that of many settings is, more or less"}
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app.kubernetes.io/name": name}},
		Spec: corev1.PodSpec{
			NodeName: fmt.Sprintf("node-%d", i%nodes+1),
			Containers: []corev1.Container{{
				Name: "app", Image: "registry.example/service:1", Env: env, Ports: []corev1.ContainerPort{{ContainerPort: 8080}},
			}},
		},
	}
}

// running waits until every pod has an address.
func running(ctx context.Context, client kubernetes.Interface, want int) ([]host, error) {
	var all []host
	err := wait.PollUntilContextCancel(ctx, 5*time.Second, true, func(ctx context.Context) (bool, error) {
		list, err := client.CoreV1().Pods(metav1.NamespaceDefault).List(ctx, metav1.ListOptions{ResourceVersion: "0"})
		if isBusy(err) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		all = all[:0]
		for i := range list.Items {
			if p := &list.Items[i]; p.Status.PodIP != "" {
				all = append(all, host{name: p.Name, ip: p.Status.PodIP})
			}
		}
		fmt.Fprintf(os.Stderr, "%d pods run\n", len(all))
		return len(all) >= want, nil
	})
	if err != nil {
		return nil, fmt.Errorf("waiting for the pods: %w", err)
	}
	return all[:want], nil
}
