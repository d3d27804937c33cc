package truth

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// expect has what was written delivered when its time has come.
func (op *operator) expect() {
	if op == nil || !op.running {
		return
	}
	op.w.after(op.lag, op.deliver)
}

// deliver hands on what the watches have brought.
func (op *operator) deliver() {
	if !op.running || !op.connected {
		return
	}
	if op.paused() {
		op.w.after(op.resumes-op.w.now, op.deliver)
		return
	}
	if !op.reachesAPI() {
		return
	}
	a, v, upTo := &op.w.api, &op.view, op.w.now-op.lag
	for n := a.nodes.upTo(upTo); v.next.nodes < n; v.next.nodes++ {
		op.deliverNode(a.nodes.history[v.next.nodes])
	}
	for n := a.pods.upTo(upTo); v.next.pods < n; v.next.pods++ {
		op.deliverPod(a.pods.history[v.next.pods])
	}
	op.deliverOffers(a.offers.upTo(upTo))
	for n := a.leases.upTo(upTo); v.next.leases < n; v.next.leases++ {
		l := a.leases.history[v.next.leases].obj
		if _, known := v.nodes[l.Name]; known {
			v.leases[l.Name] = op.w.now
		}
		v.anyAt = op.w.now
		if op.w.now-a.leases.history[v.next.leases].at <= 10*time.Second {
			v.renewed[l.Name] = op.w.now
		}
		op.feed.LeaseSeen(l)
	}
	for n := a.canary.upTo(upTo); v.next.canary < n; v.next.canary++ {
		v.written = a.canary.history[v.next.canary].at
		op.feed.CanarySeen(a.canary.history[v.next.canary].obj)
	}
	op.doubts()
}

func (op *operator) deliverNode(change written[*corev1.Node]) {
	if change.gone {
		op.feed.NodeGone(change.obj)
		return
	}
	op.noteReasons(change.obj.Name) // one that ends now counted until now
	op.seeNode(change.obj)
	op.noteReasons(change.obj.Name)
	op.feed.NodeSeen(change.obj)
	op.w.check()
}

// noteReasons notes what may remove the records of a node's clients, if only for a
// moment.
func (op *operator) noteReasons(node string) {
	for _, c := range op.w.clients {
		if c.node != nil && c.node.name == node {
			op.w.excuse(c)
		}
	}
}

func (op *operator) deliverPod(change written[*corev1.Pod]) {
	if change.gone {
		op.loses(string(change.obj.UID))
		op.feed.PodGone(change.obj)
		op.w.checkGone(op, string(change.obj.UID))
	} else {
		op.seePod(change.obj)
		op.feed.PodSeen(change.obj)
	}
	op.w.check()
}

// connect opens the watches: where they were, or with a list that may be from the
// past.
func (op *operator) connect(age time.Duration) {
	a, v := &op.w.api, &op.view
	op.connected, op.since = true, op.w.now
	if v.listed && !op.w.expired {
		op.deliver()
		return
	}
	op.w.expired, op.w.listAge = false, 0
	at := op.w.now - age
	v.next.nodes, v.next.pods = a.nodes.upTo(at), a.pods.upTo(at)
	v.next.leases, v.next.canary = a.leases.upTo(at), a.canary.upTo(at)
	if v.listed {
		at = op.w.now // only the first list of a cache is from the past
	}
	op.deliverOffers(a.offers.upTo(at))
	nodes, pods := a.nodes.list(v.next.nodes), a.pods.list(v.next.pods)
	for _, n := range nodes {
		op.seeNode(n)
	}
	op.feed.NodesListed(nodes)
	for _, p := range pods {
		op.seePod(p)
		op.feed.PodListed(p.DeepCopy())
	}
	op.feed.PodListComplete("", pods)
	v.listed = true
	op.tape.line(op.w.now, "readable yes")
	op.cluster.SetPodsReadable(op.now(), true)
	op.cluster.SetNodesReadable(true)
	op.doubts()
	op.w.check()
	op.deliver()
}

// doubts has what is doubted read live.
func (op *operator) doubts() {
	select {
	case <-op.feed.Doubted():
		op.w.after(10*time.Millisecond, op.confirm)
	default:
	}
}

func (op *operator) confirm() {
	if !op.running {
		return
	}
	if op.confirming || op.paused() {
		op.w.after(time.Second, op.confirm)
		return
	}
	op.confirming = true
	err := op.feed.Confirm(context.Background(), live{op})
	op.confirming = false
	if err == nil {
		op.backoff = time.Second
		op.doubts()
		return
	}
	op.w.after(op.backoff, op.confirm)
	op.backoff = min(2*op.backoff, 5*time.Second)
}
