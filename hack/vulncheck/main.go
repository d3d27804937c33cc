// Command vulncheck looks for known vulnerabilities that the programs can reach, from
// the top of the repository, those of the standard library of the Go that runs it among
// them. The database is the newest that the Go module proxy has, in the module cache. It
// ends with 1 when there are some, and with 2, saying so, when not all was checked.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"
)

const (
	// source is a module that holds the entries of the Go vulnerability database.
	source = "golang.org/x/vulndb@latest"
	// maxAge is how old the database may be: it grows by dozens of entries each week.
	maxAge = 60 * 24 * time.Hour
	// canary is a module with vulnerabilities that a database without them does not have.
	canary = "golang.org/x/net@v0.1.0"

	vulnerable = 1
	notChecked = 2
	// foundCode is with what govulncheck ends when it has found something.
	foundCode = 3
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx)
	stop()
	os.Exit(code)
}

func run(ctx context.Context) int {
	db, err := download(ctx, time.Now())
	if err == nil {
		db.reader, err = build(ctx)
	}
	if err == nil {
		err = db.try(ctx)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "vulncheck: NOT CHECKED:", err)
		return notChecked
	}
	fmt.Printf("vulncheck: %s, database of %s, %s\n", runtime.Version(), db.made.Format(time.DateOnly), db.version)
	code := 0
	for _, r := range released() {
		switch err := db.scan(ctx, r); {
		case err == nil:
		case ended(err, foundCode):
			fmt.Fprintf(os.Stderr, "vulncheck: the programs for %s can reach what is listed above\n", r.system)
			code = vulnerable
		default:
			fmt.Fprintf(os.Stderr, "vulncheck: NOT CHECKED: the programs for %s: %v\n", r.system, err)
			return notChecked
		}
	}
	return code
}

// programs are packages of commands and the system, a GOOS, that they are built for.
type programs struct{ system, packages string }

// released are the programs that hack/release builds.
func released() []programs {
	const plugin = "./cmd/kubectl-kureka"
	return []programs{{"linux", "./cmd/..."}, {"darwin", plugin}, {"windows", plugin}}
}

// database is a folder with an entry per file.
type database struct {
	dir, version string
	made         time.Time
	reader       string // path of govulncheck, for this machine whatever is scanned
}

// download gets the newest database. One that is too old counts as none.
func download(ctx context.Context, now time.Time) (db database, err error) {
	var module struct{ Dir, Version, Info string }
	if err := decode(ctx, &module, "go", "mod", "download", "-json", source); err != nil {
		return db, fmt.Errorf("no database: %w", err)
	}
	var info struct{ Time time.Time }
	text, err := os.ReadFile(module.Info)
	if err == nil {
		err = json.Unmarshal(text, &info)
	}
	if err != nil {
		return db, fmt.Errorf("reading the database's time: %w", err)
	}
	db = database{dir: filepath.Join(module.Dir, "data", "osv"), version: module.Version, made: info.Time}
	return db, db.fresh(now)
}

// build builds govulncheck, unless it is there, and returns its path.
func build(ctx context.Context) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "tool", "-modfile=hack/tools/go.mod", "-n", "govulncheck")
	cmd.Stderr = os.Stderr
	path, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("building govulncheck: %w", err)
	}
	return strings.TrimSpace(string(path)), nil
}

// fresh tells whether the database is young enough to rely on.
func (db database) fresh(now time.Time) error {
	if age := now.Sub(db.made); age > maxAge {
		return fmt.Errorf("the newest database is %d days old, more than %d", age/(24*time.Hour), maxAge/(24*time.Hour))
	}
	return nil
}

// try finds out whether the database is read: one without entries would pass everything.
func (db database) try(ctx context.Context) error {
	cmd := db.command(ctx, "-mode=query", "-json", canary)
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("trying the database: %w", err)
	}
	if !bytes.Contains(text, []byte(`"osv"`)) {
		return fmt.Errorf("the database knows nothing of %s", canary)
	}
	return nil
}

// scan looks at programs as a release has them. It prints what it finds.
func (db database) scan(ctx context.Context, p programs) error {
	fmt.Println("vulncheck: looking at the programs for", p.system)
	cmd := db.command(ctx, p.packages)
	cmd.Env = append(os.Environ(), "GOOS="+p.system, "CGO_ENABLED=0", "GOFLAGS=-mod=readonly")
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	_, _ = os.Stdout.Write(shorten(text)) // the code says it, too
	if err != nil {
		return fmt.Errorf("scanning: %w", err)
	}
	return nil
}

// trace is an example of how something is reached, but for the first two.
var trace = regexp.MustCompile(`(?m)^ +#([3-9]|\d\d+): .*\n`)

// shorten leaves two examples of what can be more than a hundred.
func shorten(text []byte) []byte { return trace.ReplaceAll(text, nil) }

// command is govulncheck with the database.
func (db database) command(ctx context.Context, args ...string) *exec.Cmd {
	return exec.CommandContext(ctx, db.reader, append([]string{"-db=file://" + filepath.ToSlash(db.dir)}, args...)...)
}

// decode runs a command and decodes what it prints.
func decode(ctx context.Context, into any, command ...string) error {
	var out, problems bytes.Buffer
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%w: %s%s", err, problems.Bytes(), out.Bytes())
	}
	if err := json.Unmarshal(out.Bytes(), into); err != nil {
		return fmt.Errorf("reading what %s prints: %w", command[0], err)
	}
	return nil
}

// ended tells whether an error is that of a command that ended with a code.
func ended(err error, code int) bool {
	exit, ok := errors.AsType[*exec.ExitError](err)
	return ok && exit.ExitCode() == code
}
