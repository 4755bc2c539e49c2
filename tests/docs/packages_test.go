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

// longestSynopsis is the length that go list and pkg.go.dev show in a line or two.
const longestSynopsis = 240

// documented returns the missing parts of the package in a folder.
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

// TestGround checks that the comment of runtime/etw has the names that programs use on its first
// screen, and those for generated code behind it, under a heading.
func TestGround(t *testing.T) {
	const screen = 50 // lines
	f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, "runtime/etw/doc.go"), nil, parser.PackageClauseOnly|parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	users, generated, found := strings.Cut(string(new(doc.Package).Text(f.Doc.Text())), "# For generated code\n")
	if lines := strings.Count(users, "\n"); !found || lines > screen {
		t.Errorf("%d lines before the heading (found: %t), more than %d", lines, found, screen)
	}
	for _, name := range []string{"Handle", "Mux", "Records", "Decoder", "Field", "AppendText", "MakeUTF16"} {
		if !regexp.MustCompile(`\b` + name + `\b`).MatchString(users) {
			t.Errorf("%s is not among the names that programs use", name)
		}
	}
	for _, name := range []string{"Cursor", "Appender", "UintValue", "EnforceVersion"} {
		if !regexp.MustCompile(`\b` + name + `\b`).MatchString(generated) {
			t.Errorf("%s is not among the names of generated code", name)
		}
	}
}
