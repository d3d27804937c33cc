package controllers

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/flowcontrol"

	"github.com/kureka/kureka/api/v1alpha1"
	"github.com/kureka/kureka/internal/cluster"
	"github.com/kureka/kureka/internal/verdict"
)

const (
	eventsPerSecond = 5
	eventsQueued    = 256
	eventTimeout    = 5 * time.Second
	// eventOnce is how long the same thing is not said again.
	eventOnce = 10 * time.Minute
	// eventKeys bounds what is remembered of having been said.
	eventKeys = 4096

	reportingController = "kureka.dev/kureka"
)

// Events tells about verdicts on the objects that caused them: one Event for a
// cause, an application and a reason, however many instances it concerns. Events
// are the first thing to be dropped when there is much to do, so they are sent
// directly and not through a recorder, whose aggregation counts by object and
// would spend calls on repeats.
type Events struct {
	client   kubernetes.Interface
	instance string
	log      logr.Logger
	queue    chan cluster.Change
	dropped  atomic.Int64

	mu   sync.Mutex
	said map[eventKey]time.Time
}

type eventKey struct {
	cause, app, reason string
	wrong              bool
}

// NewEvents returns a sender that sends nothing before Run. instance names this
// process.
func NewEvents(client kubernetes.Interface, instance string, log logr.Logger) *Events {
	return &Events{
		client: client, instance: instance, log: log,
		queue: make(chan cluster.Change, eventsQueued), said: map[eventKey]time.Time{},
	}
}

// untold are effects without an Event: reports tell of the first two, the status of
// registrations of the others.
var untold = []cluster.Effect{cluster.Withdrawn, cluster.Confirmed, cluster.Listed, cluster.Unlisted}

// Changed queues an Event. It never blocks. What became of a verdict that was only
// observed is for reports; an Event tells if it was wrong.
func (e *Events) Changed(ch cluster.Change) {
	if slices.Contains(untold, ch.Effect) {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	key := eventKey{cause: ch.PodUID, app: ch.Key.App, reason: ch.Reason, wrong: ch.Effect == cluster.Contradicted}
	if ch.Witness == verdict.WitnessNode {
		key.cause = ch.Node
	}
	if at, said := e.said[key]; ch.PodUID == "" || said && ch.At.Sub(at) < eventOnce {
		return
	}
	select {
	case e.queue <- ch:
		if len(e.said) >= eventKeys {
			clear(e.said)
		}
		e.said[key] = ch.At
	default:
		e.dropped.Add(1)
	}
}

// Dropped returns how many Events were dropped because the queue was full.
func (e *Events) Dropped() int64 { return e.dropped.Load() }

// Run sends queued Events until the context ends.
func (e *Events) Run(ctx context.Context) {
	limiter := flowcontrol.NewTokenBucketRateLimiter(eventsPerSecond, eventsPerSecond)
	defer limiter.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case ch := <-e.queue:
			if limiter.Wait(ctx) != nil {
				return
			}
			if err := e.send(ctx, ch); err != nil && ctx.Err() == nil {
				e.dropped.Add(1)
				e.log.V(1).Info("Dropped an Event", "reason", ch.Reason, "cause", err.Error())
			}
		}
	}
}

func (e *Events) send(ctx context.Context, ch cluster.Change) error {
	ctx, cancel := context.WithTimeout(ctx, eventTimeout)
	defer cancel()
	regarding := corev1.ObjectReference{
		APIVersion: "v1", Kind: "Pod", Namespace: ch.Namespace, Name: ch.Pod, UID: types.UID(ch.PodUID),
	}
	namespace := ch.Namespace
	if ch.Witness == verdict.WitnessNode {
		regarding = corev1.ObjectReference{APIVersion: "v1", Kind: "Node", Name: ch.Node}
		namespace = metav1.NamespaceDefault
	}
	_, err := e.client.EventsV1().Events(namespace).Create(ctx, &eventsv1.Event{
		ObjectMeta:          metav1.ObjectMeta{GenerateName: "kureka-", Namespace: namespace},
		EventTime:           metav1.NewMicroTime(ch.At),
		ReportingController: reportingController,
		ReportingInstance:   e.instance,
		Action:              texts[ch.Effect].action,
		Reason:              ch.Reason,
		Regarding:           regarding,
		Note:                note(ch),
		Type:                typeOf(ch),
	}, metav1.CreateOptions{})
	return err
}

// texts are what an effect is called in an Event.
var texts = map[cluster.Effect]struct{ action, what string }{
	cluster.Removed:  {"Cancel", "left the registry"},
	cluster.TakenOut: {"TakeOutOfService", "is out of service"},
	cluster.PutBack:  {"PutBackInService", "is back in service"},
	cluster.Noted:    {"Note", "stays as it is"},

	cluster.WouldRemove:  {"Observe", "would have left the registry"},
	cluster.WouldTakeOut: {"Observe", "would be out of service"},
	cluster.Contradicted: {"Observe", "sent a heartbeat later, so acting would have been wrong"},
}

// maxNote stays below the API's limit for the note of an Event, which is 1024 bytes.
const maxNote = 1000

// typeOf warns of what somebody should mend.
func typeOf(ch cluster.Change) string {
	switch ch.Reason {
	case cluster.ReasonAnnotationInvalid, cluster.ReasonSeveralNamespaces, cluster.ReasonOtherNamespace, v1alpha1.ReasonWaitedLongEnough:
		return corev1.EventTypeWarning
	}
	return corev1.EventTypeNormal
}

func note(ch cluster.Change) string {
	text := fmt.Sprintf("%s instance %s %s", ch.Key.App, ch.Key.ID, texts[ch.Effect].what)
	switch {
	case ch.Key.ID == "":
		text = ch.Detail // it is about the pod
	case ch.Detail != "":
		text += ": " + ch.Detail
	}
	if len(text) > maxNote {
		text = strings.ToValidUTF8(text[:maxNote], "") // a character may have been cut
	}
	return text
}
