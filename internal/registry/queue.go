package registry

import "container/heap"

// queue is a first-in first-out list that reuses its array.
type queue[T any] struct {
	items []T
	head  int
}

func (q *queue[T]) push(v T) { q.items = append(q.items, v) }

func (q *queue[T]) len() int { return len(q.items) - q.head }

// peek returns the oldest item; the queue must not be empty.
func (q *queue[T]) peek() T { return q.items[q.head] }

func (q *queue[T]) pop() {
	var zero T
	q.items[q.head] = zero
	q.head++
	if q.head > len(q.items)/2 {
		q.items = append(q.items[:0], q.items[q.head:]...)
		q.head = 0
	}
}

// dueHeap orders entries by the moment their lease has to be looked at again.
// A renewal does not move its entry: the moment is recomputed when it comes.
type dueHeap []*entry

func (h dueHeap) Len() int           { return len(h) }
func (h dueHeap) Less(i, j int) bool { return h[i].dueAt < h[j].dueAt }
func (h dueHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].dueIndex, h[j].dueIndex = i, j
}

// Push implements heap.Interface.
func (h *dueHeap) Push(x any) {
	n := x.(*entry)
	n.dueIndex = len(*h)
	*h = append(*h, n)
}

// Pop implements heap.Interface.
func (h *dueHeap) Pop() any {
	old := *h
	n := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	n.dueIndex = -1
	return n
}

// schedule puts n into the heap for a look at mono time at, or moves it there.
func (h *dueHeap) schedule(n *entry, at int64) {
	n.dueAt = at
	if n.dueIndex >= 0 {
		heap.Fix(h, n.dueIndex)
	} else {
		heap.Push(h, n)
	}
}

func (h *dueHeap) remove(n *entry) {
	if n.dueIndex >= 0 {
		heap.Remove(h, n.dueIndex)
	}
}
