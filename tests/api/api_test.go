// Package api holds the exported names of the module's packages as text, a file
// for each package, so that a change of one shows in review.
package api

import (
	"bytes"
	"flag"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/google/go-cmp/cmp"
)

const module = "github.com/etwgen/etwgen"

var update = flag.Bool("update", false, "rewrite the files")

// TestAPI compares the exports of each package with the file of its name.
func TestAPI(t *testing.T) {
	pkgs := load(t)
	want := make(map[string]string)
	files, err := filepath.Glob("*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text := testio.Read(t, file)
		want[file] = string(text)
	}
	got := make(map[string]string)
	for path, lines := range pkgs {
		file := strings.ReplaceAll(strings.TrimPrefix(path, module+"/"), "/", ".") + ".txt"
		got[file] = strings.Join(lines, "\n") + "\n"
	}
	if len(got) < 6 {
		t.Errorf("only %d packages", len(got))
	}
	if *update {
		write(t, want, got)
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what packages export has changed; if it is meant to, run go test ./tests/api -update (-file +now):\n%s", diff)
	}
}

// write replaces the files of before by those of now.
func write(t *testing.T, before, now map[string]string) {
	for file, text := range now {
		if before[file] != text {
			if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
				t.Error(err)
			}
		}
	}
	for file := range before {
		if _, ok := now[file]; !ok {
			if err := os.Remove(file); err != nil {
				t.Error(err)
			}
		}
	}
}

// load compiles the packages and returns the exports of each, a line for each constant,
// variable, function, type, field and method. They are compiled for one system whatever the
// test runs on.
func load(t *testing.T) map[string][]string {
	t.Helper()
	cmd := exec.Command("go", "list", "-deps", "-export", "-f", "{{.ImportPath}}\t{{.Name}}\t{{.Export}}", module+"/...")
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, &stderr)
	}
	compiled := make(map[string]string)
	var public []string
	for line := range strings.Lines(string(out)) {
		v := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		compiled[v[0]] = v[2]
		if isPublic(v[0], v[1]) {
			public = append(public, v[0])
		}
	}
	fset := token.NewFileSet()
	from := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(compiled[path])
	})
	all := make(map[string][]string)
	for _, path := range public {
		pkg, err := from.Import(path)
		if err != nil {
			t.Fatal(err)
		}
		if lines := exports(fset, pkg); len(lines) > 0 {
			all[path] = lines
		}
	}
	return all
}

// isPublic reports whether a package is one that users import.
func isPublic(path, name string) bool {
	rest, ours := strings.CutPrefix(path, module+"/")
	if !ours || name == "main" {
		return false
	}
	folders := strings.Split(rest, "/")
	return folders[0] != "tests" && folders[0] != "examples" && !slices.Contains(folders, "internal")
}

// exports returns a sorted line for each exported thing of a package that a
// person wrote: generated code follows from its manifest.
func exports(fset *token.FileSet, pkg *types.Package) []string {
	lines := make(map[string]bool)
	byHand := func(o types.Object) bool {
		return o.Exported() && !strings.HasSuffix(fset.Position(o.Pos()).Filename, ".etw.go")
	}
	qualifier := types.RelativeTo(pkg)
	short := func(p *types.Package) string {
		if qualifier(p) == "" {
			return ""
		}
		return p.Name()
	}
	add := func(format string, args ...any) { lines[fmt.Sprintf(format, args...)] = true }
	for _, name := range pkg.Scope().Names() {
		o := pkg.Scope().Lookup(name)
		if tn, ok := o.(*types.TypeName); ok && o.Exported() {
			if named, ok := tn.Type().(*types.Named); ok && !tn.IsAlias() {
				for m := range named.Methods() {
					if byHand(m) {
						add("%s", types.ObjectString(m, short))
					}
				}
			}
		}
		if !byHand(o) {
			continue
		}
		switch o := o.(type) {
		case *types.Const:
			add("const %s %s = %s", name, types.TypeString(o.Type(), short), o.Val().ExactString())
		case *types.TypeName:
			s, isStruct := o.Type().Underlying().(*types.Struct)
			if o.IsAlias() || !isStruct {
				add("%s", types.ObjectString(o, short))
				break
			}
			head, _, _ := strings.Cut(types.ObjectString(o, short), " struct{")
			add("%s struct", head)
			for f := range s.Fields() {
				switch {
				case f.Exported() && f.Embedded():
					add("%s struct, embeds %s", head, types.TypeString(f.Type(), short))
				case f.Exported():
					add("%s struct, %s %s", head, f.Name(), types.TypeString(f.Type(), short))
				}
			}
		default:
			add("%s", types.ObjectString(o, short))
		}
	}
	return slices.Sorted(maps.Keys(lines))
}
