package conformance

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Instance is one instance as somebody sees it: the registry, or a client. Lanes
// send it as JSON, below its application and its id.
type Instance struct {
	App        string            `json:"-"` // upper case
	ID         string            `json:"-"`
	Status     string            `json:"status"`
	IPAddr     string            `json:"ipAddr"`
	HostName   string            `json:"hostName"`
	Port       int               `json:"port"`
	SecurePort int               `json:"securePort"`
	VIP        string            `json:"vipAddress"`
	Metadata   map[string]string `json:"metadata"`

	// HealthCheckURL is registered and not compared: lanes do not tell it.
	HealthCheckURL string `json:"-"`
}

// view is the JSON of a lane's registry: application, id, instance.
type view map[string]map[string]Instance

// instances returns the view as a list, sorted.
func (v view) instances() []Instance {
	var all []Instance
	for app, byID := range v {
		for id, in := range byID {
			in.App, in.ID = strings.ToUpper(app), id
			if len(in.Metadata) == 0 {
				in.Metadata = nil
			}
			all = append(all, in)
		}
	}
	sortInstances(all)
	return all
}

func sortInstances(all []Instance) {
	slices.SortFunc(all, func(a, b Instance) int {
		return cmp.Or(cmp.Compare(a.App, b.App), cmp.Compare(a.Port, b.Port), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Status, b.Status))
	})
}

// clone keeps changes of the metadata from reaching the original.
func (in Instance) clone() Instance {
	in.Metadata = maps.Clone(in.Metadata)
	return in
}

// renameKeys renames the keys of the metadata.
func (in *Instance) renameKeys(rename func(string) string) {
	if in.Metadata == nil {
		return
	}
	renamed := map[string]string{}
	for key, value := range in.Metadata {
		renamed[rename(key)] = value
	}
	in.Metadata = renamed
}
