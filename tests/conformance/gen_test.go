// Package conformance holds the generator and the readers against the corpus:
// everything that others have written and we must take as it is.
package conformance

import (
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/etwgen/etwgen/gen"
	"github.com/etwgen/etwgen/manifest"
	"github.com/etwgen/etwgen/tests/corpus"
)

// A folder of manifests of the corpus.
type folder struct {
	name    string
	lenient bool // dumps of registered providers
}

var folders = []folder{
	{"clr", false},
	{"handwritten", false},
	{"handwritten", true},
	{"perfview", false},
	{"perfview", true},
	{"win7-7600", true},
	{"win10-17134", true},
}

// String names the folder and the mode that it is read in.
func (f folder) String() string {
	if f.lenient {
		return f.name + ", lenient"
	}
	return f.name + ", strict"
}

// everything reports whether to test all of the corpus rather than a sample of
// it.
func everything() bool { return os.Getenv("ETWGEN_CONFORMANCE") == "all" }

// sampled returns every nth path of a long list.
func sampled(paths []string) []string {
	enough := 40 / corpus.Every(4)
	if everything() || len(paths) <= enough {
		return paths
	}
	step := len(paths) / enough
	var list []string
	for i := 0; i < len(paths); i += step {
		list = append(list, paths[i])
	}
	return list
}

// tally counts the outcomes of the manifests of a folder.
type tally struct {
	sync.Mutex
	manifests, accepted int
	providers           int
	events, compiled    int
	bytes               int
	refused             []string
}

// TestGenerateEverything generates a package for every provider of every
// manifest that is accepted, and checks its types.
func TestGenerateEverything(t *testing.T) {
	check := newChecker(t)
	for _, f := range folders {
		t.Run(f.String(), func(t *testing.T) {
			var sum tally
			start := time.Now()
			paths := corpus.Glob(t, "manifests", f.name, "*")
			work := make(chan string)
			var group sync.WaitGroup
			for range runtime.GOMAXPROCS(0) {
				group.Go(func() {
					for path := range work {
						generate(t, check, path, f.lenient, &sum)
					}
				})
			}
			for _, path := range sampled(paths) {
				work <- path
			}
			close(work)
			group.Wait()
			for _, r := range sum.refused {
				t.Log("not accepted:", r)
			}
			t.Logf("%s: %d of %d manifests accepted; of these %d of %d events compile, in %d packages, %d kB of Go; %.0f events per second parsed, generated and checked",
				f, sum.accepted, sum.manifests, sum.compiled, sum.events, sum.providers, sum.bytes>>10, float64(sum.events)/time.Since(start).Seconds())
			if sum.compiled != sum.events {
				t.Errorf("%s: %d of %d events do not compile", f, sum.events-sum.compiled, sum.events)
			}
		})
	}
}

// generate generates and checks the packages of one manifest.
func generate(t *testing.T, check *checker, path string, lenient bool, sum *tally) {
	name := filepath.Base(path)
	m, _, err := manifest.ParseFile(path, manifest.Options{Lenient: lenient})
	sum.Lock()
	sum.manifests++
	if err != nil {
		sum.refused = append(sum.refused, fmt.Sprintf("%s: %v", name, err))
		sum.Unlock()
		return
	}
	sum.accepted++
	sum.Unlock()
	for i, p := range m.Providers {
		files, err := gen.Generate(m, gen.Options{Package: "p", Provider: fmt.Sprintf("#%d", i+1), Lenient: lenient, Tests: true})
		if err == nil {
			err = check.files(files)
		}
		sum.Lock()
		sum.events += len(p.Events)
		sum.providers++
		for _, f := range files {
			sum.bytes += len(f.Content)
		}
		if err == nil {
			sum.compiled += len(p.Events)
		} else {
			t.Errorf("%s: provider %s: %v", name, p.Name, err)
		}
		sum.Unlock()
	}
}

// A checker checks the types of generated packages.
type checker struct {
	exports map[string]string // the files with the export data of packages, by import path
}

// newChecker finds the export data of all that generated code imports.
func newChecker(t testing.TB) *checker {
	t.Helper()
	cmd := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}}={{.Export}}",
		"github.com/etwgen/etwgen/runtime/etw", "github.com/etwgen/etwgen/runtime/etwtest", "testing", "bytes", "encoding/binary", "iter", "log/slog", "math")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal("go list:", err)
	}
	c := &checker{exports: make(map[string]string)}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), "=")
		c.exports[path] = file
	}
	return c
}

// files checks that files are formatted and compile as a package.
func (c *checker) files(files []gen.File) error {
	fset := token.NewFileSet()
	var parsed []*ast.File
	for _, f := range files {
		if f.Name == gen.GoldenFile { // which is no code
			continue
		}
		file, err := parser.ParseFile(fset, f.Name, f.Content, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			return err
		}
		parsed = append(parsed, file)
		if formatted, err := format.Source(f.Content); err != nil || string(formatted) != string(f.Content) {
			return fmt.Errorf("%s is not formatted (%v)", f.Name, err)
		}
	}
	var errs []error
	conf := types.Config{
		Importer: importer.ForCompiler(fset, "gc", c.open),
		Error: func(err error) {
			if len(errs) < 10 {
				errs = append(errs, err)
			}
		},
		Sizes: types.SizesFor("gc", "386"), // int has 32 bits on some targets
	}
	conf.Check("p", fset, parsed, nil)
	return errors.Join(errs...)
}

func (c *checker) open(path string) (io.ReadCloser, error) {
	file, ok := c.exports[path]
	if !ok {
		return nil, fmt.Errorf("generated code imports %s", path)
	}
	return os.Open(file)
}
