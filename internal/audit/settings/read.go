package settings

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// ConfigMaps finds a ConfigMap of the pod's namespace by its name, nil if there is
// none to be seen.
type ConfigMaps func(name string) *corev1.ConfigMap

// Read returns what a container is told by its pod. Each problem is a file that is
// told and cannot be read, in words.
func Read(pod *corev1.PodSpec, c *corev1.Container, find ConfigMaps) (s *Settings, problems []string) {
	r := reader{settings: &Settings{values: map[string]Value{}}, find: find}
	environment := r.environment(c)
	words := slices.Concat(c.Command, c.Args)
	// Which profiles are active decides which files count.
	r.environmentAndWords(environment, words)
	profiles, _ := r.settings.Text("spring.profiles.active")
	r.settings.values = map[string]Value{}
	r.files(pod, c, strings.Split(profiles.Text, ","))
	r.environmentAndWords(environment, words)
	return r.settings, r.problems
}

// reader lays one source over the other, the weaker ones first.
type reader struct {
	settings *Settings
	find     ConfigMaps
	problems []string
}

func (r *reader) set(key, text, from string) {
	r.settings.values[canonical(key)] = Value{Text: text, From: from}
}

// variable is an environment variable.
type variable struct {
	name string
	Value
}

// environment lists the variables of a container in the order in which they count.
func (r *reader) environment(c *corev1.Container) []variable {
	found := make([]variable, 0, len(c.Env))
	for _, from := range c.EnvFrom {
		found = append(found, r.environmentFrom(&from)...)
	}
	for i := range c.Env {
		found = append(found, variable{c.Env[i].Name, r.variable(&c.Env[i])})
	}
	return found
}

func (r *reader) environmentFrom(from *corev1.EnvFromSource) []variable {
	if from.ConfigMapRef == nil {
		r.settings.opaque = true
		return nil
	}
	m := r.find(from.ConfigMapRef.Name)
	if m == nil {
		r.settings.opaque = true
		return nil
	}
	found := make([]variable, 0, len(m.Data))
	for _, name := range slices.Sorted(maps.Keys(m.Data)) {
		found = append(found, variable{from.Prefix + name, Value{Text: m.Data[name], From: fmt.Sprintf("ConfigMap %s, %s", m.Name, name)}})
	}
	return found
}

func (r *reader) variable(e *corev1.EnvVar) Value {
	v := Value{Text: e.Value, From: "env " + e.Name}
	if e.ValueFrom == nil {
		return v
	}
	v.Certainty = Unknown
	switch from := e.ValueFrom; {
	case from.FieldRef != nil:
		v.Text, v.Certainty = field(from.FieldRef.FieldPath)
	case from.ConfigMapKeyRef != nil:
		if m := r.find(from.ConfigMapKeyRef.Name); m != nil {
			if text, ok := m.Data[from.ConfigMapKeyRef.Key]; ok {
				v.Text, v.Certainty = text, Known
				v.From = fmt.Sprintf("ConfigMap %s, %s", m.Name, from.ConfigMapKeyRef.Key)
			}
		}
	}
	return v
}

// field is what a field of the pod stands for.
func field(path string) (text string, certainty Certainty) {
	switch path {
	case "metadata.name":
		return PodName, PerPod
	case "status.podIP", "status.podIPs":
		return PodAddress, PerPod
	case "metadata.uid":
		return unique, PerPod
	}
	return "", Unknown
}

func (r *reader) environmentAndWords(environment []variable, words []string) {
	var json, options []variable
	for _, e := range environment {
		r.settings.values[canonical(e.name)] = e.Value
		switch {
		case e.name == "SPRING_APPLICATION_JSON":
			json = append(json, e)
		case isJVMOptions(e.name):
			options = append(options, e)
		}
	}
	arguments := wordsOf(words)
	for _, e := range options {
		for _, w := range splitWords(e.Text) {
			r.option(w, "-D", "JVM option in "+e.From)
		}
	}
	for _, w := range arguments {
		r.option(w, "-D", "JVM option in an argument")
	}
	for _, e := range json {
		r.json(e.Text, e.From)
	}
	for _, w := range arguments {
		r.option(w, "--", "argument")
	}
}

func (r *reader) option(word, prefix, from string) {
	rest, ok := strings.CutPrefix(word, prefix)
	if !ok {
		return
	}
	key, text, ok := strings.Cut(rest, "=")
	switch {
	case !ok || key == "":
	case canonical(key) == "springapplicationjson":
		r.json(text, from)
	default:
		r.set(key, text, from)
	}
}

// json reads settings in JSON, which is YAML, too.
func (r *reader) json(text, from string) {
	documents, err := parseYAML(text)
	if err != nil {
		r.problems = append(r.problems, fmt.Sprintf("%s: %v", from, err))
	}
	for _, d := range documents {
		for _, p := range d.pairs {
			r.set(p.key, p.text, from)
		}
	}
}

// isJVMOptions says whether the JVM or usual start scripts read options from a
// variable.
func isJVMOptions(name string) bool {
	return slices.Contains([]string{
		"JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "JAVA_OPTS", "JAVA_OPTIONS", "JVM_OPTS", "JAVA_ARGS", "CATALINA_OPTS",
	}, path.Base(name))
}

// wordsOf returns the words of a command line, those of shell scripts in it, too.
func wordsOf(elements []string) []string {
	var words []string
	for _, e := range elements {
		if strings.ContainsAny(e, " \t\n") && !strings.HasPrefix(e, "-") {
			words = append(words, splitWords(e)...)
		} else {
			words = append(words, e)
		}
	}
	return words
}

// splitWords splits at white space outside of quotes, and drops those.
func splitWords(text string) []string {
	var words []string
	var word strings.Builder
	var quote rune
	begun := false
	for _, c := range text {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			quote, begun = c, true
		case quote == 0 && strings.ContainsRune(" \t\r\n", c):
			if begun {
				words = append(words, word.String())
			}
			word.Reset()
			begun = false
		default:
			word.WriteRune(c)
			begun = true
		}
	}
	if begun {
		words = append(words, word.String())
	}
	return words
}
