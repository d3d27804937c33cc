package eureka

import (
	"strconv"
	"strings"
)

// Replication is one item of a batch in which a peer tells what its clients did.
type Replication struct {
	Action ReplicationAction
	App    string // upper case
	ID     string

	// DirtyMS is the sender's lastDirtyTimestamp, meaningful only if HasDirty.
	DirtyMS  int64
	HasDirty bool
	// Status is the status to set, "" if the item names none of the closed set.
	Status Status
	// Instance is the record of a registration, nil if there is none or it cannot
	// be read.
	Instance *Instance
}

// ReplicationAction says what a client did. Its text is the wire's.
type ReplicationAction string

// The closed set of actions. Anything else is read as it came and is nobody's.
const (
	ReplicateRegister     ReplicationAction = "Register"
	ReplicateHeartbeat    ReplicationAction = "Heartbeat"
	ReplicateCancel       ReplicationAction = "Cancel"
	ReplicateStatusUpdate ReplicationAction = "StatusUpdate"
	ReplicateClearStatus  ReplicationAction = "DeleteStatusOverride"
)

// Bounds of a batch. Peers of the reference server send at most 250 items.
const (
	MaxReplications = 1000
	maxBatchNodes   = 400_000
)

// ErrTooManyReplications says that a batch has more items than MaxReplications.
var ErrTooManyReplications = &DecodeError{Field: "replicationList", Reason: "too many items"}

// DecodeReplications reads a batch. It is always JSON. An item that cannot be
// read is returned with what could be: the answer has to have one item for each.
// Errors are *DecodeError.
func DecodeReplications(body []byte) ([]Replication, error) {
	root, err := readJSON(body, maxBatchNodes)
	if err != nil {
		return nil, err
	}
	items := root.get("replicationList")
	switch {
	case items.kind != kindArray:
		return nil, &DecodeError{Field: "replicationList", Reason: "not an array under the root"}
	case len(items.members) > MaxReplications:
		return nil, ErrTooManyReplications
	}
	all := make([]Replication, 0, len(items.members))
	for _, m := range items.members {
		all = append(all, replication(m.value))
	}
	return all, nil
}

func replication(n node) Replication {
	var d decoder
	dirty, hasDirty := n.get("lastDirtyTimestamp").integer()
	r := Replication{
		Action:  ReplicationAction(d.text(n.get("action"), "action")),
		App:     d.upper(n, "appName"),
		ID:      d.text(n.get("id"), "id"),
		DirtyMS: dirty, HasDirty: hasDirty,
	}
	if status, known := KnownStatus(strings.TrimSpace(d.text(n.get("status"), "status"))); known {
		r.Status = status
	}
	if record := n.get("instanceInfo"); record.kind == kindObject {
		if in := d.instance(record); d.err == nil {
			r.Instance = &in
		}
	}
	return r
}

// ReplicationResult is the answer to one item of a batch.
type ReplicationResult struct {
	Code int // like an HTTP status code
	// Newer is what this side knows, for a heartbeat that knows less.
	Newer *Instance
}

// AppendReplicationResults appends the answer to a batch: one item for each of
// the batch, in its order, with no keys but those that peers know.
func AppendReplicationResults(dst []byte, results []ReplicationResult) []byte {
	dst = append(dst, `{"responseList":[`...)
	for i, r := range results {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"statusCode":`...)
		dst = strconv.AppendInt(dst, int64(r.Code), 10)
		if r.Newer != nil {
			dst = append(dst, `,"responseEntity":`...)
			dst = AppendInstanceJSON(dst, r.Newer)
		}
		dst = append(dst, '}')
	}
	return append(dst, `]}`...)
}
