package snapshotfile

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/kureka/kureka/internal/cluster"
	"github.com/kureka/kureka/internal/registry"
)

// The version that is written; files of the same major version are read.
const (
	major = 1
	minor = 0
)

// Limits of what is read.
const (
	maxLine  = 16 << 20
	maxBytes = 8 << 30 // unpacked
)

// line is one value of the stream: one of its fields is set, or none if a newer
// version wrote it.
type line struct {
	Head      *head                    `json:"head,omitempty"`
	Policy    *policy                  `json:"policy,omitempty"`
	Node      *cluster.SavedNode       `json:"node,omitempty"`
	Pod       *cluster.SavedPod        `json:"pod,omitempty"`
	Instance  *registry.SavedInstance  `json:"instance,omitempty"`
	Binding   *cluster.SavedInstance   `json:"binding,omitempty"` // of an instance
	Deletion  *registry.SavedDeletion  `json:"deletion,omitempty"`
	Override  *registry.SavedOverride  `json:"override,omitempty"`
	Tombstone *registry.SavedTombstone `json:"tombstone,omitempty"`
	Fence     *registry.SavedFence     `json:"fence,omitempty"`
	Orphan    *cluster.SavedOrphan     `json:"orphan,omitempty"`
	First     *cluster.SavedFirst      `json:"first,omitempty"`
	End       *end                     `json:"end,omitempty"`
}

// head is the first line.
type head struct {
	SavedMS int64                    `json:"savedMS"` // Unix ms
	Version int64                    `json:"version"`
	Clock   registry.Stamp           `json:"clock"`
	Credits map[string]time.Duration `json:"credits,omitempty"`
}

// policy is the policy of one namespace, or of all that have none.
type policy struct {
	Namespace string              `json:"namespace,omitempty"`
	Policy    cluster.SavedPolicy `json:"policy"`
}

// end is the last line.
type end struct {
	Lines int `json:"lines"` // before this one
}

// writeLines writes a checkpoint as lines.
func writeLines(w io.Writer, cp *cluster.Checkpoint) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	lines := 0
	put := func(l line) error {
		lines++
		return enc.Encode(&l)
	}
	r := cp.Registry
	return errors.Join(
		put(line{Head: &head{r.SavedMS, r.Version, r.Clock, r.Credits}}),
		put(line{Policy: &policy{Policy: cp.Policies.Fallback}}),
		eachPolicy(cp.Policies.Namespaces, func(p *policy) error { return put(line{Policy: p}) }),
		each(cp.Nodes, func(v *cluster.SavedNode) error { return put(line{Node: v}) }),
		each(cp.Pods, func(v *cluster.SavedPod) error { return put(line{Pod: v}) }),
		each(r.Instances, func(v *registry.SavedInstance) error { return put(line{Instance: v}) }),
		each(cp.Instances, func(v *cluster.SavedInstance) error { return put(line{Binding: v}) }),
		each(r.Deletions, func(v *registry.SavedDeletion) error { return put(line{Deletion: v}) }),
		each(r.Overrides, func(v *registry.SavedOverride) error { return put(line{Override: v}) }),
		each(r.Tombstones, func(v *registry.SavedTombstone) error { return put(line{Tombstone: v}) }),
		each(r.Fences, func(v *registry.SavedFence) error { return put(line{Fence: v}) }),
		each(cp.Orphans, func(v *cluster.SavedOrphan) error { return put(line{Orphan: v}) }),
		each(cp.Firsts, func(v *cluster.SavedFirst) error { return put(line{First: v}) }),
		put(line{End: &end{lines}}),
	)
}

func each[T any](all []T, put func(*T) error) error {
	for i := range all {
		if err := put(&all[i]); err != nil {
			return err
		}
	}
	return nil
}

func eachPolicy(all map[string]cluster.SavedPolicy, put func(*policy) error) error {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if err := put(&policy{name, all[name]}); err != nil {
			return err
		}
	}
	return nil
}
