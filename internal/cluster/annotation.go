package cluster

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kureka/kureka/internal/verdict"
)

// Annotations by which a pod registers itself without a client.
const (
	annotationPrefix = "kureka.dev/"
	metadataPrefix   = "metadata.kureka.dev/"

	appAnnotation        = annotationPrefix + "app"
	portAnnotation       = annotationPrefix + "port"
	secureAnnotation     = annotationPrefix + "secure-port"
	managementAnnotation = annotationPrefix + "management-port"
	vipAnnotation        = annotationPrefix + "vip-address"
	secureVIPAnnotation  = annotationPrefix + "secure-vip-address"
	homeAnnotation       = annotationPrefix + "home-page-path"
	statusPageAnnotation = annotationPrefix + "status-page-path"
	healthAnnotation     = annotationPrefix + "health-check-path"
	hostNameAnnotation   = annotationPrefix + "host-name"
	classAnnotation      = annotationPrefix + "registry-class"
)

// Bounds of what annotations may say, the same as those of an EurekaRegistration.
const (
	maxAppLength   = 128
	maxVIPLength   = 255
	maxPathLength  = 1024
	maxMetadata    = 64
	maxMetadataKey = 128
	maxMetadataLen = 1024
)

var (
	appForm      = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)
	portForm     = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	vipForm      = regexp.MustCompile(`^[A-Za-z0-9._:,-]+$`)
	pathForm     = regexp.MustCompile(`^/[\x21-\x7e]*$`)
	metadataForm = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9._-]*$`)
)

// ReasonAnnotationInvalid tells of an annotation that cannot be used.
const ReasonAnnotationInvalid = "AnnotationInvalid"

// drainPrefix begins what the webhook writes.
const drainPrefix = annotationPrefix + "drain"

// IsPodAnnotation reports whether an annotation of a pod is for this package.
func IsPodAnnotation(key string) bool {
	return strings.HasPrefix(key, annotationPrefix) && !strings.HasPrefix(key, drainPrefix) || strings.HasPrefix(key, metadataPrefix)
}

// setting is an annotation that a listing is made of.
type setting struct {
	key string
	put func(l *Listing, value string) (want string) // what is wanted, empty if the value is good
}

func settings() []setting {
	return []setting{
		{appAnnotation, func(l *Listing, v string) string {
			l.App = strings.ToUpper(v)
			return unless(len(v) <= maxAppLength && appForm.MatchString(v), "1 to 128 letters, digits, dots, underscores and hyphens")
		}},
		{portAnnotation, func(l *Listing, v string) string { return l.Port.parse(v) }},
		{secureAnnotation, func(l *Listing, v string) string { return l.SecurePort.parse(v) }},
		{managementAnnotation, func(l *Listing, v string) string { return l.ManagementPort.parse(v) }},
		{vipAnnotation, func(l *Listing, v string) string { return putVIP(&l.VIP, v) }},
		{secureVIPAnnotation, func(l *Listing, v string) string { return putVIP(&l.SecureVIP, v) }},
		{homeAnnotation, func(l *Listing, v string) string { return putPath(&l.HomePage, v) }},
		{statusPageAnnotation, func(l *Listing, v string) string { return putPath(&l.StatusPage, v) }},
		{healthAnnotation, func(l *Listing, v string) string { return putPath(&l.HealthCheck, v) }},
		{hostNameAnnotation, func(l *Listing, v string) string {
			l.PodDNS = v == "PodDNS"
			return unless(l.PodDNS || v == "PodIP", "PodIP or PodDNS")
		}},
	}
}

func unless(ok bool, want string) string {
	if ok {
		return ""
	}
	return want
}

func (r *PortRef) parse(v string) string {
	if n, err := strconv.Atoi(v); err == nil {
		r.Number = n
		return unless(n >= 1 && n <= 65535, "a number from 1 to 65535 or the name of a container port")
	}
	r.Name = v
	return unless(len(v) <= 15 && portForm.MatchString(v), "a number from 1 to 65535 or the name of a container port")
}

func putVIP(at *string, v string) string {
	*at = v
	return unless(len(v) <= maxVIPLength && vipForm.MatchString(v), "names with commas between, at most 255 characters")
}

func putPath(at *string, v string) string {
	*at = v
	return unless(len(v) <= maxPathLength && pathForm.MatchString(v), "a path that begins with a slash, at most 1024 characters")
}

// listingOf reads the annotations of a pod. It returns nil if they register
// nothing, and what is wrong with them; a wrong value registers nothing at all, an
// unknown key is told and left out.
func listingOf(all map[string]string, class string) (*Listing, []string) {
	if len(all) == 0 {
		return nil, nil
	}
	l := &Listing{}
	wrong := l.read(all)
	if want := incomplete(l, all); want != "" {
		wrong = append(wrong, want)
	}
	faults := slices.Concat(wrong, besides(all))
	if foreign := all[classAnnotation]; len(wrong) > 0 || l.App == "" || foreign != "" && foreign != class {
		return nil, faults
	}
	return l, faults
}

// read takes what annotations say and returns what is wrong with it.
func (l *Listing) read(all map[string]string) (wrong []string) {
	for _, s := range settings() {
		v, given := all[s.key]
		if !given {
			continue
		}
		if want := s.put(l, v); want != "" {
			wrong = append(wrong, fault(s.key, v, want))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		name, isMetadata := strings.CutPrefix(key, metadataPrefix)
		if !isMetadata {
			continue
		}
		l.AddMetadata(name, all[key])
		if want := metadataFault(name, all[key], len(l.Metadata)); want != "" {
			wrong = append(wrong, fault(key, all[key], want))
		}
	}
	return wrong
}

// besides says what is wrong with annotations that no listing is made of.
func besides(all map[string]string) (faults []string) {
	for _, key := range slices.Sorted(maps.Keys(all)) {
		switch {
		case key == verdict.StatusAnnotation && all[key] != verdict.OutOfServiceStatus:
			faults = append(faults, fault(key, all[key], verdict.OutOfServiceStatus))
		case key == verdict.UntilAnnotation && !isTime(all[key]):
			faults = append(faults, fault(key, all[key], "a time such as 2026-11-30T08:00:00Z"))
		case key != verdict.StatusAnnotation && key != verdict.UntilAnnotation && key != classAnnotation && !registers(key):
			faults = append(faults, key+" is no annotation that this version knows")
		}
	}
	return faults
}

func isTime(text string) bool {
	_, err := time.Parse(time.RFC3339, text)
	return err == nil
}

// registers reports whether an annotation is part of a listing.
func registers(key string) bool {
	return strings.HasPrefix(key, metadataPrefix) || slices.ContainsFunc(settings(), func(s setting) bool { return s.key == key })
}

func metadataFault(name, value string, count int) string {
	switch {
	case count > maxMetadata:
		return "at most 64 of them"
	case len(name) > maxMetadataKey || !metadataForm.MatchString(name):
		return "a name that begins with a letter or underscore"
	}
	return unless(len(value) <= maxMetadataLen, "a value of at most 1024 characters")
}

// incomplete says what is missing, or makes no sense, in annotations whose values
// are good.
func incomplete(l *Listing, all map[string]string) string {
	switch {
	case l.App == "" && slices.ContainsFunc(slices.Collect(maps.Keys(all)), registers):
		return appAnnotation + " is missing: without it nothing is registered"
	case l.App == "":
		return ""
	case l.Port == (PortRef{}) && l.SecurePort == (PortRef{}):
		return "want " + portAnnotation + ", " + secureAnnotation + " or both"
	case l.SecureVIP != "" && l.SecurePort == (PortRef{}):
		return secureVIPAnnotation + " needs " + secureAnnotation
	}
	return ""
}

// maxShown is how much of a bad value is repeated.
const maxShown = 64

func fault(key, value, want string) string {
	if len(value) > maxShown {
		value = value[:maxShown] + "..."
	}
	return fmt.Sprintf("%s is %q: want %s", key, value, want)
}

// readAnnotations takes in the annotations of a pod when they have changed.
func (c *Cluster) readAnnotations(now time.Time, p *pod) {
	own, faults := listingOf(p.Annotations, c.opts.Class)
	p.own = own
	if slices.Equal(faults, p.faults) {
		return
	}
	p.faults = faults
	if len(faults) == 0 {
		return
	}
	c.report(Change{
		At: now, Namespace: p.Namespace, Pod: p.Name, PodUID: p.UID, Node: p.Node, Effect: Noted,
		Reason: ReasonAnnotationInvalid, Witness: verdict.WitnessPod, Detail: strings.Join(faults, "; "),
	})
}
