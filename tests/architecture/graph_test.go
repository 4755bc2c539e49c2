// Package architecture holds tests of the shape of the whole module.
package architecture

import (
	"os/exec"
	"strings"
	"testing"
)

const module = "github.com/etwgen/etwgen"

// The packages of the module that each package may import, by prefix. What is
// not listed may import none. ARCHITECTURE.md draws the same graph.
var mayImport = map[string][]string{
	"cmd/etwgen":       {"gen", "manifest"},
	"cmd/etw":          {"generated", "runtime", "manifest", "internal"},
	"gen":              {"manifest"},
	"manifest":         {},
	"generated":        {"runtime/etw", "runtime/etwtest"},
	"runtime/etw":      {},
	"runtime/etwtest":  {"runtime/etw"},
	"runtime/etl":      {"runtime/etw", "runtime/etl"},
	"runtime/nettrace": {"runtime/etw", "runtime/nettrace"},
	"internal":         {"generated", "runtime", "manifest", "internal"},
	"examples":         {"generated", "runtime"},
	"tests":            {"cmd", "gen", "generated", "runtime", "manifest", "internal", "tests"},
}

// The modules that packages may import from outside the standard library.
var mayRequire = map[string][]string{
	"cmd/etwgen": {"github.com/spf13/cobra", "github.com/spf13/pflag", "github.com/rogpeppe/go-internal/diff"},
	"cmd/etw":    {"github.com/spf13/cobra", "github.com/spf13/pflag", "golang.org/x/sys"},
	"gen":        {"github.com/dave/jennifer"},
	"manifest":   {"github.com/beevik/etree"},
	"internal":   {"golang.org/x/sys"},
	"tests":      {"github.com/google/go-cmp", "github.com/rogpeppe/go-internal"},
}

func TestDependencyDirection(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", "{{.ImportPath}}|{{join .Imports \" \"}}", module+"/...").CombinedOutput()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, out)
	}
	packages := 0
	for line := range strings.Lines(string(out)) {
		path, imports, _ := strings.Cut(strings.TrimSpace(line), "|")
		rel := strings.TrimPrefix(path, module+"/")
		from := area(rel)
		if from == "" {
			t.Errorf("package %s is in no area of the graph", rel)
			continue
		}
		packages++
		for _, imported := range strings.Fields(imports) {
			switch {
			case strings.HasPrefix(imported, module+"/"):
				to := strings.TrimPrefix(imported, module+"/")
				if !under(to, mayImport[from]) && !under(to, []string{from}) {
					t.Errorf("%s imports %s, against the graph", rel, to)
				}
			case strings.Contains(strings.SplitN(imported, "/", 2)[0], "."):
				if !under(imported, mayRequire[from]) {
					t.Errorf("%s imports %s, which %s may not", rel, imported, from)
				}
			}
		}
	}
	if packages < 8 {
		t.Errorf("saw only %d packages", packages)
	}
}

// area returns the longest key of mayImport that the package lies under.
func area(pkg string) string {
	best := ""
	for a := range mayImport {
		if len(a) > len(best) && under(pkg, []string{a}) {
			best = a
		}
	}
	return best
}

// under reports whether pkg is one of the folders, or in one of them.
func under(pkg string, folders []string) bool {
	for _, f := range folders {
		if pkg == f || strings.HasPrefix(pkg, f+"/") {
			return true
		}
	}
	return false
}
