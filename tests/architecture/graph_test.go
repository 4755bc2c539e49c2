// Package architecture holds tests of the shape of the whole module.
package architecture

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
)

const module = "github.com/etwgen/etwgen"

// A rule is a line of the table in ARCHITECTURE.md: the imports that the packages in a
// folder may have. The values become true when a package does.
type rule map[string]bool

var quoted = regexp.MustCompile("`([^`]+)`")

// rules reads the table, by folder.
func rules(t *testing.T) map[string]rule {
	page := testio.Read(t, "../../ARCHITECTURE.md")
	_, section, _ := strings.Cut(string(page), "## Who imports whom")
	section, _, _ = strings.Cut(section, "\n## ")
	all := map[string]rule{}
	for line := range strings.Lines(section) {
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		names := quoted.FindAllStringSubmatch(line, -1)
		r := rule{}
		for _, name := range names[1:] {
			r[name[1]] = false
		}
		all[names[0][1]] = r
	}
	if len(all) < 10 {
		t.Fatalf("ARCHITECTURE.md has a table of %d lines", len(all))
	}
	return all
}

func TestDependencyDirection(t *testing.T) {
	rules := rules(t)
	out, err := exec.Command("go", "list", "-f", "{{.ImportPath}}|{{join .Imports \" \"}}", module+"/...").CombinedOutput()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, out)
	}
	used := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		path, imports, _ := strings.Cut(strings.TrimSpace(line), "|")
		pkg := strings.TrimPrefix(path, module+"/")
		folder := longestPrefix(pkg, rules)
		if folder == "" {
			t.Errorf("package %s is not in the graph", pkg)
			continue
		}
		used[folder] = true
		for _, imported := range strings.Fields(imports) {
			name, ours := strings.CutPrefix(imported, module+"/")
			if !ours && !strings.Contains(strings.SplitN(imported, "/", 2)[0], ".") {
				continue // the standard library
			}
			if ours && under(name, folder) {
				continue
			}
			edge := longestPrefix(name, rules[folder])
			if edge == "" {
				t.Errorf("%s imports %s, against the graph", pkg, name)
				continue
			}
			rules[folder][edge] = true
		}
	}
	for folder, r := range rules {
		if !used[folder] {
			t.Errorf("the graph has %s, where no package is", folder)
		}
		for edge, used := range r {
			if !used {
				t.Errorf("the graph has an edge from %s to %s that no package uses", folder, edge)
			}
		}
	}
}

// longestPrefix returns the most special of the folders that a package lies
// under.
func longestPrefix[V any](pkg string, folders map[string]V) string {
	best := ""
	for f := range folders {
		if len(f) > len(best) && under(pkg, f) {
			best = f
		}
	}
	return best
}

// under reports whether pkg is the folder, or in it.
func under(pkg, folder string) bool {
	return pkg == folder || strings.HasPrefix(pkg, folder+"/")
}
