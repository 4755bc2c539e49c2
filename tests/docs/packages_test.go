package docs

import (
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestPackages checks that every package that users can import begins with one sentence
// and says when to use it, and that it has an example.
func TestPackages(t *testing.T) {
	cmd := exec.Command("go", "list", "-f", "{{.Name}}|{{.ImportPath}}|{{.Dir}}", "./...")
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	checked := 0
	for line := range strings.Lines(string(out)) {
		parts := strings.Split(strings.TrimSpace(line), "|")
		if len(parts) != 3 || parts[0] == "main" || notForUsers.MatchString(parts[1]) {
			continue
		}
		if err := documented(parts[0], parts[2]); err != nil {
			t.Errorf("%s %v", parts[1], err)
		}
		checked++
	}
	if checked < 80 {
		t.Errorf("only %d packages were found", checked)
	}
}

var notForUsers = regexp.MustCompile(`/internal(/|$)|/tests(/|$)|/examples(/|$)`)

// longestSynopsis is what go list and pkg.go.dev show in a line or two.
const longestSynopsis = 240

// documented returns what is missing at the package in a folder.
func documented(name, dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return err
	}
	text, examples := "", 0
	for _, path := range files {
		mode := parser.PackageClauseOnly | parser.ParseComments
		if strings.HasSuffix(path, "_test.go") {
			mode = parser.SkipObjectResolution
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, mode)
		switch {
		case err != nil:
			return err
		case !strings.HasSuffix(path, "_test.go"):
			text += f.Doc.Text()
		default:
			examples += countExamples(f)
		}
	}
	first, _, _ := strings.Cut(text, "\n\n")
	first = strings.Join(strings.Fields(first), " ") // lines break anywhere
	synopsis := new(doc.Package).Synopsis(text)
	switch {
	case !strings.HasPrefix(synopsis, "Package "+name+" ") || !strings.HasSuffix(synopsis, "."):
		return fmt.Errorf("does not begin with a sentence: %q", synopsis)
	case len(synopsis) > longestSynopsis:
		return fmt.Errorf("begins with a sentence of %d characters: %q", len(synopsis), synopsis)
	case !strings.Contains(first, "Use it") && !strings.Contains(synopsis, " has the events of "):
		return fmt.Errorf("does not say when to use it: %q", first)
	case examples == 0:
		return fmt.Errorf("has no example")
	}
	return nil
}

func countExamples(f *ast.File) int {
	n := 0
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "Example") {
			n++
		}
	}
	return n
}
