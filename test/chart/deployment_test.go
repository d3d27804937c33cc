package chart

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kureka/kureka/internal/app"
)

// pod returns the pod that the Deployment runs.
func pod(o objects) *corev1.PodTemplateSpec {
	o.t.Helper()
	return &of[appsv1.Deployment](o, "Deployment", objectName).Spec.Template
}

func container(o objects) *corev1.Container {
	o.t.Helper()
	return &pod(o).Spec.Containers[0]
}

// understood are the settings that the program makes of the rendered arguments.
func understood(t *testing.T, args []string) app.Options {
	t.Helper()
	options, err := app.ParseArgs(args, io.Discard)
	if err != nil {
		t.Fatalf("the program refuses %q: %v", args, err)
	}
	return options
}

func TestDeployment_setsEveryFlagAsTheProgramUnderstandsIt(t *testing.T) {
	t.Parallel()
	installed := app.DefaultOptions()
	installed.Mode, installed.ShutdownDelay, installed.WebhookAddr = app.Manager, 5*time.Second, ":9443"
	installed.SnapshotFile = "/var/lib/kureka/registry.snapshot"
	tests := map[string]struct {
		values string
		change func(o *app.Options)
	}{
		"nothing":               {"", func(*app.Options) {}},
		"a class":               {"registryClass: blue", func(o *app.Options) { o.RegistryClass = "blue" }},
		"namespaces":            {"watchNamespaces: [shop, play]", func(o *app.Options) { o.WatchNamespaces = []string{"shop", "play"} }},
		"no start gate":         {"startGate: 0s", func(o *app.Options) { o.StartGate = "0s" }},
		"a slow end":            {"shutdownDelaySeconds: 20", func(o *app.Options) { o.ShutdownDelay = 20 * time.Second }},
		"many instances":        {"maxInstances: 10000000", func(o *app.Options) { o.MaxInstances = 10_000_000 }},
		"proxies":               {"trustedProxies: [10.0.0.0/8, '::1']", func(o *app.Options) { o.TrustedProxies = []string{"10.0.0.0/8", "::1"} }},
		"peers":                 {"replicationPeers: [192.0.2.7]", func(o *app.Options) { o.ReplicationPeers = []string{"192.0.2.7"} }},
		"a talkative log":       {"logLevel: 1", func(o *app.Options) { o.LogLevel = 1 }},
		"no dashboard":          {"dashboard: {enabled: false}", func(o *app.Options) { o.Dashboard = app.DashboardOff }},
		"no prober":             {"prober: {enabled: false}", func(o *app.Options) { o.Prober = app.ProberOff }},
		"no snapshot":           {"snapshot: {enabled: false}", func(o *app.Options) { o.SnapshotFile = "" }},
		"users":                 {"auth: {basic: {existingSecret: s, key: auth}}", func(o *app.Options) { o.UsersFile = "/etc/kureka/auth/auth" }},
		"no webhook":            {"webhook: {enabled: false}", func(o *app.Options) { o.WebhookAddr = "0" }},
		"a certificate":         {"webhook: {certificate: {existingSecret: s}}", func(o *app.Options) { o.WebhookCertDir = "/etc/kureka/webhook" }},
		"another's certificate": {"webhook: {certificate: {certManager: {enabled: true}}}", func(o *app.Options) { o.WebhookCertDir = "/etc/kureka/webhook" }},
		"more arguments":        {"extraArgs: [--log-level=1]", func(o *app.Options) { o.LogLevel = 1 }},
		"an encrypted port": {"tls: {existingSecret: s}", func(o *app.Options) {
			o.TLSCertFile, o.TLSKeyFile = "/etc/kureka/tls/tls.crt", "/etc/kureka/tls/tls.key"
		}},
		"another name": {"fullnameOverride: blue", func(o *app.Options) {
			o.CanaryName, o.WebhookConfig, o.WebhookService = "blue", "blue", "blue"
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := installed
			tc.change(&want)
			o := render(t, tc.values)
			d := of[appsv1.Deployment](o, "Deployment", want.CanaryName)
			if diff := cmp.Diff(want, understood(t, d.Spec.Template.Spec.Containers[0].Args)); diff != "" {
				t.Errorf("settings differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDeployment_neverRunsTwo(t *testing.T) {
	t.Parallel()
	d := of[appsv1.Deployment](render(t, ""), "Deployment", objectName)
	if *d.Spec.Replicas != 1 || d.Spec.Strategy.Type != appsv1.RecreateDeploymentStrategyType {
		t.Errorf("%d replicas, strategy %s", *d.Spec.Replicas, d.Spec.Strategy.Type)
	}
}

func TestDeployment_namesTheImage(t *testing.T) {
	t.Parallel()
	digest := "sha256:" + strings.Repeat("a", 64)
	tests := map[string]struct{ values, want string }{
		"built in":              {"", "kureka:0.1.0"},
		"a registry":            {"image: {registry: registry.example/}", "registry.example/kureka:0.1.0"},
		"a registry for all":    {"{global: {imageRegistry: all.example}, image: {registry: registry.example}}", "all.example/kureka:0.1.0"},
		"a repository":          {"image: {registry: registry.example, repository: team/kureka}", "registry.example/team/kureka:0.1.0"},
		"a tag":                 {"image: {tag: v1}", "kureka:v1"},
		"a digest":              {"image: {tag: v1, digest: '" + digest + "'}", "kureka@" + digest},
		"a digest and registry": {"{global: {imageRegistry: all.example}, image: {digest: '" + digest + "'}}", "all.example/kureka@" + digest},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := container(render(t, tc.values)).Image; got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

func TestDeployment_leavesTheCollectorATenthOfTheMemory(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ limit, want string }{
		"no limit":        {`{}`, ""},
		"binary":          {`{memory: 256Mi}`, "241591910"},
		"decimal":         {`{memory: 1G}`, "900000000"},
		"a fraction":      {`{memory: 1.5Gi}`, "1449551462"},
		"bytes":           {`{memory: 1000000000}`, "900000000"},
		"an exotic unit":  {`{memory: 1Ti}`, ""},
		"processors only": {`{cpu: 1}`, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ""
			for _, env := range container(render(t, "resources: {limits: "+tc.limit+"}")).Env {
				if env.Name == "GOMEMLIMIT" {
					got = env.Value
				}
			}
			if got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestDeployment_grantsTimeForTheWholeEnd(t *testing.T) {
	t.Parallel()
	if got := *pod(render(t, "shutdownDelaySeconds: 60")).Spec.TerminationGracePeriodSeconds; got != 85 {
		t.Errorf("%d s of grace for 60 s of delay", got)
	}
}

func TestDeployment_mountsSecretsForReading(t *testing.T) {
	t.Parallel()
	o := render(t, `
auth: {basic: {existingSecret: users-secret}}
tls: {existingSecret: tls-secret}
webhook: {certificate: {existingSecret: webhook-secret}}`)
	got := map[string]string{}
	for _, m := range container(o).VolumeMounts {
		for _, v := range pod(o).Spec.Volumes {
			if v.Name == m.Name && v.Secret != nil && m.ReadOnly {
				got[m.MountPath] = v.Secret.SecretName
			}
		}
	}
	want := map[string]string{"/etc/kureka/auth": "users-secret", "/etc/kureka/tls": "tls-secret", "/etc/kureka/webhook": "webhook-secret"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("mounted secrets differ (-want +got):\n%s", diff)
	}
}

func TestDeployment_keepsTheSnapshotWhereItIsTold(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ values, claim string }{
		"in an emptyDir":         {"", ""},
		"in a claim of its own":  {"snapshot: {persistentVolumeClaim: {enabled: true}}", objectName},
		"in a claim that exists": {"snapshot: {persistentVolumeClaim: {existingClaim: mine}}", "mine"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := render(t, tc.values)
			v := pod(o).Spec.Volumes[0]
			if tc.claim == "" && (v.EmptyDir == nil || v.EmptyDir.SizeLimit.String() != "256Mi") {
				t.Errorf("the volume is %v", v)
			}
			if tc.claim != "" && (v.PersistentVolumeClaim == nil || v.PersistentVolumeClaim.ClaimName != tc.claim) {
				t.Errorf("the volume is %v, want claim %s", v, tc.claim)
			}
			if own := o.named("PersistentVolumeClaim", objectName) != nil; own != (tc.claim == objectName) {
				t.Errorf("a claim of its own: %v", own)
			}
		})
	}
	if o := render(t, "snapshot: {enabled: false, persistentVolumeClaim: {enabled: true}}"); len(pod(o).Spec.Volumes) != 0 || o.named("PersistentVolumeClaim", objectName) != nil {
		t.Error("without a snapshot there is a volume")
	}
}

func TestDeployment_staysOutOfMeshes(t *testing.T) {
	t.Parallel()
	p := pod(render(t, ""))
	if p.Labels["sidecar.istio.io/inject"] != "false" || p.Annotations["linkerd.io/inject"] != "disabled" {
		t.Errorf("labels %v, annotations %v", p.Labels, p.Annotations)
	}
	p = pod(render(t, "mesh: {inject: true}"))
	if len(p.Labels) != 2 || len(p.Annotations) != 0 {
		t.Errorf("in a mesh: labels %v, annotations %v", p.Labels, p.Annotations)
	}
}

func TestDeployment_passesOnWhatConcernsThePod(t *testing.T) {
	t.Parallel()
	o := render(t, `
global: {imagePullSecrets: [{name: all}]}
imagePullSecrets: [{name: own}]
deploymentAnnotations: {a: "1"}
podLabels: {b: "2"}
podAnnotations: {c: "3"}
priorityClassName: system-cluster-critical
runtimeClassName: gvisor
nodeSelector: {pool: system}
tolerations: [{key: pool, operator: Exists}]
affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {matchExpressions: [{key: d, operator: Exists}]}}]}}
topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}]
dnsConfig: {options: [{name: ndots, value: "1"}]}
extraEnv: [{name: GODEBUG, value: x=1}]
extraEnvFrom: [{configMapRef: {name: e}}]
extraVolumes: [{name: f, emptyDir: {}}]
extraVolumeMounts: [{name: f, mountPath: /f}]
extraContainers: [{name: g, image: g}]`)
	d := of[appsv1.Deployment](o, "Deployment", objectName)
	p, c := d.Spec.Template, d.Spec.Template.Spec.Containers[0]
	got := []any{
		p.Spec.ImagePullSecrets, d.Annotations["a"], p.Labels["b"], p.Annotations["c"], p.Spec.PriorityClassName, *p.Spec.RuntimeClassName,
		p.Spec.NodeSelector["pool"], p.Spec.Tolerations[0].Key, p.Spec.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution[0].Weight,
		p.Spec.TopologySpreadConstraints[0].TopologyKey, p.Spec.DNSConfig.Options[0].Name,
		c.Env[len(c.Env)-1].Name, c.EnvFrom[0].ConfigMapRef.Name, p.Spec.Volumes[1].Name, c.VolumeMounts[1].MountPath, p.Spec.Containers[1].Name,
	}
	want := []any{
		[]corev1.LocalObjectReference{{Name: "all"}, {Name: "own"}},
		"1", "2", "3", "system-cluster-critical", "gvisor",
		"system", "pool", int32(1), "zone", "ndots", "GODEBUG", "e", "f", "/f", "g",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the pod differs (-want +got):\n%s", diff)
	}
}

// A selector cannot be changed, so nothing that people choose may be part of it.
func TestDeployment_selectsByTheReleaseAlone(t *testing.T) {
	t.Parallel()
	o := render(t, "{podLabels: {app.kubernetes.io/instance: other, x: z}, commonLabels: {app.kubernetes.io/name: other}}")
	d := of[appsv1.Deployment](o, "Deployment", objectName)
	want := map[string]string{"app.kubernetes.io/name": "kureka", "app.kubernetes.io/instance": release}
	if diff := cmp.Diff(want, d.Spec.Selector.MatchLabels); diff != "" {
		t.Errorf("the selector differs (-want +got):\n%s", diff)
	}
	for key, value := range want {
		if d.Spec.Template.Labels[key] != value {
			t.Errorf("the pod has %s=%s, which is not selected", key, d.Spec.Template.Labels[key])
		}
	}
}
