package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

// Files of the licences, in a release and in the image.
const (
	licenceFile = "LICENSE"
	noticesFile = "THIRD_PARTY_NOTICES"
)

// allowed are the licences, by their SPDX ids, of what may be built in.
func allowed() []string {
	return []string{"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "MPL-2.0"}
}

// known is the part of a licence's file, in percent, that has to be of licences we
// know. The rest is names, years and headings.
const known = 75

// part is a module that is built in, or the standard library.
type part struct {
	name, version string
	texts         map[string]string // by file, seen from its top
	licences      []string          // SPDX ids, sorted
}

// notices writes the texts of the licences of everything that is built in, which all
// of them ask for, beside ours. It returns the parts, and fails when one of them has no
// licence or one that is not allowed.
func (r release) notices(ctx context.Context) ([]part, error) {
	parts, err := partsOf(ctx)
	if err != nil {
		return nil, err
	}
	own, err := os.ReadFile(licenceFile)
	if err != nil {
		return nil, fmt.Errorf("reading our licence: %w", err)
	}
	return parts, errors.Join(
		r.write(licenceFile, own),
		r.write(noticesFile, noticesText(parts)),
	)
}

// write writes a file of the release that everybody may read.
func (r release) write(name string, text []byte) error {
	err := os.MkdirAll(r.out, 0o755) //nolint:gosec // everybody may read it
	if err == nil {
		err = os.WriteFile(filepath.Join(r.out, name), text, 0o644) //nolint:gosec // everybody may read it
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return nil
}

// partsOf returns what is built into any program on any platform, sorted by name.
func partsOf(ctx context.Context) ([]part, error) {
	parts := map[string]part{}
	for name, platforms := range commands() {
		for _, target := range platforms {
			if err := collect(ctx, parts, "./cmd/"+name, target); err != nil {
				return nil, err
			}
		}
	}
	var errs []error
	for name, p := range parts {
		var err error
		p.licences, err = licencesOf(p.texts)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s %s: %w", p.name, p.version, err))
		}
		parts[name] = p
	}
	sorted := slices.SortedFunc(maps.Values(parts), func(a, b part) int { return cmp.Compare(a.name, b.name) })
	return sorted, errors.Join(errs...)
}

// listed is a package as the go command lists it.
type listed struct {
	Dir      string
	Standard bool
	Root     string // of the standard library
	Module   *struct {
		Path, Version, Dir string
		Main               bool
	}
}

// collect adds the parts behind a program on a platform.
func collect(ctx context.Context, parts map[string]part, program string, target platform) error {
	goVersion, err := output(ctx, "go", "env", "GOVERSION")
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", "list", "-deps", "-json=Dir,Standard,Root,Module", program)
	cmd.Env = append(os.Environ(), environment(target)...)
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("listing what %s is made of: %w", program, err)
	}
	for packages := json.NewDecoder(bytes.NewReader(text)); ; {
		var l listed
		switch err := packages.Decode(&l); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("reading what %s is made of: %w", program, err)
		}
		if err := l.addTo(parts, goVersion); err != nil {
			return err
		}
	}
}

// addTo adds the texts for a package to those of its part.
func (l listed) addTo(parts map[string]part, goVersion string) error {
	// Of the standard library the licence at its top counts; one below is for object
	// code that is linked with cgo only.
	name, version, top, dir := "std", goVersion, l.Root, l.Root
	switch {
	case l.Standard:
	case l.Module.Main:
		return nil
	default:
		name, version, top, dir = l.Module.Path, l.Module.Version, l.Module.Dir, l.Dir
	}
	if _, ok := parts[name]; !ok {
		parts[name] = part{name: name, version: version, texts: map[string]string{}}
	}
	return readTexts(parts[name].texts, top, dir)
}

// textName is what files with a licence are called, and those that have to be passed
// on with it.
var textName = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)([.-].*)?$`)

// readTexts reads the texts for a folder: those in it and above it, up to the top.
func readTexts(texts map[string]string, top, dir string) error {
	for ; ; dir = filepath.Dir(dir) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return fmt.Errorf("looking for licences: %w", err)
		}
		for _, e := range entries {
			if e.IsDir() || strings.HasSuffix(e.Name(), ".go") || !textName.MatchString(e.Name()) {
				continue
			}
			path := filepath.Join(dir, e.Name())
			text, err := os.ReadFile(path)
			if err != nil {
				return fmt.Errorf("reading a licence: %w", err)
			}
			texts[strings.TrimPrefix(path, top+string(filepath.Separator))] = string(text)
		}
		if dir == top || !strings.HasPrefix(dir, top) {
			return nil
		}
	}
}

// licencesOf returns the licences that texts are, and what is wrong with them.
func licencesOf(texts map[string]string) (ids []string, err error) {
	var errs []error
	for file, text := range texts {
		base := strings.ToLower(filepath.Base(file))
		if strings.HasPrefix(base, "notice") || strings.HasPrefix(base, "patents") {
			continue // no licences, but passed on with them
		}
		found := licensecheck.Scan([]byte(text))
		if found.Percent < known {
			errs = append(errs, fmt.Errorf("%s: %.0f %% of it is a known licence, want %d %%", file, found.Percent, known))
		}
		for _, m := range found.Match {
			if !slices.Contains(allowed(), m.ID) {
				errs = append(errs, fmt.Errorf("%s: licence %s is not one of %s", file, m.ID, strings.Join(allowed(), ", ")))
			}
			ids = append(ids, m.ID)
		}
	}
	if len(ids) == 0 {
		errs = append(errs, errors.New("no licence"))
	}
	slices.Sort(ids)
	return slices.Compact(ids), errors.Join(errs...)
}

// noticesText lists the parts and then every text once, with those it is of.
func noticesText(parts []part) []byte {
	var out bytes.Buffer
	out.WriteString("Kureka is built with the following parts. Their licences and notices follow.\n\n")
	var order []string
	owners := map[string][]string{} // by text
	for _, p := range parts {
		fmt.Fprintf(&out, "%s %s (%s)\n", p.name, p.version, strings.Join(p.licences, ", "))
		for _, file := range slices.Sorted(maps.Keys(p.texts)) {
			text := strings.TrimSpace(p.texts[file])
			if owners[text] == nil {
				order = append(order, text)
			}
			owners[text] = append(owners[text], p.name+": "+file)
		}
	}
	for _, text := range order {
		rule := strings.Repeat("-", 80)
		fmt.Fprintf(&out, "\n%s\n%s\n%s\n\n%s\n", rule, strings.Join(owners[text], "\n"), rule, text)
	}
	return out.Bytes()
}
