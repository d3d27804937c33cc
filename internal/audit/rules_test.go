package audit_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kureka/kureka/api/v1alpha1"
	"github.com/kureka/kureka/internal/audit"
)

// ruleCases change one thing in a world in which nothing is wrong. want are all rules
// that speak then, so that each of the others is shown to keep quiet.
var ruleCases = map[string]struct {
	edit func(*world)
	want string
}{
	"nothing is wrong":             {func(*world) {}, ""},
	"no namespace opts in":         {func(w *world) { w.optedIn = false }, "NoDrain"},
	"the pods opt in themselves":   {func(w *world) { w.optedIn = false; label(w, "Enabled") }, ""},
	"the pods opt out":             {func(w *world) { label(w, "Disabled") }, "NoDrain"},
	"no policy switches it on":     {func(w *world) { w.policy.Drain.Mode = "" }, "NoDrain"},
	"no drain, a hook of no words": {func(w *world) { w.optedIn = false; w.script("/app/stop") }, ""},
	"no drain, a hook that only tells the registry": {
		func(w *world) { w.optedIn = false; w.shell("curl -X POST localhost:8080/actuator/service-registry") }, "NoDrain PreStopActuator",
	},
	"no drain, but it only looks others up": {
		func(w *world) { w.optedIn = false; w.settings["eureka.client.register-with-eureka"] = "false" }, "",
	},
	"no drain, a long enough sleep": {
		func(w *world) { w.optedIn = false; w.hook(sleep(70)); w.grace(120) }, "PreStopSleep",
	},
	"no drain, a sleep that is too short": {
		func(w *world) { w.optedIn = false; w.hook(sleep(15)) }, "PreStopSleep SleepTooShort",
	},
	"no drain, a sleep as long as the grace period": {
		func(w *world) { w.optedIn = false; w.shell("sleep 30"); w.grace(30) }, "GraceTooShort PreStopSleep SleepTooShort",
	},
	"no drain, a sleep as long as the usual grace period": {
		func(w *world) { w.optedIn = false; w.shell("sleep 0.5m"); w.pod.TerminationGracePeriodSeconds = nil }, "GraceTooShort PreStopSleep SleepTooShort",
	},
	"no drain, a sleep that leaves little": {
		func(w *world) { w.optedIn = false; w.hook(sleep(70)); w.grace(75) }, "GraceLeavesNoShutdown PreStopSleep",
	},
	"a shutdown that is longer than the grace period": {
		func(w *world) { w.settings["spring.lifecycle.timeout-per-shutdown-phase"] = "45s" }, "GraceLeavesNoShutdown",
	},
	"a shutdown that fits": {
		func(w *world) { w.settings["spring.lifecycle.timeoutPerShutdownPhase"] = "PT25S" }, "",
	},
	"a grace period of nothing": {func(w *world) { w.grace(0) }, "GraceZero"},
	"a hook that the drain has put there": {
		func(w *world) {
			w.hook(sleep(70))
			w.orders.Spec.Template.Annotations = map[string]string{"kureka.dev/drain-report": `{"sleepSeconds":70,"containers":["app"]}`}
		}, "",
	},
	"no webhook": {func(w *world) { w.in.WebhooksKnown = true; w.in.Webhooks = []string{"others.example"} }, "NoDrain"},
	"the webhook of the drain": {
		func(w *world) { w.in.WebhooksKnown = true; w.in.Webhooks = []string{"namespaces.drain.kureka.dev"} }, "",
	},
	"a hook that is kept": {func(w *world) { w.script("/app/stop") }, "DrainHeldBack"},
	"a hook that is replaced": {
		func(w *world) { w.script("/app/stop"); w.policy.Drain.OnExistingHook = v1alpha1.ReplaceHook }, "",
	},
	"a drain that is limited to less than what is usual": {func(w *world) { w.policy.Drain.MaxSeconds = new(int32(60)) }, "DrainTooShort"},
	"a drain of a number that somebody chose":            {func(w *world) { w.policy.Drain.Seconds = new(intstr.FromInt32(15)) }, ""},
	"a drain that is shorter than the caches in sight": {
		func(w *world) {
			w.policy.Drain.Seconds = new(intstr.FromInt32(15))
			w.settings["eureka.client.registry-fetch-interval-seconds"] = "60"
		}, "DrainTooShort",
	},

	"a hook that sets the status": {
		func(w *world) {
			w.shell(`curl -X PUT "http://eureka:8761/eureka/apps/ORDERS/$HOSTNAME/status?value=OUT_OF_SERVICE"; sleep 80`)
		},
		"DrainHeldBack GraceTooShort PreStopSleep PreStopStatus",
	},
	"a hook that removes the registration": {
		func(w *world) { w.shell("wget --method=DELETE http://eureka:8761/eureka/apps/ORDERS/$HOSTNAME") }, "DrainHeldBack PreStopCancel",
	},
	"a hook of the application's own":  {func(w *world) { w.shell("/opt/apps/orders/status; /opt/shutdown.sh --kill-after=5") }, "DrainHeldBack"},
	"a hook that ends the application": {func(w *world) { w.shell("curl -X POST localhost:8080/actuator/shutdown") }, "DrainHeldBack PreStopShutdown"},
	"a hook that sends a signal":       {func(w *world) { w.shell("kill -TERM 1") }, "DrainHeldBack PreStopKill"},
	"a hook with pipes":                {func(w *world) { w.shell("ps | grep java | xargs kill") }, "DrainHeldBack PreStopKill PreStopPipes"},
	"a hook with an alternative":       {func(w *world) { w.shell("/app/stop || true") }, "DrainHeldBack"},
	"a hook that asks the actuator": {
		func(w *world) {
			w.hook(corev1.LifecycleHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/actuator/serviceregistry?status=DOWN"}})
		}, "DrainHeldBack PreStopActuator",
	},

	"readiness of everything": {func(w *world) { w.app.ReadinessProbe = get("/actuator/health") }, "ReadinessOnHealth"},
	"readiness of everything that counts": {
		func(w *world) {
			w.app.ReadinessProbe = get("/shop/actuator/health/")
			w.policy.Pods.NotReady = v1alpha1.OutOfService
		}, "ReadinessLatch",
	},
	"readiness of everything by a command": {
		func(w *world) {
			w.app.ReadinessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{
				Command: []string{"sh", "-c", "curl -f http://localhost:8080/actuator/health || exit 1"},
			}}}
		}, "ReadinessOnHealth",
	},
	"readiness of another page": {func(w *world) { w.app.ReadinessProbe = get("/health") }, ""},
	"readiness at another base path": {
		func(w *world) {
			w.app.ReadinessProbe = get("/manage/health")
			w.settings["management.endpoints.web.base-path"] = "/manage"
		},
		"ReadinessOnHealth",
	},
	"a readiness group with the registry": {
		func(w *world) {
			w.settings["management.endpoint.health.group.readiness.include"] = "readinessState, discoveryComposite"
			w.policy.Pods.NotReady = v1alpha1.OutOfService
		}, "ReadinessLatch",
	},
	"a health without the registry": {
		func(w *world) {
			w.app.ReadinessProbe = get("/actuator/health")
			w.settings["spring.cloud.discovery.client.composite-indicator.enabled"] = "false"
		}, "",
	},
	"liveness of everything": {func(w *world) { w.app.LivenessProbe = get("/actuator/health") }, "LivenessOnHealth"},

	"a lease that ends before its renewal":               {lease("30", "30"), "LeaseEndsBeforeRenewal"},
	"a lease of two renewals":                            {lease("30", "60"), "LeaseBelowThreeRenewals"},
	"another interval":                                   {lease("10", "30"), "RenewalUnlikePolicy"},
	"an interval longer than a third of the usual lease": {lease("45", ""), "LeaseBelowThreeRenewals RenewalUnlikePolicy"},
	"the policy's interval": {
		func(w *world) { w.policy.Leases.DefaultRenewalIntervalSeconds = new(int32(10)); lease("10", "30")(w) }, "",
	},
	"a lease out of bounds": {
		func(w *world) {
			w.policy.Leases.Bounds = &v1alpha1.LeaseBounds{MaxDurationSeconds: new(int32(120))}
			lease("30", "180")(w)
		}, "LeaseOutOfBounds",
	},
	"a cache longer than the fetches": {func(w *world) { w.settings["eureka.client.registry-fetch-interval-seconds"] = "5" }, "StackedCaches"},
	"a cache as short as the fetches": {
		func(w *world) {
			w.settings["eureka.client.registry-fetch-interval-seconds"] = "5"
			w.settings["spring.cloud.loadbalancer.cache.ttl"] = "5s"
		}, "",
	},
	"a cache longer than the policy's": {
		func(w *world) { w.settings["spring.cloud.loadbalancer.cache.ttl"] = "50s" }, "CacheUnlikePolicy",
	},
	"no deltas": {func(w *world) { w.settings["eureka.client.disable-delta"] = "true" }, "DeltaDisabled"},

	"one id for all":                       {func(w *world) { w.settings["eureka.instance.instance-id"] = "${spring.application.name}:8080" }, "SharedInstanceID"},
	"one id for one pod, in a rollout two": {func(w *world) { oneID(w) }, "SharedInstanceID SingleReplica"},
	"one id for one pod that ends before the next": {
		func(w *world) { oneID(w); w.orders.Spec.Strategy.Type = appsv1.RecreateDeploymentStrategyType }, "SingleReplica",
	},
	"one id for one pod of a StatefulSet":  {func(w *world) { oneID(w); w.statefulSet() }, "SingleReplica"},
	"one id for two pods of a StatefulSet": {func(w *world) { oneID(w); w.orders.Spec.Replicas = new(int32(2)); w.statefulSet() }, "SharedInstanceID"},
	"one id for as many pods as an autoscaler makes": {
		func(w *world) {
			oneID(w)
			w.statefulSet()
			w.in.Autoscalers = []audit.Autoscaler{{Namespace: "shop", Kind: "StatefulSet", Name: "orders", Least: 1}}
		},
		"SharedInstanceID SingleReplica",
	},
	"ids by host name": {
		func(w *world) {
			w.settings["eureka.instance.instance-id"] = "${HOSTNAME:orders}:${spring.application.name}"
		}, "",
	},
	"ids by a variable of the pod": {
		func(w *world) {
			w.app.Env = []corev1.EnvVar{
				{Name: "ME", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.uid"}}},
				{Name: "EUREKA_INSTANCE_INSTANCE_ID", Value: "orders-$(ME)"},
			}
		}, "",
	},
	"ids by what nobody sees": {func(w *world) { w.settings["eureka.instance.instanceId"] = "${vcap.instance_id}" }, ""},
	"a fixed address":         {func(w *world) { w.settings["eureka.instance.ip-address"] = "192.0.2.1" }, "FixedAddress"},
	"host names":              {func(w *world) { w.settings["eureka.instance.prefer-ip-address"] = "false" }, "HostNameUnresolvable"},
	"the pod's name":          {func(w *world) { w.settings["eureka.instance.hostname"] = "${HOSTNAME}" }, "HostNameUnresolvable"},
	"localhost":               {func(w *world) { w.settings["eureka.instance.hostname"] = "localhost" }, "HostNameUnresolvable"},
	"a name of the cluster":   {func(w *world) { w.settings["eureka.instance.hostname"] = "${HOSTNAME}.orders.shop.svc" }, ""},
	"addresses":               {func(w *world) { w.settings["eureka.instance.prefer-ip-address"] = "true" }, ""},
	"host names that the policy rewrites": {
		func(w *world) {
			w.settings["eureka.instance.prefer-ip-address"] = "false"
			w.policy.Pods.HostName = v1alpha1.RewriteToPodIP
		}, "",
	},

	"one pod": {func(w *world) { w.orders.Spec.Replicas = nil }, "SingleReplica"},
	"one pod, and more by an autoscaler": {
		func(w *world) {
			w.orders.Spec.Replicas = nil
			w.autoscaled(2)
		}, "",
	},
	"a rollout that ends all": {
		func(w *world) { w.orders.Spec.Strategy.Type = appsv1.RecreateDeploymentStrategyType }, "RolloutStopsEverybody",
	},
	"a rollout that may end all": {
		func(w *world) { w.unavailable(intstr.FromString("100%")) }, "RolloutStopsEverybody",
	},
	"a rollout that may end most": {func(w *world) { w.unavailable(intstr.FromString("99%")) }, ""},
	"a rollout that may end one of those of an autoscaler": {
		func(w *world) { w.orders.Spec.Replicas = nil; w.autoscaled(4); w.unavailable(intstr.FromInt32(1)) }, "",
	},
	"a rollout that may end all of an autoscaler's fewest": {
		func(w *world) {
			w.orders.Spec.Replicas = new(int32(9))
			w.autoscaled(4)
			w.unavailable(intstr.FromInt32(4))
		}, "RolloutStopsEverybody",
	},
	"the host's network":                {func(w *world) { w.pod.HostNetwork = true }, "HostNetwork"},
	"the host's network without a port": {func(w *world) { w.pod.HostNetwork = true; w.app.Ports = nil }, "HostNetworkWithoutPort"},
	"two containers without a port":     {func(w *world) { w.app.Ports = nil; w.sidecar() }, "ContainerUnknown"},
	"one container without a port":      {func(w *world) { w.app.Ports = nil }, ""},
	"a job":                             {func(w *world) { w.job() }, "JobRegisters"},
	"a job that only looks others up":   {func(w *world) { w.job(); w.settings["eureka.client.register-with-eureka"] = "false" }, ""},
	"a Eureka server":                   {server, "SelfPreservationDisabled"},
	"several registries": {func(w *world) {
		w.settings["eureka.client.service-url.defaultZone"] = "http://a/eureka,http://b/eureka"
	}, "SeveralRegistries"},
	"the WebClient":                      {func(w *world) { w.settings["eureka.client.webclient.enabled"] = "true" }, "WebClientLimit"},
	"the WebClient with a larger buffer": {webClient, ""},
	"every page of the actuator":         {func(w *world) { w.settings["management.endpoints.web.exposure.include"] = "*" }, "ActuatorExposed"},
	"settings that are no YAML":          {func(w *world) { env(w, "SPRING_APPLICATION_JSON", `{"eureka": `) }, "SettingsUnreadable"},
	"not a client at all":                {func(w *world) { clear(w.settings); w.optedIn = false; w.shell("sleep 5"); w.orders.Spec.Replicas = nil }, ""},
	"a client that is switched off":      {func(w *world) { w.settings["eureka.client.enabled"] = "false"; w.optedIn = false }, ""},
}

func TestRules_speakWhereSomethingIsWrongAndNowhereElse(t *testing.T) {
	t.Parallel()
	for name, tc := range ruleCases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			tc.edit(w)
			if diff := cmp.Diff(strings.Fields(tc.want), spoke(w)); diff != "" {
				t.Errorf("rules (-want +got):\n%s", diff)
			}
		})
	}
}

// spoke lists the rules that found something, each once.
func spoke(w *world) []string {
	rules := map[string]bool{}
	for _, f := range audit.Check(w.input()).Findings {
		rules[f.Rule] = true
	}
	return append([]string{}, slices.Sorted(maps.Keys(rules))...)
}

func TestRules_eachHasACase(t *testing.T) {
	t.Parallel()
	wanted := map[string]bool{}
	for _, tc := range ruleCases {
		for id := range strings.FieldsSeq(tc.want) {
			wanted[id] = true
		}
	}
	seen := map[string]bool{}
	for _, r := range audit.Rules() {
		if !wanted[r.ID] {
			t.Errorf("no case makes %s speak", r.ID)
		}
		if seen[r.ID] {
			t.Errorf("two rules are named %s", r.ID)
		}
		seen[r.ID] = true
	}
}

func TestFindings_haveAReasonAndAnAdvice(t *testing.T) {
	t.Parallel()
	for name, tc := range ruleCases {
		w := newWorld()
		tc.edit(w)
		for _, f := range audit.Check(w.input()).Findings {
			if f.Reason == "" || f.Advice == "" || strings.ContainsAny(f.Reason+f.Advice, "\n") {
				t.Errorf("%s: %+v", name, f)
			}
		}
	}
}
