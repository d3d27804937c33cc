package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"
)

// billSuffix ends the name of a program's bill of materials.
const billSuffix = ".cdx.json"

// bill is a bill of materials in the JSON form of CycloneDX. It is written here because
// what generators write about themselves, such as the hash of their own program, would
// differ from machine to machine.
type bill struct {
	Schema      string      `json:"$schema"`
	Format      string      `json:"bomFormat"`
	SpecVersion string      `json:"specVersion"`
	Version     int         `json:"version"` // of this bill
	Metadata    metadata    `json:"metadata"`
	Components  []component `json:"components"`
}

type metadata struct {
	Timestamp string    `json:"timestamp"`
	Component component `json:"component"`
}

type component struct {
	Ref      string         `json:"bom-ref"`
	Type     string         `json:"type"`
	Name     string         `json:"name"`
	Version  string         `json:"version"`
	URL      string         `json:"purl"`
	Hashes   []hashed       `json:"hashes,omitempty"`
	Licences []licenceEntry `json:"licenses"`
}

type hashed struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type licenceEntry struct {
	Licence struct {
		ID string `json:"id"`
	} `json:"license"`
}

// writeBill writes the bill of materials of a program beside it, from what the program
// itself says that it is made of.
func (r release) writeBill(p program, parts []part) error {
	info, err := buildinfo.ReadFile(p.path)
	if err != nil {
		return fmt.Errorf("reading what %s is made of: %w", p.path, err)
	}
	content, err := os.ReadFile(p.path)
	if err != nil {
		return fmt.Errorf("reading %s: %w", p.path, err)
	}
	text, err := json.MarshalIndent(r.billOf(p, info, sha256.Sum256(content), parts), "", "  ")
	if err != nil {
		return fmt.Errorf("encoding the bill of materials: %w", err)
	}
	return r.write(filepath.Base(p.path)+billSuffix, append(text, '\n'))
}

func (r release) billOf(p program, info *debug.BuildInfo, sum [sha256.Size]byte, parts []part) bill {
	licences := map[string][]string{}
	for _, l := range parts {
		licences[l.name] = l.licences
	}
	own := library(info.Main.Path, r.version, []string{"Apache-2.0"})
	own.Type = "application"
	own.URL += "?" + url.Values{"goos": {p.platform.OS}, "goarch": {p.platform.Architecture}}.Encode() + "#cmd/" + p.name
	own.Ref = own.URL
	own.Hashes = []hashed{{Algorithm: "SHA-256", Content: hex.EncodeToString(sum[:])}}
	components := append(make([]component, 0, 1+len(info.Deps)), library("std", info.GoVersion, licences["std"]))
	for _, d := range info.Deps {
		if d.Replace != nil {
			d = d.Replace
		}
		components = append(components, library(d.Path, d.Version, licences[d.Path]))
	}
	return bill{
		Schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
		Format: "CycloneDX", SpecVersion: "1.6", Version: 1,
		Metadata:   metadata{Timestamp: r.time.Format(time.RFC3339), Component: own},
		Components: components,
	}
}

// library is a module of a version.
func library(name, version string, licences []string) component {
	purl := "pkg:golang/" + name + "@" + url.QueryEscape(version)
	c := component{Ref: purl, Type: "library", Name: name, Version: version, URL: purl, Licences: []licenceEntry{}}
	for _, id := range licences {
		var l licenceEntry
		l.Licence.ID = id
		c.Licences = append(c.Licences, l)
	}
	return c
}
