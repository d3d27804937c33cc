package drain

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kureka/kureka/api/v1alpha1"
)

// builtIn is the drain as it is in force where only the mode was set.
func builtIn(change ...func(*v1alpha1.Drain)) v1alpha1.Drain {
	d := v1alpha1.Drain{
		Mode: v1alpha1.DrainSleep, Seconds: new(intstr.FromString("Auto")), MaxSeconds: new(int32(90)),
		LoadBalancerCacheSeconds: new(int32(35)), OnExistingHook: v1alpha1.KeepHook,
	}
	for _, c := range change {
		c(&d)
	}
	return d
}

func TestLengthIsWhatClientsNeed(t *testing.T) {
	nobody := func() (time.Duration, int, int) { return 0, 0, 0 }
	tests := map[string]struct {
		drain v1alpha1.Drain
		want  int64
		how   string
	}{
		"stock clients":        {builtIn(), 70, "usual fetch interval 30s, load balancer cache 35s, margin 5s"},
		"a shorter cache":      {builtIn(func(d *v1alpha1.Drain) { *d.LoadBalancerCacheSeconds = 5 }), 40, "load balancer cache 5s"},
		"limited":              {builtIn(func(d *v1alpha1.Drain) { *d.LoadBalancerCacheSeconds = 300 }), 90, "limited by drain.maxSeconds"},
		"fixed":                {builtIn(func(d *v1alpha1.Drain) { d.Seconds = new(intstr.FromInt32(12)) }), 12, "drain.seconds"},
		"fixed and limited":    {builtIn(func(d *v1alpha1.Drain) { d.Seconds = new(intstr.FromInt32(600)) }), 90, "limited"},
		"fixed to none at all": {builtIn(func(d *v1alpha1.Drain) { d.Seconds = new(intstr.FromInt32(0)) }), 0, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, how := length(&tc.drain, nobody)
			if got != tc.want || !strings.Contains(how, tc.how) {
				t.Errorf("%d s (%s), want %d (%s)", got, how, tc.want, tc.how)
			}
		})
	}
}

func TestLengthFollowsTheSlowestConsumer(t *testing.T) {
	auto := builtIn()
	for name, tc := range map[string]struct {
		slowest        time.Duration
		known, unknown int
		want           int64
		how            string
	}{
		"nobody":                          {0, 0, 0, 70, "usual fetch interval 30s"},
		"nobody that is one process":      {0, 0, 3, 70, "usual fetch interval 30s"},
		"all of them quick":               {5 * time.Second, 14, 0, 45, "slowest fetch interval of 14 consumers 5s, load balancer cache 35s"},
		"not a whole second":              {5040 * time.Millisecond, 14, 0, 46, "14 consumers 6s"},
		"quick ones and one in between":   {5 * time.Second, 14, 1, 70, "1 of 15 consumers cannot be measured: usual fetch interval 30s"},
		"slow ones and one in between":    {40 * time.Second, 14, 1, 80, "slowest fetch interval of 14 consumers 40s"},
		"one that is slower than allowed": {300 * time.Second, 2, 0, 90, "limited by drain.maxSeconds"},
	} {
		got, how := length(&auto, func() (time.Duration, int, int) { return tc.slowest, tc.known, tc.unknown })
		if got != tc.want || !strings.Contains(how, tc.how) {
			t.Errorf("%s: %d s (%s), want %d (%s)", name, got, how, tc.want, tc.how)
		}
	}
}

func container(name string, hook *corev1.LifecycleHandler) corev1.Container {
	c := corev1.Container{Name: name, Image: name}
	if hook != nil {
		c.Lifecycle = &corev1.Lifecycle{PreStop: hook}
	}
	return c
}

var (
	script = &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"sh", "-c", "sleep 15"}}}
	ours   = &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: 20}}
)

func TestContainersGetASleepAndThePodTheGraceForIt(t *testing.T) {
	always := corev1.ContainerRestartPolicyAlways
	tests := map[string]struct {
		before, after corev1.PodSpec
		existing      v1alpha1.ExistingHook
		want          Report
	}{
		"one container": {
			before: corev1.PodSpec{Containers: []corev1.Container{container("app", nil)}},
			after:  corev1.PodSpec{Containers: []corev1.Container{container("app", ours)}, TerminationGracePeriodSeconds: new(int64(50))},
			want:   Report{SleepSeconds: 20, How: "how", Containers: []string{"app"}, GraceSeconds: 50},
		},
		"grace of its own, several containers": {
			before: corev1.PodSpec{Containers: []corev1.Container{container("app", nil), container("proxy", nil)}, TerminationGracePeriodSeconds: new(int64(1))},
			after:  corev1.PodSpec{Containers: []corev1.Container{container("app", ours), container("proxy", ours)}, TerminationGracePeriodSeconds: new(int64(21))},
			want:   Report{SleepSeconds: 20, How: "how", Containers: []string{"app", "proxy"}, GraceSeconds: 21},
		},
		"an existing hook stays": {
			before: corev1.PodSpec{Containers: []corev1.Container{container("app", script), container("proxy", nil)}},
			after:  corev1.PodSpec{Containers: []corev1.Container{container("app", script), container("proxy", ours)}, TerminationGracePeriodSeconds: new(int64(50))},
			want:   Report{SleepSeconds: 20, How: "how", Containers: []string{"proxy"}, Kept: []string{"app"}, GraceSeconds: 50},
		},
		"an existing hook is replaced if told": {
			before: corev1.PodSpec{Containers: []corev1.Container{container("app", script)}}, existing: v1alpha1.ReplaceHook,
			after: corev1.PodSpec{Containers: []corev1.Container{container("app", ours)}, TerminationGracePeriodSeconds: new(int64(50))},
			want:  Report{SleepSeconds: 20, How: "how", Containers: []string{"app"}, Replaced: []string{"app"}, GraceSeconds: 50},
		},
		"a native sidecar outlives the rest anyway": {
			before: corev1.PodSpec{
				InitContainers: []corev1.Container{{Name: "proxy", RestartPolicy: &always}}, Containers: []corev1.Container{container("app", nil)},
			},
			after: corev1.PodSpec{
				InitContainers: []corev1.Container{{Name: "proxy", RestartPolicy: &always}}, Containers: []corev1.Container{container("app", ours)},
				TerminationGracePeriodSeconds: new(int64(50)),
			},
			want: Report{SleepSeconds: 20, How: "how", Containers: []string{"app"}, GraceSeconds: 50},
		},
		"the host's network": {
			before: corev1.PodSpec{HostNetwork: true, Containers: []corev1.Container{container("app", nil)}},
			after:  corev1.PodSpec{HostNetwork: true, Containers: []corev1.Container{container("app", ours)}, TerminationGracePeriodSeconds: new(int64(50))},
			want:   Report{SleepSeconds: 20, How: "how", Containers: []string{"app"}, GraceSeconds: 50},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{Spec: *tc.before.DeepCopy()}
			got, _ := inject(pod, sleepFor(20, "how"), tc.existing)
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Errorf("report (-want +got)\n%s", d)
			}
			if d := cmp.Diff(tc.after, pod.Spec); d != "" {
				t.Errorf("pod (-want +got)\n%s", d)
			}
			var told Report
			if err := json.Unmarshal([]byte(pod.Annotations[ReportAnnotation]), &told); err != nil || !cmp.Equal(told, got) {
				t.Errorf("the annotation says %+v, %v", told, err)
			}
		})
	}
}

func TestPodsThatADrainDoesNotSuitAreLeftAloneAndSaySo(t *testing.T) {
	yes := true
	plain := corev1.PodSpec{Containers: []corev1.Container{container("app", nil)}}
	tests := map[string]struct {
		pod     corev1.Pod
		seconds int64
		why     string
	}{
		"a job's":               {corev1.Pod{ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{{Kind: "Job", Controller: &yes}}}, Spec: plain}, 20, "runs to completion"},
		"one that runs once":    {corev1.Pod{Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: plain.Containers}}, 20, "runs to completion"},
		"a static one":          {corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{corev1.MirrorPodAnnotationKey: "x"}}, Spec: plain}, 20, "static"},
		"one without any grace": {corev1.Pod{Spec: corev1.PodSpec{TerminationGracePeriodSeconds: new(int64(0)), Containers: plain.Containers}}, 20, "grace period is 0"},
		"nothing to wait for":   {corev1.Pod{Spec: plain}, 0, "nothing to wait for"},
		"hooks everywhere":      {corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{container("app", script)}}}, 20, "hook of its own"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			pod := tc.pod.DeepCopy()
			r, _ := inject(pod, sleepFor(tc.seconds, "how"), v1alpha1.KeepHook)
			if !strings.Contains(r.Skipped, tc.why) || r.SleepSeconds != 0 || len(r.Containers) != 0 {
				t.Errorf("report %+v, want skipped because %q", r, tc.why)
			}
			if d := cmp.Diff(tc.pod.Spec, pod.Spec); d != "" {
				t.Errorf("the pod was changed (-before +after)\n%s", d)
			}
			if !strings.Contains(pod.Annotations[ReportAnnotation], tc.why) {
				t.Errorf("the annotation says %q", pod.Annotations[ReportAnnotation])
			}
		})
	}
}

func TestAPodThatIsSeenAgainGetsOnlyWhatIsNewTheSameSleep(t *testing.T) {
	pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{container("app", nil), container("hooked", script)}}}
	if _, changed := inject(pod, sleepFor(20, "how"), v1alpha1.KeepHook); !changed {
		t.Fatal("nothing was done")
	}
	once := pod.DeepCopy()
	if _, changed := inject(pod, sleepFor(99, "another"), v1alpha1.ReplaceHook); changed || !cmp.Equal(once, pod) {
		t.Errorf("changed again (-once +twice)\n%s", cmp.Diff(once, pod))
	}
	pod.Spec.Containers = append(pod.Spec.Containers, container("proxy", nil), container("agent", script))
	got, changed := inject(pod, sleepFor(99, "another"), v1alpha1.ReplaceHook)
	want := Report{SleepSeconds: 20, How: "how", Containers: []string{"app", "proxy"}, Kept: []string{"hooked", "agent"}, GraceSeconds: 50}
	if d := cmp.Diff(want, got); !changed || d != "" {
		t.Errorf("report (-want +got)\n%s", d)
	}
	if *pod.Spec.TerminationGracePeriodSeconds != 50 || pod.Spec.Containers[2].Lifecycle.PreStop.Sleep.Seconds != 20 {
		t.Errorf("the pod is %+v", pod.Spec)
	}
}

// Whatever a user writes there decides nothing.
func TestAReportThatIsNoReportCountsForNothing(t *testing.T) {
	for _, text := range []string{"", "{", "{}", `{"sleepSeconds":-5}`, `{"sleepSeconds":31}`, `{"holdSeconds":31}`, `{"sleepSeconds":20,"holdSeconds":20}`, `[1]`} {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{ReportAnnotation: text}},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{container("app", nil)}},
		}
		if got, changed := inject(pod, sleepFor(20, "how"), v1alpha1.KeepHook); !changed || got.SleepSeconds != 20 {
			t.Errorf("%q: %+v", text, got)
		}
	}
}
