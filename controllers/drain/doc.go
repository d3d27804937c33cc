// Package drain gives pods that opt in a native preStop sleep when they are
// created, so that a pod whose deletion has begun goes on serving until clients
// have learned of it: SIGTERM comes together with the deletion, clients hear of it
// one fetch and one load balancer cache later. It owns how long that is, what is
// changed in a pod, the admission webhook and its certificate. It must not import
// the registry or its view.
package drain
