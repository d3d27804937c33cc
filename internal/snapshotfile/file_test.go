package snapshotfile

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/kureka/kureka/internal/cluster"
	"github.com/kureka/kureka/internal/evidence"
	"github.com/kureka/kureka/internal/registry"
)

var update = flag.Bool("update", false, "write the stored file of the current version anew; never for one that was released")

var same = cmp.Options{cmpopts.EquateEmpty(), cmpopts.EquateComparable(netip.Addr{}, netip.AddrPort{}, netip.Prefix{}, evidence.Labels{})}

func file(t *testing.T) *File {
	t.Helper()
	return New(filepath.Join(t.TempDir(), "registry.snapshot"))
}

func TestWhatWasSavedIsLoaded(t *testing.T) {
	f := file(t)
	if _, err := f.Load(); !errors.Is(err, ErrNone) {
		t.Errorf("before the first: %v", err)
	}
	for range 2 { // the second replaces the first
		want := full()
		size, err := f.Save(want)
		if err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(f.Path())
		if err != nil || info.Size() != size || info.Mode().Perm() != 0o600 {
			t.Errorf("%v %v, want %d bytes for the owner only", info, err, size)
		}
		got, err := f.Load()
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got, same); d != "" {
			t.Errorf("(-saved +loaded):\n%s", d)
		}
	}
	if left, err := os.ReadDir(filepath.Dir(f.Path())); err != nil || len(left) != 1 {
		t.Errorf("left in the folder: %v %v", left, err)
	}
}

// pack makes a file of lines as Save would.
func pack(tb testing.TB, version, lines string) []byte {
	tb.Helper()
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err := w.Write([]byte(lines))
	if err = errors.Join(err, w.Close()); err != nil {
		tb.Fatal(err)
	}
	return fmt.Appendf(nil, "kureka-snapshot %s %016d %x\n%s", version, packed.Len(), sha256.Sum256(packed.Bytes()), packed.Bytes())
}

func unpack(tb testing.TB, path string) string {
	tb.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	_, packed, _ := bytes.Cut(content, []byte("\n"))
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		tb.Fatal(err)
	}
	lines, err := io.ReadAll(r)
	if err != nil {
		tb.Fatal(err)
	}
	return string(lines)
}

// The file of version 1.0 is read for as long as the major version is 1, and
// whoever reads 1.0 finds every name in what is written now.
func TestTheFileOfVersion1_0IsReadAndWritten(t *testing.T) {
	stored := New(filepath.Join("testdata", "v1.0.snapshot"))
	if *update {
		if _, err := stored.Save(full()); err != nil {
			t.Fatal(err)
		}
	}
	cp, err := stored.Load()
	if err != nil {
		t.Fatal(err)
	}
	now := file(t)
	if _, err := now.Save(cp); err != nil {
		t.Fatal(err)
	}
	then, written := strings.Split(unpack(t, stored.Path()), "\n"), strings.Split(unpack(t, now.Path()), "\n")
	if len(then) != len(written) {
		t.Fatalf("%d lines were written in 1.0, now %d", len(then), len(written))
	}
	for i := range then[:len(then)-1] {
		var old, current any
		if err := errors.Join(json.Unmarshal([]byte(then[i]), &old), json.Unmarshal([]byte(written[i]), &current)); err != nil {
			t.Fatal(err)
		}
		for _, lost := range lacks(old, current, "") {
			t.Errorf("line %d: %s is lost or another", i+1, lost)
		}
	}
}

// lacks names what of a value is not in another.
func lacks(old, current any, path string) []string {
	m, isMap := old.(map[string]any)
	if !isMap {
		if cmp.Equal(old, current) {
			return nil
		}
		return []string{path}
	}
	var out []string
	now, _ := current.(map[string]any)
	for name, value := range m {
		out = append(out, lacks(value, now[name], path+"."+name)...)
	}
	return out
}

func TestWhatANewerMinorVersionAddsIsSkipped(t *testing.T) {
	f := file(t)
	lines := `{"head":{"savedMS":5,"version":7,"clock":{"MS":9},"mood":"good"}}
{"weather":{"sun":true}}
{"instance":{"Record":{"App":"A","ID":"1","Colour":"red"},"Client":"UP","Shown":true,"Action":"ADDED","Aura":{"x":[1]}}}
{"binding":{"Key":{"App":"A","ID":"1"}}}
{"end":{"lines":4,"bytes":3}}
`
	if err := os.WriteFile(f.Path(), pack(t, "1.9", lines), 0o600); err != nil {
		t.Fatal(err)
	}
	cp, err := f.Load()
	if err != nil {
		t.Fatal(err)
	}
	if cp.Registry.Version != 7 || len(cp.Registry.Instances) != 1 || cp.Registry.Instances[0].Record.ID != "1" || cp.Registry.Instances[0].Client != registry.Up {
		t.Errorf("loaded %+v", cp.Registry)
	}
}

const small = `{"head":{"savedMS":1,"version":1,"clock":{"MS":1}}}
{"end":{"lines":1}}
`

func TestAFileThatIsNotWholeIsRefused(t *testing.T) {
	good := pack(t, "1.0", small)
	flipped := bytes.Clone(good)
	flipped[len(flipped)-9] ^= 1
	for name, tc := range map[string]struct {
		content []byte
		want    string
	}{
		"empty":               {nil, "does not begin as"},
		"another file":        {[]byte("GIF89a...\n"), "does not begin as"},
		"one long line":       {bytes.Repeat([]byte("x"), 1<<20), "does not begin as"},
		"cut in the header":   {good[:20], "does not begin as"},
		"cut":                 {good[:len(good)-1], "truncated"},
		"only a header":       {good[:bytes.IndexByte(good, '\n')+1], "truncated"},
		"longer":              {append(bytes.Clone(good), 'x'), "truncated or changed"},
		"a flipped bit":       {flipped, "checksum"},
		"a huge length":       {bytes.Replace(good, fmt.Appendf(nil, "%016d", len(good)-bytes.IndexByte(good, '\n')-1), []byte("9999999999999999"), 1), "truncated"},
		"a negative length":   {bytes.Replace(good, fmt.Appendf(nil, "%016d", len(good)-bytes.IndexByte(good, '\n')-1), []byte("-000000000000001"), 1), "truncated"},
		"a newer format":      {pack(t, "2.0", small), "newer Kureka"},
		"an older format":     {pack(t, "0.3", small), "older Kureka"},
		"no last line":        {pack(t, "1.0", strings.SplitAfter(small, "\n")[0]), "last line is missing"},
		"no first line":       {pack(t, "1.0", `{"end":{"lines":0}}`), "first line is missing"},
		"a line is missing":   {pack(t, "1.0", strings.Replace(small, `"lines":1`, `"lines":2`, 1)), "2 lines were written, 1"},
		"more after the end":  {pack(t, "1.0", small+small), "after the end"},
		"no JSON":             {pack(t, "1.0", "x\n"), "line 1"},
		"an unknown status":   {pack(t, "1.0", `{"override":{"Key":{"App":"A","ID":"1"},"Status":"SLEEPY"}}`), "unknown status"},
		"not packed":          {[]byte(fmt.Sprintf("kureka-snapshot 1.0 %016d %x\nplain", 5, sha256.Sum256([]byte("plain")))), "unpacking"},
		"a line without end":  {pack(t, "1.0", strings.Repeat(" ", maxLine+1)), "token too long"},
		"deeper than anybody": {pack(t, "1.0", `{"head":`+strings.Repeat(`[`, 20_000)), "line 1"},
	} {
		t.Run(name, func(t *testing.T) {
			f := file(t)
			if err := os.WriteFile(f.Path(), tc.content, 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := f.Load()
			if _, is := errors.AsType[*UnusableError](err); !is || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("got %v, want it to be unusable: %q", err, tc.want)
			}
			aside, err := f.SetAside()
			if err != nil {
				t.Fatal(err)
			}
			if kept, err := os.ReadFile(aside); err != nil || !bytes.Equal(kept, tc.content) {
				t.Errorf("it was not kept: %v", err)
			}
			if _, err := f.Load(); !errors.Is(err, ErrNone) {
				t.Errorf("afterwards: %v", err)
			}
		})
	}
}

func TestPlacesWhereNoFileCanBe(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct{ path, load, save string }{
		"a folder":          {dir, "is a folder; name a file", "is a folder: name a file"},
		"no such folder":    {filepath.Join(dir, "none", "x"), ErrNone.Error(), "is not there"},
		"a file as folder":  {filepath.Join(plain, "x"), "no folder", "no folder"},
		"no regular file":   {"/dev/null", "no regular file", ""},
		"a name that is [*": {filepath.Join(dir, "[*"), ErrNone.Error(), ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := New(tc.path)
			if _, err := f.Load(); err == nil || !strings.Contains(err.Error(), tc.load) {
				t.Errorf("loading: %v, want %q", err, tc.load)
			}
			if tc.path == "/dev/null" {
				return
			}
			_, err := f.Save(full())
			if (err == nil) != (tc.save == "") || err != nil && !strings.Contains(err.Error(), tc.save) {
				t.Errorf("saving: %v, want %q", err, tc.save)
			}
		})
	}
	if kept, err := New(dir).SetAside(); err == nil {
		t.Errorf("a folder was moved to %s", kept)
	}
}

// volume is a real one of a few pages, where that is allowed. readOnly makes it
// read-only.
func volume(t *testing.T) (dir string, readOnly func()) {
	t.Helper()
	dir = t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("no right to mount: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir, func() {
		t.Helper()
		if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, "size=64k"); err != nil {
			t.Skipf("no right to remount: %v", err)
		}
	}
}

func TestAFullVolumeKeepsTheOldFile(t *testing.T) {
	dir, _ := volume(t)
	f := New(filepath.Join(dir, "registry.snapshot"))
	if err := f.Prepare(); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Save(full()); err != nil {
		t.Fatal(err)
	}
	big := full()
	for i := range 4000 { // does not pack well
		sum := sha256.Sum256(fmt.Append(nil, i))
		big.Registry.Overrides = append(big.Registry.Overrides, registry.SavedOverride{Key: registry.Key{App: "A", ID: hex.EncodeToString(sum[:])}})
	}
	if _, err := f.Save(big); !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "is full") {
		t.Errorf("on a full volume: %v", err)
	}
	if cp, err := f.Load(); err != nil || !cmp.Equal(cp, full(), same) {
		t.Errorf("the old file is not whole: %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left: %v %v", left, err)
	}
}

func TestAReadOnlyVolumeIsReadAndSaysSo(t *testing.T) {
	dir, readOnly := volume(t)
	f := New(filepath.Join(dir, "registry.snapshot"))
	if _, err := f.Save(full()); err != nil {
		t.Fatal(err)
	}
	readOnly()
	if _, err := f.Save(full()); !errors.Is(err, syscall.EROFS) || !strings.Contains(err.Error(), "read-only") {
		t.Errorf("saving: %v", err)
	}
	if err := f.Prepare(); !errors.Is(err, syscall.EROFS) {
		t.Errorf("preparing: %v", err)
	}
	if _, err := f.Load(); err != nil {
		t.Errorf("loading: %v", err)
	}
}

func TestAFolderThatMayOnlyBeWrittenHoldsASnapshot(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may read everything")
	}
	f := file(t)
	dir := filepath.Dir(f.Path())
	if err := os.Chmod(dir, 0o300); err != nil { //nolint:gosec // a folder needs the x
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.Chmod(dir, 0o700); err != nil { //nolint:gosec // a folder needs the x
			t.Error(err)
		}
	})
	if err := f.Prepare(); err != nil {
		t.Errorf("preparing: %v", err)
	}
	if _, err := f.Save(full()); err != nil {
		t.Errorf("saving: %v", err)
	}
	if _, err := f.Load(); err != nil {
		t.Errorf("loading: %v", err)
	}
}

func TestExplain_saysWhatToDo(t *testing.T) {
	f := New("/data/registry.snapshot")
	for want, err := range map[string]error{
		"make room":      fmt.Errorf("write: %w", syscall.ENOSPC),
		"make it larger": syscall.EDQUOT,
		"fsGroup":        fs.ErrPermission,
		"writable":       syscall.EROFS,
		"disk":           syscall.EIO,
	} {
		if got := f.explain(err); !strings.Contains(got.Error(), want) || !errors.Is(got, err) {
			t.Errorf("%v: %v", err, got)
		}
	}
}

func TestPrepareRemovesWhatACrashLeft(t *testing.T) {
	f := file(t)
	dir := filepath.Dir(f.Path())
	for _, name := range []string{".registry.snapshot.tmp-123", "other", ".other.tmp-1"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Prepare(); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 2 {
		t.Errorf("left: %v %v", left, err)
	}
}

// start goes on from a checkpoint as a process would, and lets some time pass.
func start(cp *cluster.Checkpoint) (*registry.Engine, error) {
	now := time.Unix(1_700_000_100, 0)
	reg := registry.New(now, registry.Options{})
	c := cluster.New(reg, cluster.Options{AllNamespaces: true})
	catchUp, err := c.Restore(now, cp)
	if err != nil {
		return nil, err
	}
	catchUp()
	c.SetPodsReadable(now, true)
	for range 200 {
		now = now.Add(time.Second)
		c.Tick(now)
	}
	c.Checkpoint(now)
	return reg, nil
}

// FuzzLines feeds lines that have a right checksum: whatever a process can start
// from must not break it.
func FuzzLines(f *testing.F) {
	f.Add(small)
	f.Add(unpack(f, filepath.Join("testdata", "v1.0.snapshot")))
	f.Add(`{"head":{"savedMS":5,"version":7,"clock":{"MS":9}}}
{"pod":{"Pod":{"UID":"p","Namespace":"n","Name":"a","IPs":["10.0.0.1"],"Node":"x","Containers":[{"Name":"c","Ports":[80],"ID":"i"}]},"Gone":{"Abrupt":true}}}
{"instance":{"Record":{"App":"A","ID":"1","IPAddr":"10.0.0.1"},"Binding":{"PodUID":"p"},"Client":"UP","Shown":true,"Action":"ADDED"}}
{"binding":{"Key":{"App":"A","ID":"1"},"Pod":"p","ByAddress":true,"Container":"c","Baseline":"i"}}
{"fence":{"UID":"q","Addrs":["10.0.0.9:0"],"Keys":[{"App":"A","ID":"2"}],"Age":5,"Rest":6}}
{"end":{"lines":4}}
`)
	f.Fuzz(func(t *testing.T, lines string) {
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		_, err := w.Write([]byte(lines))
		if err = errors.Join(err, w.Close()); err != nil {
			t.Fatal(err)
		}
		cp, err := readLines(&packed)
		if err != nil {
			return
		}
		shown := 0
		for _, s := range cp.Registry.Instances {
			if s.Shown {
				shown++
			}
		}
		reg, err := start(cp)
		if err != nil {
			return
		}
		if n := reg.Snapshot().Len(); n > shown {
			t.Errorf("%d instances are listed of %d", n, shown)
		}
	})
}

// FuzzLoad feeds whole files: what is not exactly a file that was saved is refused.
func FuzzLoad(f *testing.F) {
	good := pack(f, "1.0", small)
	f.Add(good)
	f.Add(good[:40])
	f.Add(pack(f, "2.0", small))
	f.Add([]byte("kureka-snapshot 1.0 0000000000000000 \n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		at := file(t)
		if err := os.WriteFile(at.Path(), content, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := at.Load(); err == nil && !bytes.Equal(content[:17], good[:17]) {
			t.Errorf("loaded %q", content)
		}
	})
}
