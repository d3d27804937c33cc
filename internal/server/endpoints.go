package server

import (
	"net/http"
	"strings"
)

// endpoint is what can be done with one resource.
type endpoint struct {
	name string
	// list marks reads of many instances: they wait for the start gate and have
	// slots of their own.
	list       bool
	operations map[string]operation // by method
	allow      string
}

// operation is one method of an endpoint with the status codes it usually ends
// in, for which the counters exist from the start.
type operation struct {
	handle func(*server, *call)
	codes  []int
}

// endpoints returns what can be done with every resource.
func endpoints() [resourceCount]endpoint {
	read := func(handle func(*server, *call), codes ...int) operation {
		return operation{handle, append(codes, http.StatusOK, http.StatusServiceUnavailable)}
	}
	write := func(handle func(*server, *call), codes ...int) operation {
		return operation{handle, append(codes, http.StatusOK, http.StatusNotFound)}
	}
	register := operation{(*server).register, []int{
		http.StatusNoContent, http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusServiceUnavailable,
	}}
	const get, post, put, del = http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete
	all := [resourceCount]endpoint{
		toNothing: {name: "unknown"},
		toApps:    {name: "apps", list: true, operations: map[string]operation{get: read((*server).allApps)}},
		// A client whose application is called delta registers under its path.
		toDelta: {name: "delta", list: true, operations: map[string]operation{get: read((*server).changes), post: register}},
		toApp: {name: "app", list: true, operations: map[string]operation{
			get: read((*server).oneApp, http.StatusNotFound), post: register,
		}},
		toInstance: {name: "instance", operations: map[string]operation{
			get: read((*server).oneInstance, http.StatusNotFound), put: write((*server).renew), del: write((*server).cancel),
		}},
		toStatus: {name: "status", operations: map[string]operation{
			put: write((*server).setOverride, http.StatusInternalServerError), del: write((*server).clearOverride),
		}},
		toMetadata: {name: "metadata", operations: map[string]operation{
			put: write((*server).putMetadata, http.StatusRequestEntityTooLarge),
		}},
		toInstanceByID: {name: "instances", operations: map[string]operation{get: read((*server).firstByID, http.StatusNotFound)}},
		toVIP:          {name: "vip", list: true, operations: map[string]operation{get: read((*server).byVIP)}},
		toSecureVIP:    {name: "svip", list: true, operations: map[string]operation{get: read((*server).bySecureVIP)}},
		toASG:          {name: "asg", operations: map[string]operation{put: {(*server).accept, []int{http.StatusOK}}}},
		toBatch: {name: "batch", operations: map[string]operation{
			post: {(*server).replicate, []int{
				http.StatusOK, http.StatusBadRequest, http.StatusForbidden, http.StatusNotFound, http.StatusRequestEntityTooLarge, http.StatusServiceUnavailable,
			}},
		}},
		toServerStatus: {name: "server", operations: map[string]operation{get: read((*server).status)}},
	}
	for i := range all {
		all[i].allow = allowed(all[i].operations)
	}
	return all
}

// allowed lists the methods for the Allow header.
func allowed(operations map[string]operation) string {
	var methods []string
	for _, m := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodDelete} {
		name := m
		if m == http.MethodHead {
			name = http.MethodGet
		}
		if _, ok := operations[name]; ok {
			methods = append(methods, m)
		}
	}
	return strings.Join(methods, ", ")
}
