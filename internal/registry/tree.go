package registry

import (
	"iter"
	"slices"
)

const (
	segmentMax = 64 << 10 // a segment above this estimated size is split
	segmentMin = 16 << 10 // one below it is joined with a neighbour if both fit segmentMax
	fanoutMax  = 32
	fanoutMin  = 8

	segmentFill = segmentMax * 3 / 4 // how full grow makes segments and inner nodes
	fanoutFill  = fanoutMax * 3 / 4
)

// tree is a persistent B+tree: put and drop return a new tree that shares all
// but the changed path with the old one, so a snapshot costs O(log n) to publish
// and nothing to keep. Leaves are segments, cut by estimated bytes and not by
// count, because readers encode and compress a segment at a time.
type tree struct{ root *node }

type node struct {
	seg   *Segment // leaf if not nil
	kids  []*node
	first Key
	count int
}

type item struct {
	key  Key
	inst *Instance
	size int
}

// Segment is a run of consecutive instances. It is immutable; the instances of
// one application may span several segments and a segment several applications.
type Segment struct {
	items []item
	size  int
	memos [MemoSlots]Memo
}

// Len returns the number of instances, at least one.
func (s *Segment) Len() int { return len(s.items) }

// At returns the i-th instance in key order.
func (s *Segment) At(i int) *Instance { return s.items[i].inst }

// Memo returns the segment's slot for values derived from it.
func (s *Segment) Memo(slot int) *Memo { return &s.memos[slot] }

func newLeaf(items []item) *node {
	size := 0
	for i := range items {
		size += items[i].size
	}
	return &node{seg: &Segment{items: items, size: size}, first: items[0].key, count: len(items)}
}

func newInner(kids []*node) *node {
	n := &node{kids: kids, first: kids[0].first}
	for _, k := range kids {
		n.count += k.count
	}
	return n
}

func (t tree) len() int {
	if t.root == nil {
		return 0
	}
	return t.root.count
}

func (t tree) get(key Key) *Instance {
	n := t.root
	for n != nil && n.seg == nil {
		n = n.kids[n.child(key)]
	}
	if n == nil {
		return nil
	}
	if i, ok := n.seg.find(key); ok {
		return n.seg.items[i].inst
	}
	return nil
}

func (t tree) put(it item) tree {
	if t.root == nil {
		return tree{newLeaf([]item{it})}
	}
	kids := t.root.put(it)
	for len(kids) > 1 {
		kids = splitInner(newInner(kids))
	}
	return tree{kids[0]}
}

func (t tree) drop(key Key) tree {
	if t.root == nil {
		return t
	}
	n := t.root.drop(key)
	for n != nil && n.seg == nil && len(n.kids) == 1 {
		n = n.kids[0]
	}
	return tree{n}
}

// ascend yields the items from the first key not below from.
func (t tree) ascend(from Key) iter.Seq2[Key, *Instance] {
	return func(yield func(Key, *Instance) bool) {
		if t.root != nil {
			t.root.ascend(from, yield)
		}
	}
}

func (t tree) segments() iter.Seq[*Segment] {
	return func(yield func(*Segment) bool) {
		if t.root != nil {
			t.root.segments(yield)
		}
	}
}

// child returns the index of the kid whose range holds key.
func (n *node) child(key Key) int {
	i, found := slices.BinarySearchFunc(n.kids, key, func(k *node, key Key) int { return k.first.compare(key) })
	if !found && i > 0 {
		i--
	}
	return i
}

func (s *Segment) find(key Key) (int, bool) {
	return slices.BinarySearchFunc(s.items, key, func(it item, key Key) int { return it.key.compare(key) })
}

// put returns the nodes that replace n: one, or two after a split.
func (n *node) put(it item) []*node {
	if n.seg != nil {
		i, found := n.seg.find(it.key)
		items := slices.Clone(n.seg.items)
		if found {
			items[i] = it
		} else {
			items = slices.Insert(items, i, it)
		}
		return splitLeaf(newLeaf(items))
	}
	i := n.child(it.key)
	return splitInner(n.with(i, i+1, n.kids[i].put(it)...))
}

// drop returns n without key, or nil when nothing is left.
func (n *node) drop(key Key) *node {
	if n.seg != nil {
		i, found := n.seg.find(key)
		if !found {
			return n
		}
		if len(n.seg.items) == 1 {
			return nil
		}
		return newLeaf(slices.Delete(slices.Clone(n.seg.items), i, i+1))
	}
	i := n.child(key)
	kid := n.kids[i].drop(key)
	switch {
	case kid == n.kids[i]:
		return n
	case kid == nil && len(n.kids) == 1:
		return nil
	case kid == nil:
		return n.with(i, i+1)
	}
	return n.with(i, i+1, kid).join(i)
}

// with returns a copy of n whose kids [i,j) are replaced.
func (n *node) with(i, j int, kids ...*node) *node {
	return newInner(slices.Concat(n.kids[:i], kids, n.kids[j:]))
}

// join merges kid i with a neighbour when it has become small.
func (n *node) join(i int) *node {
	if len(n.kids) == 1 || !n.kids[i].small() {
		return n
	}
	if i == len(n.kids)-1 {
		i--
	}
	a, b := n.kids[i], n.kids[i+1]
	if a.seg != nil {
		if a.seg.size+b.seg.size > segmentMax {
			return n
		}
		return n.with(i, i+2, newLeaf(slices.Concat(a.seg.items, b.seg.items)))
	}
	if len(a.kids)+len(b.kids) > fanoutMax {
		return n
	}
	return n.with(i, i+2, newInner(slices.Concat(a.kids, b.kids)))
}

func (n *node) small() bool {
	if n.seg != nil {
		return n.seg.size < segmentMin
	}
	return len(n.kids) < fanoutMin
}

func splitLeaf(n *node) []*node {
	if n.seg.size <= segmentMax || len(n.seg.items) < 2 {
		return []*node{n}
	}
	cut, size := 1, n.seg.items[0].size
	for cut < len(n.seg.items)-1 && size < n.seg.size/2 {
		size += n.seg.items[cut].size
		cut++
	}
	low, high := newLeaf(slices.Clone(n.seg.items[:cut])), newLeaf(slices.Clone(n.seg.items[cut:]))
	return append(splitLeaf(low), splitLeaf(high)...) // one huge item can leave a half too big
}

func splitInner(n *node) []*node {
	if len(n.kids) <= fanoutMax {
		return []*node{n}
	}
	cut := len(n.kids) / 2
	return []*node{newInner(n.kids[:cut:cut]), newInner(n.kids[cut:])}
}

func (n *node) ascend(from Key, yield func(Key, *Instance) bool) bool {
	if n.seg == nil {
		for _, k := range n.kids[n.child(from):] {
			if !k.ascend(from, yield) {
				return false
			}
		}
		return true
	}
	i, _ := n.seg.find(from)
	for _, it := range n.seg.items[i:] {
		if !yield(it.key, it.inst) {
			return false
		}
	}
	return true
}

func (n *node) segments(yield func(*Segment) bool) bool {
	if n.seg != nil {
		return yield(n.seg)
	}
	for _, k := range n.kids {
		if !k.segments(yield) {
			return false
		}
	}
	return true
}

// grow builds a tree from items in any order; of several with one key any stays.
// It sorts the slice.
func grow(items []item) tree {
	slices.SortFunc(items, func(a, b item) int { return a.key.compare(b.key) })
	items = slices.CompactFunc(items, func(a, b item) bool { return a.key == b.key })
	var level []*node
	for len(items) > 0 {
		n, size := 1, items[0].size
		for n < len(items) && size+items[n].size <= segmentFill {
			size += items[n].size
			n++
		}
		level = append(level, newLeaf(items[:n:n]))
		items = items[n:]
	}
	for len(level) > 1 {
		var up []*node
		for kids := range slices.Chunk(level, fanoutFill) {
			up = append(up, newInner(kids))
		}
		level = up
	}
	if len(level) == 0 {
		return tree{}
	}
	return tree{level[0]}
}
