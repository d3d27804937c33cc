package main

import (
	"net/http"
	"slices"
)

// profile is what a client does, in templates over the lane's settings. STATUS is
// what the client says of itself and DIRTY when it last changed that.
type profile struct {
	version string
	id      string            // how the registry names the instance
	initial string            // status before the first change, UP if empty
	header  map[string]string // of every request
	gzip    bool              // asks for compressed answers

	register  []request
	heartbeat request // none if it has no method
	rejoins   bool    // registers again when a heartbeat is answered 404
	report    []request
	override  []request // to OVERRIDE
	clear     []request
	stop      []request
	reads     *reads

	// answersAreJSON means that an answer of another type fails, even an empty one.
	answersAreJSON bool
}

// request is one request and the statuses that the client takes for success.
type request struct {
	method, path, body string
	header             map[string]string
	ok                 []int // 200 if empty
}

func (r request) takes(status int) bool {
	if len(r.ok) == 0 {
		return status == http.StatusOK
	}
	return slices.Contains(r.ok, status)
}

// The parts that many profiles share.
const (
	instancePath = "apps/{{upper .LANE_APP}}/{{.LANE_ID}}"
	plainID      = "{{.LANE_ID}}"
	hostID       = "{{.LANE_HOST}}"
	typeJSON     = "application/json"
	pathApps     = "apps"
)

func accept(value string) map[string]string { return map[string]string{"Accept": value} }

// typedJSON is for clients that send a type with every request, whether it has a
// body or not.
func typedJSON() map[string]string {
	return map[string]string{"Accept": typeJSON, "Content-Type": typeJSON}
}

func put(path string, ok ...int) request { return request{method: http.MethodPut, path: path, ok: ok} }

func remove(path string, ok ...int) request {
	return request{method: http.MethodDelete, path: path, ok: ok}
}

// post sends a registration that has to be answered 204 unless ok says otherwise.
func post(path, body string, ok ...int) request {
	if len(ok) == 0 {
		ok = []int{http.StatusNoContent}
	}
	return request{method: http.MethodPost, path: path, body: body, header: map[string]string{"Content-Type": typeJSON}, ok: ok}
}

// anySuccess is for clients that only ask whether a status is below 300.
func anySuccess() []int { return []int{http.StatusOK, http.StatusNoContent} }

// profiles are all clients, by LANE_CLIENT.
func profiles() map[string]profile {
	return map[string]profile{
		"steeltoe-3":         steeltoe3(),
		"steeltoe-4":         steeltoe4(),
		"wasp-eureka":        waspEureka(),
		"python-eureka":      pythonEureka(),
		"hikoqiu":            hikoQiu(),
		"go-micro":           goMicro(),
		"krakend":            krakenD(),
		"php-loparev":        phpLoparev(),
		"php-piwvh":          phpPiwvh(),
		"lua-resty":          luaResty(),
		"eurexa":             eurexa(),
		"rust-eureka":        rustEureka(),
		"rust-eureka-client": rustEurekaClient(),
		"nacos-sync":         nacosSync(),
		"micronaut":          micronaut(),
		"armeria":            armeria(),
		"stork":              stork(),
		"apisix":             apisix(),
		"istio":              istio(),
		"higress":            higress(),
	}
}
