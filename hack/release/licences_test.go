package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const mit = `Copyright (c) 2026 Somebody

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
`

const gpl = `This program is free software: you can redistribute it and/or modify it under the terms of the GNU General Public License as published by the Free Software Foundation, either version 3 of the License, or (at your option) any later version.`

func TestLicences_areKnownAndAllowed(t *testing.T) {
	t.Parallel()
	apache, err := os.ReadFile("../../LICENSE")
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		texts map[string]string
		want  []string
		wrong string // part of the error; empty: none
	}{
		"one":                       {texts: map[string]string{"LICENSE": mit}, want: []string{"MIT"}},
		"two, and a notice":         {texts: map[string]string{"LICENSE": mit, "sub/LICENSE": string(apache), "NOTICE": "Copyright Somebody"}, want: []string{"Apache-2.0", "MIT"}},
		"none":                      {wrong: "no licence"},
		"only a notice":             {texts: map[string]string{"NOTICE": mit, "PATENTS": mit}, wrong: "no licence"},
		"one that is not allowed":   {texts: map[string]string{"LICENSE": mit, "sub/COPYING": gpl}, want: []string{"GPL-3.0-or-later", "MIT"}, wrong: "sub/COPYING: licence GPL-3.0-or-later is not one of"},
		"somebody's own":            {texts: map[string]string{"LICENSE": "You may look at this on Sundays."}, wrong: "LICENSE: 0 % of it is a known licence"},
		"with conditions of theirs": {texts: map[string]string{"LICENSE": mit + strings.Repeat("You may not sell it. ", 60)}, want: []string{"MIT"}, wrong: "of it is a known licence, want 75 %"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := licencesOf(tc.texts)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("licences (-want +got):\n%s", diff)
			}
			if (err == nil) != (tc.wrong == "") || err != nil && !strings.Contains(err.Error(), tc.wrong) {
				t.Errorf("error %v, want %q", err, tc.wrong)
			}
		})
	}
}

func TestReadTexts_takesThoseOfAFolderAndAboveIt(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	for name, text := range map[string]string{
		"LICENSE": "a", "NOTICE.txt": "b", "one/license.md": "c", "one/two/COPYING": "d", "other/LICENSE": "e",
		"one/license.go": "f", "one/two/licenses/x": "g", "one/LICENSES": "h", "../LICENSE-of-nobody": "i",
	} {
		path := filepath.Join(top, "m", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got := map[string]string{}
	if err := readTexts(got, filepath.Join(top, "m"), filepath.Join(top, "m", "one", "two")); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"LICENSE": "a", "NOTICE.txt": "b", "one/license.md": "c", "one/two/COPYING": "d"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestNotices_holdEveryTextOnce(t *testing.T) {
	t.Parallel()
	got := string(noticesText([]part{
		{name: "a", version: "v1.0.0", texts: map[string]string{"LICENSE": mit}, licences: []string{"MIT"}},
		{name: "b", version: "v2.0.0", texts: map[string]string{"LICENSE": mit, "NOTICE": "By Somebody"}, licences: []string{"MIT"}},
	}))
	if n := strings.Count(got, "Permission is hereby granted"); n != 1 {
		t.Errorf("the licence is there %d times", n)
	}
	for _, want := range []string{"a v1.0.0 (MIT)\nb v2.0.0 (MIT)\n", "a: LICENSE\nb: LICENSE\n", "b: NOTICE\n", "By Somebody"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in:\n%s", want, got)
		}
	}
}
