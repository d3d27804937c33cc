package truth

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kureka/kureka/internal/cluster"
	"github.com/kureka/kureka/internal/registry"
)

// keeper is who registers the pods of a workload without their clients.
type keeper string

const (
	nobody      keeper = ""
	annotations keeper = "annotations"
	offers      keeper = "offer"
)

const (
	loadLabel, uidLabel = "load", "uid"

	appAnnotation, portAnnotation = "kureka.dev/app", "kureka.dev/port"
	// uidMetadata tells, for the model only, whom an instance is kept for.
	uidMetadata = "uid"
)

// offering is the object that registers the pods of a workload.
type offering struct {
	metav1.ObjectMeta
	load *workload
	port int
}

// keepSome adds pods without a client to some histories, and has somebody register
// those of some clients, too. The dice are others than those of the rest, which stays
// what it was.
func (p *plan) keepSome() {
	d := newDice(p.seed, "kept")
	if !d.chance(30) {
		return
	}
	for i := range 1 + d.IntN(2) {
		load := workload{
			ns: pick(d, []string{"x", "y"}), app: fmt.Sprintf("KEPT%d", i), port: 8080, replicas: 1 + d.IntN(4), stateful: d.chance(40),
			declares: true, fast: d.chance(25), keeper: pick(d, []keeper{annotations, offers}), clientless: true,
			alias: fmt.Sprintf("SILENT%d", i), // which no client mentions
		}
		if d.chance(40) {
			load.app = pick(d, p.loads).app
		}
		p.clientless = append(p.clientless, load)
	}
	for i := range p.loads {
		if d.chance(30) && !p.loads[i].hostNetwork {
			p.loads[i].keeper = pick(d, []keeper{annotations, offers})
			p.loads[i].keptID = p.loads[i].named && newDice(p.seed, "kept id "+p.loads[i].app).chance(30)
		}
	}
	kinds := slices.Sorted(maps.Keys(keptFaults))
	for range 1 + d.IntN(8) {
		f := randomFault(d, pick(d, kinds))
		f.clientless = true
		p.faults = append(p.faults, f)
	}
}

// name tells a workload from others, also from those of its application.
func (l *workload) name() string {
	if l.clientless {
		return l.alias
	}
	return l.app
}

func (w *world) nextName(load *workload) string {
	w.named[load.clientless]++
	return fmt.Sprintf("%s-%d", load.name(), w.named[load.clientless])
}

func (w *world) nextUID(load *workload) string {
	w.serial[load.clientless]++
	if load.clientless {
		return fmt.Sprintf("k%d", w.serial[true])
	}
	return fmt.Sprintf("u%d", w.serial[false])
}

// addKept adds what has no client, and the objects that register pods.
func (w *world) addKept() {
	for i := range w.plan.clientless {
		load := w.plan.clientless[i]
		w.clientless = append(w.clientless, &load)
	}
	for _, load := range slices.Concat(w.loads, w.clientless) {
		if load.keeper == nobody {
			continue
		}
		w.kept = append(w.kept, load)
		if load.keeper == offers {
			w.offer(load, load.port)
		}
	}
}

func (w *world) offer(load *workload, port int) {
	o := &offering{load: load, port: port}
	o.Namespace, o.Name, o.ResourceVersion = load.ns, strings.ToLower(load.name()), w.api.version()
	w.api.offers.write(w.now, o, false)
	w.op.expect()
}

// unoffer takes the object away.
func (w *world) unoffer(load *workload) {
	if o := w.api.offers.live[load.ns+"/"+strings.ToLower(load.name())]; o != nil {
		w.api.offers.write(w.now, o, true)
		w.op.expect()
	}
}

// annotationsOf is what the template of a pod says.
func (w *world) annotationsOf(p *pod) map[string]string {
	if p.load.keeper != annotations {
		return nil
	}
	return registration(p, p.load.port)
}

func registration(p *pod, port int) map[string]string {
	return map[string]string{appAnnotation: p.load.app, portAnnotation: strconv.Itoa(port), "metadata.kureka.dev/" + uidMetadata: p.uid}
}

// annotate writes what a pod registers itself as, nothing if that is nil.
func (p *pod) annotate(all map[string]string) {
	if o := p.w.api.pod(p); o != nil && p.w.api.up() {
		next := o.DeepCopy()
		next.Annotations = all
		p.w.api.putPod(next)
	}
}

// keptKey is the id of the instance that is kept for a pod.
func (p *pod) keptKey() registry.Key {
	return registry.Key{App: p.load.app, ID: p.name + "." + p.ns + ":" + strings.ToLower(p.load.app)}
}

// deliverOffers hands on the objects that register pods, as they were after so many
// writes.
func (op *operator) deliverOffers(writes int) {
	v, from := &op.view, &op.w.api.offers
	if writes <= v.next.offers {
		return
	}
	v.next.offers = writes
	shown := map[string]*offering{}
	all := make([]cluster.Offer, 0, len(from.history))
	for _, o := range from.list(writes) {
		shown[nameOf(o)] = o
		all = append(all, o.offer())
	}
	op.tape.offers(op.w.now, v.offers, shown)
	v.offers = shown
	op.cluster.SetOffers(op.now(), all)
	op.w.check()
}

// offer is what the registration's reconciler makes of the object.
func (o *offering) offer() cluster.Offer {
	out := cluster.Offer{
		Namespace: o.Namespace, Name: o.Name, Revision: o.ResourceVersion, Created: wall(0, 0),
		Listing: cluster.Listing{
			App: o.load.app, Port: cluster.PortRef{Number: o.port}, FromLabels: []cluster.LabelCopy{{Label: uidLabel, Name: uidMetadata}},
		},
	}
	choose(&out.Selects, o.load)
	return out
}

// choose sets a selector of a workload's pods.
func choose[L interface{ Get(name string) string }](selects *func(L) bool, load *workload) {
	name := load.name()
	*selects = func(l L) bool { return l.Get(loadLabel) == name }
}

// noteName remembers who was shown last by a name, by what was written last.
func (op *operator) noteName(o metav1.Object) {
	was := op.view.pods[op.view.names[nameOf(o)]]
	if was.obj == nil || !past(o, was.obj) {
		op.view.names[nameOf(o)] = string(o.GetUID())
	}
}

// reads notes what a live read showed, which may be newer than what the watch did.
func (op *operator) reads(o metav1.Object) {
	op.view.read[string(o.GetUID())] = versionOf(o)
}

// offers records which objects came, changed and went.
func (t *tape) offers(now time.Duration, before, after map[string]*offering) {
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if after[name] == nil {
			t.line(now, "unoffer %s ns=%s", before[name].Name, before[name].Namespace)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if o := after[name]; before[name] != o {
			t.line(now, "offer %s ns=%s app=%s select=%s:%s port=%d from=%s:%s", o.Name, o.Namespace, o.load.app, loadLabel, o.load.name(), o.port, uidLabel, uidMetadata)
		}
	}
}

// pairs writes labels and annotations as scenarios do.
func pairs(all map[string]string) string {
	out := make([]string, 0, len(all))
	for _, k := range slices.Sorted(maps.Keys(all)) {
		out = append(out, k+":"+all[k])
	}
	return strings.Join(out, ",")
}
