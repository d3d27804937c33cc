package main

import (
	"fmt"
	"net/http"
	"strings"
)

// inBatch is the tag of what a peer tells of its client instead of the client
// itself.
const inBatch = "in a batch"

// batched returns the step as the only item of a batch, unless no peer could send
// it: what is odd, or lacks the timestamp that the reference needs.
func batched(s step) (step, bool) {
	action := map[kind]string{
		register: "Register", heartbeat: "Heartbeat", cancel: "Cancel", pin: "StatusUpdate", unpin: "DeleteStatusOverride",
	}[s.kind]
	if action == "" || len(s.tags) > 0 || s.kind != cancel && !s.sent || s.kind == pin && s.says == "" || strings.HasPrefix(s.body, "<") {
		return s, false
	}
	item := fmt.Sprintf(`"appName":%q,"id":%q,"action":%q`, s.key.app, s.key.id, action)
	if s.sent {
		item += `,"lastDirtyTimestamp":` + s.text()
	}
	if s.says != "" {
		item += fmt.Sprintf(`,"status":%q`, s.says)
	}
	if s.kind == register {
		item += `,"instanceInfo":` + strings.TrimSuffix(strings.TrimPrefix(s.body, `{"instance":`), "}")
	}
	s.method, s.target, s.accept = http.MethodPost, "/peerreplication/batch/", mediaJSON
	s.header = http.Header{"Content-Type": {mediaJSON}}
	s.body = `{"replicationList":[{` + item + `}]}`
	s.tags = tags{inBatch: true}
	return s, true
}

// readResults reads the answer to a batch. Records of a 409 are compared like
// listed ones.
func (d *document) readResults(value any, since int64) error {
	for _, v := range list(value) {
		item, ok := v.(map[string]any)
		if !ok {
			return fmt.Errorf("a result that is no object: %v", v)
		}
		d.results = append(d.results, scalar(item["statusCode"]))
		for name, member := range item {
			switch name {
			case "statusCode":
			case "responseEntity":
				if err := d.readInstance(member, "", since); err != nil {
					return err
				}
			default:
				d.extra = append(d.extra, name)
			}
		}
	}
	return nil
}

// copiesAreCompared explains copies that the reference takes and Kureka does not:
// such as are no newer than what is known, or than what was cancelled.
func (w *world) copiesAreCompared(d difference) bool {
	if w.step.kind != register || !w.step.tags[inBatch] || d.key != w.step.key {
		return false
	}
	before, known := w.before[d.key]
	return known && w.step.ms <= before.dirty() || !known && w.seen[d.key]
}
