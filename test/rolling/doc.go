// Package rolling restarts real applications under load and counts the calls that
// fail: a Deployment of twelve Spring Boot services on a real API server with its
// real controllers, behind a Spring Cloud Gateway that routes to what it finds in
// the registry. Pods end as a kubelet ends them, with the hook that Kureka's webhook
// gave them, with a hand-written one or with none. docs/drain.md shows the result.
//
// It consists of tests, which take minutes each and play with -clients only. They
// talk to the product through its program, its ports and the API server, and must
// not import anything of it.
package rolling
