// Package hold answers the preStop requests of pods: the end of a pod is held until
// every consumer of the registry knows that it is not in service and no load balancer
// has it in its cache, so that nobody calls a process that has stopped. It owns how
// long a request is held and what ends it; when instances leave service is the
// cluster's business, who has learned of it that of consumers.
//
// What kubelets do was observed on Kubernetes 1.37: they wait for the answer no longer
// than the grace period, whatever its status; they call again after a restart, and
// also when only a container is restarted; and what they wait for no longer they do
// not cancel. The package may import cluster, consumers and registry, and must not
// import server or a Kubernetes client.
package hold
