package truth

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// pod is what the kubelet runs for a pod's object.
type pod struct {
	w             *world
	load          *workload
	uid, ns, name string
	node          *node
	created       time.Duration
	ip            netip.Addr
	told          netip.Addr // what its clients say instead, if valid
	dice          dice

	proc     *process
	starts   int
	finished *metav1.Time // when the container before ended, by the node's clock
	unready  bool         // its readiness probe fails
	ending   bool         // its end has begun
	ended    bool         // no container of it will run again
	phase    corev1.PodPhase
	dirty    bool      // the object does not say how it is
	freed    bool      // its address may be given away
	placed   *operator // which has been shown the pod with the address of its registered client
	first    *process  // whose client that was
	over     *operator // which has nothing more to learn of it
	orphan   bool      // its object went before its process: to be killed
}

// process is one incarnation of the pod's container, or a process on a machine
// outside.
type process struct {
	pod   *pod // nil outside
	id    string
	alive bool
	began metav1.Time // by the node's clock
	died  time.Duration
	hangs int // reasons why it does nothing
	c     *client
}

func (p *process) works() bool { return p.alive && p.hangs == 0 }

// newPod writes a pod's object, as a controller does.
func (w *world) newPod(load *workload, name string, n *node) {
	p := &pod{
		w: w, load: load, uid: w.nextUID(load), ns: load.ns, name: name, node: n, created: w.now, phase: corev1.PodPending,
	}
	p.dice = newDice(w.plan.seed, fmt.Sprintf("pod %s/%s", p.ns, name))
	n.pods = append(n.pods, p)
	w.pods = append(w.pods, p)
	yes := true
	ports := []corev1.ContainerPort{}
	if load.declares {
		ports = append(ports, corev1.ContainerPort{ContainerPort: int32(load.port)})
	}
	w.api.putPod(&corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: p.ns, Name: p.name, UID: types.UID(p.uid), CreationTimestamp: metav1.NewTime(wall(w.now, 0).Truncate(time.Second)),
			OwnerReferences: []metav1.OwnerReference{{UID: types.UID(load.name()), Controller: &yes}},
			Labels:          map[string]string{loadLabel: load.name(), uidLabel: p.uid}, Annotations: w.annotationsOf(p),
		},
		Spec:   corev1.PodSpec{NodeName: n.name, HostNetwork: load.hostNetwork, Containers: []corev1.Container{{Name: "app", Ports: ports}}},
		Status: corev1.PodStatus{Phase: corev1.PodPending},
	})
	w.after(p.dice.between(300*time.Millisecond, 1500*time.Millisecond), func() {
		if p.proc == nil && !p.ending && !p.ended {
			p.begin(0)
		}
	})
}

// begin starts a container, after the back-off.
func (p *pod) begin(wait time.Duration) {
	p.w.after(wait, func() {
		if p.ending || p.ended || !p.node.kubeletUp() || p.proc != nil && p.proc.alive {
			return
		}
		if !p.ip.IsValid() {
			p.ip = p.node.ip
			if !p.load.hostNetwork {
				p.ip = p.node.address()
			}
			if !p.ip.IsValid() {
				return
			}
		}
		p.starts++
		p.phase, p.unready = corev1.PodRunning, false
		p.proc = &process{pod: p, id: fmt.Sprintf("%s-%d", p.uid, p.starts), alive: true, began: p.node.wall()}
		p.changed()
		if p.load.clientless {
			p.becomeReady()
			return
		}
		p.proc.c = newClient(p.w, p.proc)
	})
}

// stop is the end of the process, whatever the reason.
func (p *pod) stop() {
	if p.proc == nil || !p.proc.alive {
		return
	}
	p.proc.alive, p.proc.died = false, p.w.now
	at := p.node.wall()
	p.finished = &at
}

// becomeReady is a readiness probe that fails until the process is up.
func (p *pod) becomeReady() {
	p.unready = true
	proc := p.proc
	p.w.after(p.dice.between(time.Second, 8*time.Second), func() {
		if p.proc == proc && proc.alive {
			p.unready = false
			p.changed()
		}
	})
}

// crash ends the container; it is started again unless the pod ends.
func (p *pod) crash() {
	if p.proc == nil || !p.proc.alive || p.ending {
		return
	}
	p.stop()
	p.changed()
	if p.load.fast {
		p.begin(p.dice.between(100*time.Millisecond, 900*time.Millisecond))
		return
	}
	p.begin(p.dice.between(500*time.Millisecond, 12*time.Second))
}

// changed has the kubelet write how the pod is, as soon as it can. What happens in
// between is written at once.
func (p *pod) changed() {
	p.dirty = true
	p.w.after(p.dice.between(10*time.Millisecond, 900*time.Millisecond), p.node.reconcile)
}

// sync brings pod and object together.
func (p *pod) sync() {
	o := p.w.api.pod(p)
	switch {
	case o == nil:
		p.abandon()
	case o.DeletionTimestamp != nil && !p.ending:
		p.terminate(time.Duration(*o.DeletionGracePeriodSeconds) * time.Second)
	case p.dirty:
		p.publish(o)
	}
	if p.ended && o != nil && o.DeletionTimestamp != nil && p.w.api.pod(p) != nil {
		p.w.api.deletePod(p.w.api.pod(p))
		p.forget()
	}
}

// abandon ends a process whose object went first: the kubelet gives it the grace
// period of its spec.
func (p *pod) abandon() {
	if p.orphan {
		return
	}
	p.orphan = true
	p.terminate(30 * time.Second)
}

// terminate sends SIGTERM and later SIGKILL.
func (p *pod) terminate(grace time.Duration) {
	p.ending = true
	if p.proc == nil || !p.proc.alive {
		p.finish()
		return
	}
	proc := p.proc
	if proc.c != nil {
		proc.c.terminate(grace)
	}
	p.w.after(p.dice.between(0, grace), func() {
		if p.node.kubeletUp() {
			p.finish()
		}
	})
	p.w.after(grace+time.Second, func() {
		if p.node.kubeletUp() {
			p.finish()
		}
	})
}

func (p *pod) finish() {
	if p.ended {
		return
	}
	p.stop()
	p.ended = true
	p.phase = corev1.PodSucceeded
	if p.proc == nil {
		p.phase = corev1.PodFailed
	}
	if p.w.api.pod(p) == nil {
		p.forget()
		return
	}
	p.free()
	p.changed()
}

// complete ends the pod's work for good while its object stays, address and all.
func (p *pod) complete() {
	if p.ending || p.ended || p.proc == nil || !p.proc.alive || !p.node.kubeletUp() {
		return
	}
	p.stop()
	p.ended, p.phase = true, corev1.PodFailed
	p.free()
	p.changed()
}

// free gives the address to the next pod.
func (p *pod) free() {
	if !p.freed && !p.load.hostNetwork {
		p.freed = true
		p.node.release(p.ip)
	}
}

func (p *pod) forget() {
	p.free()
	p.node.pods = slices.DeleteFunc(p.node.pods, func(o *pod) bool { return o == p })
}

// rebuild gives the pod another address, as after its sandbox died. Behind a proxy
// its client goes on telling the old one, as from a configuration that was written
// once.
func (p *pod) rebuild() {
	if p.load.hostNetwork || p.ended || p.ending || p.proc == nil || !p.proc.alive {
		return
	}
	next := p.node.address()
	if !next.IsValid() {
		return
	}
	if p.load.proxied && !p.told.IsValid() {
		p.told = p.ip
	}
	p.free() // unless somebody believes that it was long ago
	p.ip, p.freed = next, false
	p.crash()
}
