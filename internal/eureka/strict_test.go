package eureka

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// The strict types below are what the pickiest clients know: these keys, these
// scalar types, arrays only, nothing missing.

type strictRegistry struct {
	Applications *struct {
		Version      *string              `json:"versions__delta"`
		Hash         *string              `json:"apps__hashcode"`
		Applications *[]strictApplication `json:"application"`
	} `json:"applications"`
}

type strictApplication struct {
	Name      *string           `json:"name"`
	Instances *[]strictInstance `json:"instance"`
}

// strictCompact is what a reader of the compact form knows.
type strictCompact struct {
	Applications *struct {
		Version      *string                     `json:"versions__delta"`
		Hash         *string                     `json:"apps__hashcode"`
		Applications *[]strictCompactApplication `json:"application"`
	} `json:"applications"`
	Application *strictCompactApplication `json:"application"`
}

type strictCompactApplication struct {
	Name      *string                  `json:"name"`
	Instances *[]strictCompactInstance `json:"instance"`
}

type strictCompactInstance struct {
	InstanceID  *string           `json:"instanceId"`
	App         *string           `json:"app"`
	IPAddr      *string           `json:"ipAddr"`
	VIP         string            `json:"vipAddress"`
	SecureVIP   string            `json:"secureVipAddress"`
	DataCenter  *strictDataCenter `json:"dataCenterInfo"`
	HostName    *string           `json:"hostName"`
	Status      *string           `json:"status"`
	LastUpdated *int64            `json:"lastUpdatedTimestamp"`
	ActionType  *string           `json:"actionType"`
	ASGName     string            `json:"asgName"`
	Port        *strictPort       `json:"port"`
	SecurePort  *strictPort       `json:"securePort"`
}

type strictDataCenter struct {
	Class    *string           `json:"@class"`
	Name     *string           `json:"name"`
	Metadata map[string]string `json:"metadata"`
}

type strictPort struct {
	Number  *int    `json:"$"`
	Enabled *string `json:"@enabled"`
}

type strictInstance struct {
	InstanceID       *string           `json:"instanceId"`
	HostName         *string           `json:"hostName"`
	App              *string           `json:"app"`
	IPAddr           *string           `json:"ipAddr"`
	SID              string            `json:"sid"`
	Status           *string           `json:"status"`
	OverriddenStatus *string           `json:"overriddenStatus"`
	Port             *strictPort       `json:"port"`
	SecurePort       *strictPort       `json:"securePort"`
	CountryID        *int              `json:"countryId"`
	DataCenter       *strictDataCenter `json:"dataCenterInfo"`
	Lease            *struct {
		Renewal      *int64 `json:"renewalIntervalInSecs"`
		Duration     *int64 `json:"durationInSecs"`
		Registration *int64 `json:"registrationTimestamp"`
		LastRenewal  *int64 `json:"lastRenewalTimestamp"`
		Eviction     *int64 `json:"evictionTimestamp"`
		ServiceUp    *int64 `json:"serviceUpTimestamp"`
	} `json:"leaseInfo"`
	Metadata             map[string]string `json:"metadata"`
	AppGroupName         string            `json:"appGroupName"`
	HomePageURL          string            `json:"homePageUrl"`
	StatusPageURL        string            `json:"statusPageUrl"`
	HealthCheckURL       string            `json:"healthCheckUrl"`
	SecureHealthCheckURL string            `json:"secureHealthCheckUrl"`
	VIP                  string            `json:"vipAddress"`
	SecureVIP            string            `json:"secureVipAddress"`
	Coordinating         *string           `json:"isCoordinatingDiscoveryServer"`
	LastUpdated          *string           `json:"lastUpdatedTimestamp"`
	LastDirty            *string           `json:"lastDirtyTimestamp"`
	ActionType           *string           `json:"actionType"`
	ASGName              string            `json:"asgName"`
}

// checkJSON reads a document of any kind the way the strictest client does.
func checkJSON(doc []byte) error {
	roots := struct {
		strictRegistry
		Application *strictApplication `json:"application"`
		Instance    *strictInstance    `json:"instance"`
	}{}
	if err := decodeStrictly(doc, &roots); err != nil {
		return err
	}
	switch {
	case roots.Applications != nil:
		all := roots.Applications
		if all.Version == nil || all.Hash == nil || all.Applications == nil {
			return errors.New("applications lacks a member")
		}
		return checkApplications(*all.Applications)
	case roots.Application != nil:
		return checkApplications([]strictApplication{*roots.Application})
	case roots.Instance != nil:
		return roots.Instance.check()
	}
	return errors.New("no root")
}

// decodeStrictly refuses keys that the target does not know, nulls, and text
// after the document.
func decodeStrictly(doc []byte, to any) error {
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.DisallowUnknownFields()
	if err := dec.Decode(to); err != nil {
		return err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("text after the document")
	}
	return checkNoNull(doc)
}

// checkCompactJSON reads a compact list the way the strictest client does.
func checkCompactJSON(doc []byte) error {
	var roots strictCompact
	if err := decodeStrictly(doc, &roots); err != nil {
		return err
	}
	var apps []strictCompactApplication
	switch all := roots.Applications; {
	case all != nil && (all.Version == nil || all.Hash == nil || all.Applications == nil):
		return errors.New("applications lacks a member")
	case all != nil:
		apps = *all.Applications
	case roots.Application != nil:
		apps = append(apps, *roots.Application)
	default:
		return errors.New("no root")
	}
	for _, app := range apps {
		if err := app.check(); err != nil {
			return err
		}
	}
	return nil
}

func (app *strictCompactApplication) check() error {
	if app.Name == nil || app.Instances == nil {
		return errors.New("application lacks a member")
	}
	for _, in := range *app.Instances {
		if err := in.check(); err != nil {
			return err
		}
	}
	return nil
}

func (in *strictCompactInstance) check() error {
	switch {
	case in.InstanceID == nil, in.App == nil, in.IPAddr == nil, in.HostName == nil, in.LastUpdated == nil, in.DataCenter == nil:
		return errors.New("instance lacks a member")
	case in.Status == nil || !isStatus(*in.Status):
		return errors.New("no status")
	case in.ActionType == nil || !isAction(*in.ActionType):
		return errors.New("no action type")
	}
	if err := checkPorts(in.Port, in.SecurePort); err != nil {
		return err
	}
	return in.DataCenter.check()
}

func checkNoNull(doc []byte) error {
	dec := json.NewDecoder(bytes.NewReader(doc))
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if token == nil {
			return errors.New("a null")
		}
	}
}

func checkApplications(apps []strictApplication) error {
	for _, app := range apps {
		if app.Name == nil || app.Instances == nil {
			return errors.New("application lacks a member")
		}
		for _, in := range *app.Instances {
			if err := in.check(); err != nil {
				return err
			}
			if *in.App != *app.Name {
				return fmt.Errorf("instance of %q inside %q", *in.App, *app.Name)
			}
		}
	}
	return nil
}

func (in *strictInstance) check() error {
	switch {
	case in.InstanceID == nil, in.HostName == nil, in.App == nil, in.IPAddr == nil,
		in.Status == nil, in.OverriddenStatus == nil, in.CountryID == nil, in.DataCenter == nil, in.Lease == nil,
		in.Metadata == nil, in.LastUpdated == nil, in.LastDirty == nil, in.ActionType == nil:
		return errors.New("instance lacks a member")
	case in.Coordinating == nil || !isFlag(*in.Coordinating):
		return errors.New("isCoordinatingDiscoveryServer is no flag")
	}
	for _, status := range []string{*in.Status, *in.OverriddenStatus} {
		if !isStatus(status) {
			return fmt.Errorf("status %q", status)
		}
	}
	if !isAction(*in.ActionType) {
		return fmt.Errorf("action type %q", *in.ActionType)
	}
	if err := checkPorts(in.Port, in.SecurePort); err != nil {
		return err
	}
	return in.checkBlocks()
}

func isStatus(s string) bool {
	return slices.Contains([]string{"DOWN", "OUT_OF_SERVICE", "STARTING", "UNKNOWN", "UP"}, s)
}

func isAction(s string) bool { return slices.Contains([]string{"ADDED", "MODIFIED", "DELETED"}, s) }

func checkPorts(ports ...*strictPort) error {
	for _, p := range ports {
		if p == nil || p.Number == nil || p.Enabled == nil || !isFlag(*p.Enabled) {
			return errors.New("incomplete port")
		}
	}
	return nil
}

func (in *strictInstance) checkBlocks() error {
	l := in.Lease
	for _, n := range []*int64{l.Renewal, l.Duration, l.Registration, l.LastRenewal, l.Eviction, l.ServiceUp} {
		if n == nil {
			return errors.New("leaseInfo lacks a member")
		}
	}
	return in.DataCenter.check()
}

func (dc *strictDataCenter) check() error {
	if dc.Class == nil || dc.Name == nil {
		return errors.New("dataCenterInfo lacks a member")
	}
	amazon := *dc.Name == "Amazon"
	class := "com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo"
	if amazon {
		class = "com.netflix.appinfo.AmazonInfo"
	}
	if *dc.Class != class || amazon != (dc.Metadata != nil) {
		return errors.New("dataCenterInfo disagrees with its name")
	}
	return nil
}

func isFlag(s string) bool { return s == "true" || s == "false" }

// strictElements lists the children each element may have; what is not listed
// holds text only. Metadata may have any.
var strictElements = map[string]string{
	"applications": "versions__delta apps__hashcode application",
	"application":  "name instance",
	"instance": "instanceId app appGroupName ipAddr sid port securePort homePageUrl statusPageUrl healthCheckUrl " +
		"secureHealthCheckUrl vipAddress secureVipAddress countryId dataCenterInfo hostName status overriddenstatus " +
		"leaseInfo isCoordinatingDiscoveryServer metadata lastUpdatedTimestamp lastDirtyTimestamp actionType asgName",
	"dataCenterInfo": "name metadata",
	"leaseInfo": "renewalIntervalInSecs durationInSecs registrationTimestamp lastRenewalTimestamp evictionTimestamp " +
		"serviceUpTimestamp",
}

// compactElements is strictElements for the compact form.
var compactElements = map[string]string{
	"applications": "versions__delta apps__hashcode application",
	"application":  "name instance",
	"instance": "instanceId app ipAddr vipAddress secureVipAddress dataCenterInfo hostName status lastUpdatedTimestamp " +
		"actionType asgName port securePort",
	"dataCenterInfo": "name metadata",
}

// strictAttributes lists the one attribute an element has.
var strictAttributes = map[string]string{"port": "enabled", "securePort": "enabled", "dataCenterInfo": "class"}

// checkXML reads a document of any kind the way a strict client does: well
// formed, only known elements, no namespaces, no white space between elements.
func checkXML(doc []byte, elements map[string]string) error {
	dec := xml.NewDecoder(bytes.NewReader(doc))
	var path []string
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case xml.StartElement:
			if err := checkElement(elements, path, t); err != nil {
				return err
			}
			path = append(path, t.Name.Local)
		case xml.EndElement:
			path = path[:len(path)-1]
		case xml.CharData:
			if depth := inMetadata(path); len(path) == 0 || depth == 1 || depth == 0 && elements[path[len(path)-1]] != "" {
				return fmt.Errorf("text in %v", path)
			}
		default:
			return fmt.Errorf("a %T", token)
		}
	}
}

// inMetadata is 0 outside metadata, 1 between its elements and 2 in one of them, which
// may have the name of anything.
func inMetadata(path []string) int {
	i := slices.Index(path, "metadata")
	if i < 0 {
		return 0
	}
	return len(path) - i
}

func checkElement(elements map[string]string, path []string, start xml.StartElement) error {
	name := start.Name.Local
	if start.Name.Space != "" {
		return fmt.Errorf("namespace in %v", path)
	}
	if len(path) == 0 {
		if elements[name] == "" {
			return fmt.Errorf("root %q", name)
		}
		return nil
	}
	switch inMetadata(path) {
	case 0:
	case 1:
		return nil
	default:
		return fmt.Errorf("element %q in %v", name, path)
	}
	parent := path[len(path)-1]
	if !slices.Contains(strings.Fields(elements[parent]), name) {
		return fmt.Errorf("element %q in %v", name, path)
	}
	want := strictAttributes[name]
	if name == "metadata" {
		return nil
	}
	if want == "" && len(start.Attr) == 0 || len(start.Attr) == 1 && start.Attr[0].Name.Local == want {
		return nil
	}
	return fmt.Errorf("attributes of %q", name)
}

// check reads a document in the given format strictly.
func check(f Format, doc []byte) error {
	switch f {
	case JSON:
		return checkJSON(doc)
	case CompactJSON:
		return checkCompactJSON(doc)
	case CompactXML:
		return checkXML(doc, compactElements)
	default:
		return checkXML(doc, strictElements)
	}
}
