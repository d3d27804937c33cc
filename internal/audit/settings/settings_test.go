package settings_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kureka/kureka/internal/audit/settings"
)

const renewal = "eureka.instance.lease-renewal-interval-in-seconds"

// scene is a container with a ConfigMap "orders" that it mounts.
type scene struct {
	env     []corev1.EnvVar
	envFrom []corev1.EnvFromSource
	args    []string
	files   map[string]string
	items   []corev1.KeyToPath
	subPath string
}

func (s *scene) read(t *testing.T) (*settings.Settings, []string) {
	t.Helper()
	c := corev1.Container{
		Command: []string{"java"}, Args: s.args, Env: s.env, EnvFrom: s.envFrom,
		VolumeMounts: []corev1.VolumeMount{{Name: "config", MountPath: "/config", SubPath: s.subPath}},
	}
	if s.subPath != "" {
		c.VolumeMounts[0].MountPath = "/config/application.yml"
	}
	orders := corev1.LocalObjectReference{Name: "orders"}
	pod := corev1.PodSpec{Volumes: []corev1.Volume{{Name: "config", VolumeSource: corev1.VolumeSource{
		ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: orders, Items: s.items},
	}}}}
	return settings.Read(&pod, &c, func(name string) *corev1.ConfigMap {
		if name != "orders" {
			return nil
		}
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: s.files}
	})
}

func env(name, value string) corev1.EnvVar { return corev1.EnvVar{Name: name, Value: value} }

func TestSettings_areFoundInEverySpellingAndPlace(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		scene scene
		from  string
	}{
		"a variable":                  {scene{env: []corev1.EnvVar{env("EUREKA_INSTANCE_LEASE_RENEWAL_INTERVAL_IN_SECONDS", "7")}}, "env EUREKA_INSTANCE_LEASE_RENEWAL_INTERVAL_IN_SECONDS"},
		"a variable without dashes":   {scene{env: []corev1.EnvVar{env("EUREKA_INSTANCE_LEASERENEWALINTERVALINSECONDS", "7")}}, "env EUREKA_INSTANCE_LEASERENEWALINTERVALINSECONDS"},
		"JSON":                        {scene{env: []corev1.EnvVar{env("SPRING_APPLICATION_JSON", `{"eureka":{"instance":{"leaseRenewalIntervalInSeconds":7}}}`)}}, "env SPRING_APPLICATION_JSON"},
		"JSON in an argument":         {scene{args: []string{`--spring.application.json={"eureka.instance.lease-renewal-interval-in-seconds":7}`}}, "argument"},
		"an option of the JVM":        {scene{env: []corev1.EnvVar{env("JAVA_TOOL_OPTIONS", `-Xmx1g "-Deureka.instance.lease-renewal-interval-in-seconds=7"`)}}, "JVM option in env JAVA_TOOL_OPTIONS"},
		"an option among arguments":   {scene{args: []string{"-Deureka.instance.leaseRenewalIntervalInSeconds=7", "-jar", "app.jar"}}, "JVM option in an argument"},
		"an argument":                 {scene{args: []string{"--eureka.instance.lease-renewal-interval-in-seconds=7"}}, "argument"},
		"an argument within a script": {scene{args: []string{"-c", "exec java -jar app.jar --eureka.instance.lease-renewal-interval-in-seconds=7"}}, "argument"},
		"a file":                      {scene{files: map[string]string{"application.yml": "eureka:\n  instance:\n    lease-renewal-interval-in-seconds: 7\n"}}, "ConfigMap orders, application.yml"},
		"a file of properties":        {scene{files: map[string]string{"application.properties": "eureka.instance.lease\\\n  RenewalIntervalInSeconds : 7\n"}}, "ConfigMap orders, application.properties"},
		"a file under another name": {
			scene{files: map[string]string{"settings": "eureka.instance.lease-renewal-interval-in-seconds=7"}, items: []corev1.KeyToPath{{Key: "settings", Path: "application.properties"}}},
			"ConfigMap orders, settings",
		},
		"a file that is mounted alone": {
			scene{files: map[string]string{"prod.yml": "eureka.instance.lease-renewal-interval-in-seconds: 7"}, subPath: "prod.yml"},
			"ConfigMap orders, prod.yml",
		},
		"all of a ConfigMap as variables": {
			scene{
				files:   map[string]string{"INSTANCE_LEASERENEWALINTERVALINSECONDS": "7"},
				envFrom: []corev1.EnvFromSource{{Prefix: "EUREKA_", ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "orders"}}}},
			}, "ConfigMap orders, INSTANCE_LEASERENEWALINTERVALINSECONDS",
		},
		"one of a ConfigMap as a variable": {
			scene{files: map[string]string{"renewal": "7"}, env: []corev1.EnvVar{{Name: "EUREKA_INSTANCE_LEASERENEWALINTERVALINSECONDS", ValueFrom: &corev1.EnvVarSource{
				ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "orders"}, Key: "renewal"},
			}}}}, "ConfigMap orders, renewal",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, problems := tc.scene.read(t)
			n, from, ok := s.Int(renewal)
			if !ok || n != 7 || from != tc.from || len(problems) > 0 {
				t.Errorf("it is %d from %q (%v), problems %q, want 7 from %q", n, from, ok, problems, tc.from)
			}
		})
	}
}

func TestSettings_haveSpringsPrecedence(t *testing.T) {
	t.Parallel()
	s := scene{files: map[string]string{
		"bootstrap.yml":               "a: 1\nb: 1\nc: 1\n",
		"application.yml":             "b: 2\nc: 2\nd: 2\ne: 2\nf: 2\ng: 2\nh: 2\n---\nspring.config.activate.on-profile: prod\nd: 3\n---\nspring.config.activate.on-profile: test\nd: 4\n",
		"application.properties":      "c=5\n#---\nspring.config.activate.on-profile=test\nc=0\n",
		"application-prod.properties": "e=6\n",
		"application-test.properties": "e=0\n",
	}, env: []corev1.EnvVar{
		env("SPRING_PROFILES_ACTIVE", "k8s, prod"), env("F", "7"), env("JAVA_OPTS", "-Dg=8 -Dh=8"), env("G", "0"), env("SPRING_APPLICATION_JSON", `{"h":9,"i":9}`),
	}, args: []string{"--i=10"}}
	read, problems := s.read(t)
	got := map[string]int{}
	for _, key := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i"} {
		got[key], _, _ = read.Int(key)
	}
	want := map[string]int{"a": 1, "b": 2, "c": 5, "d": 3, "e": 6, "f": 7, "g": 8, "h": 9, "i": 10}
	if diff := cmp.Diff(want, got); diff != "" || len(problems) > 0 {
		t.Errorf("values (-want +got):\n%s\nproblems %q", diff, problems)
	}
}

func TestPlaceholders_areResolvedAsFarAsTheManifestShows(t *testing.T) {
	t.Parallel()
	podName := corev1.EnvVar{Name: "ME", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}}
	secret := corev1.EnvFromSource{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "orders"}}}
	tests := map[string]struct {
		text    string
		envFrom []corev1.EnvFromSource
		want    string
		is      settings.Certainty
	}{
		"nothing to resolve":       {"orders", nil, "orders", settings.Known},
		"another key":              {"${spring.application.name}-x", nil, "orders-x", settings.Known},
		"a variable":               {"${PORT}", nil, "8080", settings.Known},
		"Kubernetes' form":         {"$(PORT)", nil, "8080", settings.Known},
		"a shell's form":           {"$PORT/", nil, "8080/", settings.Known},
		"a default":                {"${NOWHERE:5}", nil, "5", settings.Known},
		"a default to resolve":     {"${NOWHERE:${PORT}}", nil, "8080", settings.Known},
		"a default under a Secret": {"${NOWHERE:5}", []corev1.EnvFromSource{secret}, "", settings.Unknown},
		"nothing known":            {"a${NOWHERE}b", nil, "ab", settings.Unknown},
		"the pod's name":           {"$(ME):1", nil, settings.PodName + ":1", settings.PerPod},
		"the host name":            {"${HOSTNAME}", nil, settings.PodName, settings.PerPod},
		"the address":              {"${spring.cloud.client.ip-address}", nil, settings.PodAddress, settings.PerPod},
		"something random":         {"${random.uuid}", nil, "{unique}", settings.PerPod},
		"a port nobody shows":      {"${server.port}", nil, "{serverport}", settings.Known},
		"a circle":                 {"${a}", nil, "", settings.Unknown},
		"no placeholder":           {"a$ {b} $1 ${open", nil, "a$ {b} $1 ${open", settings.Known},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := scene{
				env:     []corev1.EnvVar{env("PORT", "8080"), podName, env("SPRING_APPLICATION_NAME", "orders"), env("A", "${b}"), env("B", "${a}"), env("TEXT", tc.text)},
				envFrom: tc.envFrom,
			}
			read, _ := s.read(t)
			got, ok := read.Text("text")
			if !ok || got.Text != tc.want || got.Certainty != tc.is {
				t.Errorf("%q is %+v, want %q, certainty %d", tc.text, got, tc.want, tc.is)
			}
		})
	}
}

func TestDurations_haveSpringsForms(t *testing.T) {
	t.Parallel()
	tests := map[string]time.Duration{
		"35s": 35 * time.Second, "5000": 5 * time.Second, "PT1M30S": 90 * time.Second, "pt20s": 20 * time.Second, "2m": 2 * time.Minute, "1d": 24 * time.Hour, "100ms": 100 * time.Millisecond,
	}
	for text, want := range tests {
		s := scene{env: []corev1.EnvVar{env("D", text)}}
		read, _ := s.read(t)
		if got, _, ok := read.Duration("d"); !ok || got != want {
			t.Errorf("%q is %s, %v, want %s", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "soon", "9999999999999999", "99999999d", "${NOWHERE}"} {
		s := scene{env: []corev1.EnvVar{env("D", text)}}
		read, _ := s.read(t)
		if got, _, ok := read.Duration("d"); ok {
			t.Errorf("%q is %s", text, got)
		}
	}
}

func TestAFileThatCannotBeReadIsAProblem(t *testing.T) {
	t.Parallel()
	bomb := "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: [*e,*e,*e,*e,*e,*e,*e,*e,*e]\n"
	long := strings.Repeat("k", 1000)
	bad := map[string]string{
		"no YAML": "a: [", "aliases of aliases": bomb,
		"a long key": "? " + long + long + "\n: 1\n", "a long key above others": "? " + long + "\n: {" + long[:500] + ": 1}\n",
		"a long list many times": "a: &a [x, " + strings.Repeat(long, 500) + "]\nb: *a\nc: *a\n",
	}
	for name, text := range bad {
		s := scene{files: map[string]string{"application.yml": text}}
		if _, problems := s.read(t); len(problems) != 1 {
			t.Errorf("%s: problems %q", name, problems)
		}
	}
}

func TestKeysOfMapsAndListsAreJoined(t *testing.T) {
	t.Parallel()
	s := scene{files: map[string]string{"application.yml": `
base: &base {x: 1, y: 2}
list: [a, b]
deep:
  - {name: one}
  - name: two
copy:
  <<: *base
  y: 3
nothing: ~
`}}
	read, problems := s.read(t)
	got := map[string]string{}
	for _, key := range []string{"list", "deep[0].name", "deep[1].name", "copy.x", "copy.y"} {
		v, _ := read.Text(key)
		got[key] = v.Text
	}
	want := map[string]string{"list": "a,b", "deep[0].name": "one", "deep[1].name": "two", "copy.x": "1", "copy.y": "3"}
	if diff := cmp.Diff(want, got); diff != "" || len(problems) > 0 {
		t.Errorf("values (-want +got):\n%s\nproblems %q", diff, problems)
	}
	if _, ok := read.Text("nothing"); ok {
		t.Error("null is a value")
	}
}
