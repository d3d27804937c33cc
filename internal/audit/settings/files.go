package settings

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// file is an application file in a ConfigMap.
type file struct {
	name, text, from string
	profile          string // by its name
}

// rank orders files as Spring Boot reads them: what it reads later counts.
func (f *file) rank() int {
	rank := 0
	if strings.HasPrefix(f.name, "application") {
		rank += 2
	}
	if strings.HasSuffix(f.name, ".properties") {
		rank++
	}
	return rank
}

// files reads the application files that a container mounts.
func (r *reader) files(pod *corev1.PodSpec, c *corev1.Container, profiles []string) {
	for i := range profiles {
		profiles[i] = strings.TrimSpace(profiles[i])
	}
	found := r.mounted(pod, c)
	slices.SortStableFunc(found, func(a, b file) int { return cmp.Compare(a.rank(), b.rank()) })
	var special []func()
	for _, f := range found {
		for _, d := range r.documents(&f) {
			lay := func() {
				for _, p := range d.pairs {
					r.set(p.key, p.text, f.from)
				}
			}
			switch {
			case !isActive(f.profile, profiles) || !isActive(d.profile, profiles):
			case f.profile == "":
				lay()
			default:
				special = append(special, lay)
			}
		}
	}
	for _, lay := range special {
		lay()
	}
}

func isActive(profile string, active []string) bool {
	if profile == "" {
		return true
	}
	for p := range strings.SplitSeq(profile, ",") {
		if slices.Contains(active, strings.TrimSpace(p)) {
			return true
		}
	}
	return false
}

func (r *reader) documents(f *file) []document {
	if path.Ext(f.name) == ".properties" {
		return parseProperties(f.text)
	}
	documents, err := parseYAML(f.text)
	if err != nil {
		r.problems = append(r.problems, fmt.Sprintf("%s: %v", f.from, err))
	}
	return documents
}

// mounted lists the application files of the ConfigMaps that a container mounts.
func (r *reader) mounted(pod *corev1.PodSpec, c *corev1.Container) []file {
	var found []file
	for _, m := range c.VolumeMounts {
		for i := range pod.Volumes {
			if v := &pod.Volumes[i]; v.Name == m.Name {
				found = append(found, r.volume(v, m.SubPath, m.MountPath)...)
			}
		}
	}
	return found
}

func (r *reader) volume(v *corev1.Volume, subPath, mountPath string) []file {
	var found []file
	if v.ConfigMap != nil {
		found = append(found, r.filesOf(v.ConfigMap.Name, v.ConfigMap.Items, subPath, mountPath)...)
	}
	if v.Projected == nil {
		return found
	}
	for _, source := range v.Projected.Sources {
		if source.ConfigMap != nil {
			found = append(found, r.filesOf(source.ConfigMap.Name, source.ConfigMap.Items, subPath, mountPath)...)
		}
	}
	return found
}

// filesOf lists the application files of a ConfigMap by the names under which they
// are mounted.
func (r *reader) filesOf(name string, items []corev1.KeyToPath, subPath, mountPath string) []file {
	m := r.find(name)
	if m == nil {
		return nil
	}
	names := map[string]string{}
	for key := range m.Data {
		names[key] = key
	}
	if len(items) > 0 {
		clear(names)
		for _, item := range items {
			names[item.Key] = item.Path
		}
	}
	var found []file
	for key, mounted := range names {
		switch {
		case subPath == "":
		case mounted == subPath:
			mounted = mountPath
		default:
			continue
		}
		if profile, ok := applicationFile(path.Base(mounted)); ok {
			found = append(found, file{path.Base(mounted), m.Data[key], fmt.Sprintf("ConfigMap %s, %s", m.Name, key), profile})
		}
	}
	slices.SortFunc(found, func(a, b file) int { return cmp.Compare(a.name, b.name) })
	return found
}

// applicationFile says whether Spring Boot reads a file of that name, and for which
// profile.
func applicationFile(name string) (profile string, ok bool) {
	ext := path.Ext(name)
	if ext != ".yml" && ext != ".yaml" && ext != ".properties" {
		return "", false
	}
	stem := strings.TrimSuffix(name, ext)
	for _, base := range []string{"application", "bootstrap"} {
		if stem == base {
			return "", true
		}
		if profile, ok := strings.CutPrefix(stem, base+"-"); ok {
			return profile, true
		}
	}
	return "", false
}
