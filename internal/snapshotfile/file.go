package snapshotfile

import (
	"bufio"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/kureka/kureka/internal/cluster"
)

// asideSuffix names a file that was set aside; the next one replaces it.
const asideSuffix = ".unusable"

// headerFormat is the first line. Its length does not depend on the values.
const headerFormat = "kureka-snapshot %d.%d %016d %s\n"

const maxHeader = 256

// ErrNone means that there is no file, as before the first Save.
var ErrNone = errors.New("there is no snapshot")

// UnusableError says why a file that is there cannot be used.
type UnusableError struct {
	// Why is the cause with the cure, in one sentence.
	Why string
}

// Error implements error.
func (e *UnusableError) Error() string { return e.Why }

func unusable(format string, args ...any) error {
	return &UnusableError{fmt.Sprintf(format, args...)}
}

// File is a snapshot file. One goroutine uses it at a time, and one process a
// path.
type File struct {
	path string
	gzip *gzip.Writer // reused: it is half a megabyte
}

// New names a file and touches nothing.
func New(path string) *File {
	w, err := gzip.NewWriterLevel(io.Discard, gzip.BestSpeed)
	if err != nil {
		panic(err) // the level is a constant
	}
	return &File{path: path, gzip: w}
}

// Path is where the file is.
func (f *File) Path() string { return f.path }

// Load reads the file. The error is ErrNone, an *UnusableError if what is there is
// no whole snapshot, or says why nothing can be read, and how to mend it.
func (f *File) Load() (cp *cluster.Checkpoint, err error) {
	file, err := os.Open(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNone
	}
	if err != nil {
		return nil, fmt.Errorf("reading the snapshot: %w", f.explain(err))
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading the snapshot: %w", f.explain(err))
	case info.IsDir():
		return nil, fmt.Errorf("reading the snapshot: %s is a folder; name a file in it", f.path)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("reading the snapshot: %s is no regular file; name another", f.path)
	}
	if err := check(file, info.Size()); err != nil {
		return nil, err
	}
	cp, err = readLines(bufio.NewReader(file))
	if err != nil {
		return nil, unusable("it has its checksum and cannot be understood (%v): this is a defect of the version that wrote it; please report it", err)
	}
	return cp, nil
}

// check verifies header and checksum and leaves the file at the start of the
// packed stream. Nothing in the file is believed before.
func check(file *os.File, size int64) error {
	first, err := bufio.NewReader(io.LimitReader(file, maxHeader)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("reading the snapshot: %w", err)
	}
	var gotMajor, gotMinor int
	var length int64
	var sum string
	if _, err := fmt.Sscanf(first, headerFormat, &gotMajor, &gotMinor, &length, &sum); err != nil {
		return unusable("it does not begin as a snapshot of Kureka does, so it is another file or damaged")
	}
	switch have := size - int64(len(first)); {
	case gotMajor > major:
		return unusable("it was written in format %d by a newer Kureka and this one reads format %d: start that version again to keep what is in it", gotMajor, major)
	case gotMajor != major:
		return unusable("it was written in format %d by an older Kureka and this one reads format %d", gotMajor, major)
	case length != have:
		return unusable("it is %d bytes long and should be %d, so it was truncated or changed after it was written", have, length)
	}
	start := int64(len(first))
	if _, err := file.Seek(start, io.SeekStart); err != nil {
		return fmt.Errorf("reading the snapshot: %w", err)
	}
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return fmt.Errorf("reading the snapshot: %w", err)
	}
	if hex.EncodeToString(hash.Sum(nil)) != sum {
		return unusable("its checksum is wrong, so it was damaged after it was written; look at the disk")
	}
	if _, err := file.Seek(start, io.SeekStart); err != nil {
		return fmt.Errorf("reading the snapshot: %w", err)
	}
	return nil
}

// Save replaces the file and returns the new one's size in bytes. An error says how
// to mend it, and that after a crash the old file may be there: the new one was not
// written, or nobody can tell whether its name lasts. A reader, and a process that
// starts after a crash at any moment, finds the old file or the new one, whole.
func (f *File) Save(cp *cluster.Checkpoint) (size int64, err error) {
	return f.save(cp, func(time.Duration) {})
}

// SaveGently is Save that rests for as long as it works, in short turns, so that
// whoever else wants the processor gets it. It takes twice as long.
func (f *File) SaveGently(cp *cluster.Checkpoint) (size int64, err error) {
	return f.save(cp, func(d time.Duration) { <-time.After(d) })
}

func (f *File) save(cp *cluster.Checkpoint, rest func(time.Duration)) (size int64, err error) {
	tmp, err := os.CreateTemp(filepath.Dir(f.path), f.pattern())
	if err != nil {
		return 0, fmt.Errorf("writing the snapshot: %w", f.explain(err))
	}
	size, err = f.fill(tmp, cp, rest)
	err = errors.Join(err, tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), f.path)
	}
	if err != nil {
		_ = os.Remove(tmp.Name()) // nothing more can be done about it
		return 0, fmt.Errorf("writing the snapshot: %w", f.explain(err))
	}
	if err := syncFolder(filepath.Dir(f.path)); err != nil {
		return 0, fmt.Errorf("writing the snapshot: %w", f.explain(err))
	}
	return size, nil
}

// fill writes everything and makes sure that it is on the disk.
func (f *File) fill(tmp *os.File, cp *cluster.Checkpoint, rest func(time.Duration)) (size int64, err error) {
	blank := fmt.Sprintf(headerFormat, major, minor, 0, hex.EncodeToString(make([]byte, sha256.Size)))
	buf := bufio.NewWriterSize(tmp, 1<<16)
	if _, err := buf.WriteString(blank); err != nil {
		return 0, err
	}
	hash := sha256.New()
	f.gzip.Reset(io.MultiWriter(buf, hash))
	if err := errors.Join(writeLines(&paced{w: f.gzip, rest: rest, since: time.Now()}, cp), f.gzip.Close(), buf.Flush()); err != nil {
		return 0, err
	}
	size, err = tmp.Seek(0, io.SeekCurrent)
	if err != nil {
		return 0, err
	}
	header := fmt.Sprintf(headerFormat, major, minor, size-int64(len(blank)), hex.EncodeToString(hash.Sum(nil)))
	if _, err := tmp.WriteAt([]byte(header), 0); err != nil {
		return 0, err
	}
	return size, tmp.Sync()
}

// turn is how long a gentle save works before it rests. The runtime takes the
// processor away from nobody before 10 ms, which is what heartbeats would wait.
const turn = 500 * time.Microsecond

// paced rests after every turn of work for as long as that turn took.
type paced struct {
	w     io.Writer
	rest  func(time.Duration)
	since time.Time // the last rest
}

// Write implements io.Writer.
func (p *paced) Write(b []byte) (int, error) {
	if worked := time.Since(p.since); worked >= turn {
		p.rest(worked)
		p.since = time.Now()
	}
	return p.w.Write(b)
}

// pattern names the temporary files of this one.
func (f *File) pattern() string { return "." + filepath.Base(f.path) + ".tmp-*" }

// Prepare removes what a crash left of a Save and finds out whether the next one
// will be able to write. The error says how to mend it.
func (f *File) Prepare() error {
	left, err := filepath.Glob(filepath.Join(escapeGlob(filepath.Dir(f.path)), escapeGlob("."+filepath.Base(f.path)+".tmp-")+"*"))
	if err != nil {
		return fmt.Errorf("looking at the snapshot's folder: %w", err)
	}
	for _, name := range left {
		_ = os.Remove(name) // if it cannot be removed, nothing can be written either
	}
	tmp, err := os.CreateTemp(filepath.Dir(f.path), f.pattern())
	if err != nil {
		return fmt.Errorf("looking at the snapshot's folder: %w", f.explain(err))
	}
	_, err = tmp.WriteString("kureka")
	if err = errors.Join(err, tmp.Sync(), tmp.Close(), os.Remove(tmp.Name()), syncFolder(filepath.Dir(f.path))); err != nil {
		return fmt.Errorf("looking at the snapshot's folder: %w", f.explain(err))
	}
	return nil
}

// SetAside gives the file another name, so that no process starts from it. It
// returns the name; that there is no file is no error.
func (f *File) SetAside() (name string, err error) {
	name = f.path + asideSuffix
	if info, err := os.Lstat(f.path); err == nil && info.IsDir() {
		return "", fmt.Errorf("setting the snapshot aside: %s is a folder", f.path)
	}
	if err := os.Rename(f.path, name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("setting the snapshot aside: %w", f.explain(err))
	}
	return name, nil
}

// Saved tells when a checkpoint was made.
func Saved(cp *cluster.Checkpoint) time.Time { return time.UnixMilli(cp.Registry.SavedMS) }
