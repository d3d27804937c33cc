package settings_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// maxText is what no resolved value may exceed, in bytes: its bound and one text.
const maxText = 16 << 10

// FuzzFiles reads any text in every place that settings are read from.
func FuzzFiles(f *testing.F) {
	for _, seed := range []string{
		"eureka:\n  instance:\n    instance-id: ${HOSTNAME:x}:${random.value}\n---\nspring.profiles: a\n",
		"a=b\\\n c\n#---\nspring.config.activate.on-profile=x\n\\u0041=\\u00e9\\",
		`{"eureka":{"client":{"service-url":{"defaultZone":"http://a/eureka"}}}}`,
		"a: &a [*a]\n", "a: &a\n  <<: *a\n", "a: ${a}\n", "a: ${b}${b}\nb: ${c}${c}\nc: ${d}${d}\nd: ${a}xxxx", "-Da=$(B) --b='x y' \"-Dc=d",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > maxText/4 {
			t.Skip("longer texts find nothing else")
		}
		s := scene{
			env:  []corev1.EnvVar{env("SPRING_APPLICATION_JSON", text), env("JAVA_TOOL_OPTIONS", text), env("SPRING_PROFILES_ACTIVE", "x"), env("A", text), env("B", "${a}${a}")},
			args: []string{text, "--" + text},
			files: map[string]string{
				"application.yml": text, "application.properties": text, "application-x.yml": text, "bootstrap.properties": text,
			},
		}
		read, _ := s.read(t)
		for _, key := range []string{"a", "b", "eureka.instance.instance-id", "spring.profiles"} {
			if v, _ := read.Text(key); len(v.Text) > maxText {
				t.Errorf("%s has %d bytes", key, len(v.Text))
			}
			read.Int(key)
			read.Duration(key)
			read.Is(key, true)
		}
	})
}
