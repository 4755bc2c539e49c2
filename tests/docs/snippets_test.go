package docs

import (
	"fmt"
	"go/ast"
	doc "go/doc/comment"
	"go/parser"
	"go/token"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
)

// given is the declarations that the text before a snippet implies: no more than a user's
// own.
var given = map[string]string{
	"ctx": "context.Context", "mux": "etw.Mux", "source": "etw.Source", "t": "*testing.T", "pid": "int", "process": "int64",
	"address": "uint64", "rva": "uint32", "data": "[]byte", "out": "*os.File", "events": "[]byte", "end": "[]byte", "event": "uintptr",
	"chosen": "func(*etw.Record) bool", "res": "*analysis.Result", "resultA": "*analysis.Result", "resultB": "*analysis.Result",
	"method": "symbols.Method", "il": "int", "r": "*etw.Record",
}

// standard are the packages of Go that snippets use.
var standard = []string{"context", "fmt", "log", "log/slog", "os", "testing", "time", "unsafe"}

// isCode tells code from tables, which comments set the same way.
var isCode = regexp.MustCompile(`:=|\bfunc\b|\bvar\b|err\b|\w\(.*\)`)

// TestSnippets compiles the code in the comments of packages as a user pastes it: into a
// function, with its imports.
func TestSnippets(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles programs")
	}
	out, err := exec.Command("go", "list", "-f", "{{.ImportPath}} {{.Dir}}", root+"/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	paths := make(map[string]string) // of packages, by their names
	for _, p := range standard {
		paths[path.Base(p)] = p
	}
	var dirs [][2]string
	for line := range strings.Lines(string(out)) {
		importPath, dir, _ := strings.Cut(strings.TrimSpace(line), " ")
		if regexp.MustCompile(`/(internal|cmd|tests|examples|testdata)(/|$)`).MatchString(importPath) {
			continue
		}
		paths[path.Base(importPath)] = importPath
		dirs = append(dirs, [2]string{importPath, dir})
	}
	paths["shop"] = "github.com/etwgen/etwgen/examples/service/events"
	module := testio.Abs(t, root)
	dir := t.TempDir()
	files := make(map[string]string)
	packages := []string{"build", "-overlay", filepath.Join(dir, "overlay.json")}
	for _, d := range dirs {
		for i, code := range snippets(t, d[1]) {
			text, err := whole(code, paths)
			if err != nil {
				t.Errorf("%s: %v in\n%s", d[0], err, code)
				continue
			}
			name := fmt.Sprintf("snippets/%s%d", strings.ReplaceAll(strings.TrimPrefix(d[0], "github.com/etwgen/etwgen/"), "/", "_"), i)
			source := filepath.Join(dir, fmt.Sprintf("%d.go", len(files)))
			write(t, source, text)
			files[filepath.Join(module, "tests", "docs", name, "x.go")] = source
			packages = append(packages, "./"+name)
		}
	}
	if len(files) < 25 {
		t.Errorf("only %d snippets were found", len(files))
	}
	overlay := testio.Marshal(t, map[string]any{"Replace": files})
	write(t, filepath.Join(dir, "overlay.json"), string(overlay))
	if out, err := exec.Command("go", packages...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// snippets returns the code in the comment of a package.
func snippets(t *testing.T, dir string) (list []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range new(doc.Parser).Parse(f.Doc.Text()).Content {
			if code, ok := block.(*doc.Code); ok && isCode.MatchString(code.Text) {
				list = append(list, code.Text)
			}
		}
	}
	return list
}

// whole returns a file with a snippet, which declares the parts left to the user.
func whole(code string, paths map[string]string) (string, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "x.go", "package x\n"+code, 0)
	if err != nil {
		begin := "package x\nfunc _() error {\n"
		code += "\n"
		if f, err = parser.ParseFile(fset, "x.go", begin+code+"return nil\n}", 0); err != nil {
			return "", err
		}
		for _, s := range f.Decls[0].(*ast.FuncDecl).Body.List {
			if s, ok := s.(*ast.AssignStmt); ok && s.Tok == token.DEFINE {
				for _, left := range s.Lhs { // which the user uses later
					if name := left.(*ast.Ident).Name; name != "_" {
						code += "use(" + name + ")\n"
					}
				}
			}
		}
		code = "func _() error {\n" + code + "return nil\n}\nfunc use(any) {}\n"
	}
	imports, vars := "", ""
	seen := make(map[string]bool)
	need := func(name string) {
		if p := paths[name]; p != "" && !seen[name] {
			seen[name] = true
			imports += fmt.Sprintf("import %s %q\n", name, p)
		}
	}
	for _, id := range f.Unresolved {
		if kind, ok := given[id.Name]; ok && !seen[id.Name] {
			seen[id.Name] = true
			vars += "var " + id.Name + " " + kind + "\n"
			need(strings.TrimLeft(strings.TrimPrefix(strings.Split(kind, ".")[0], "func("), "*"))
			continue
		}
		need(id.Name)
	}
	return "package x\n" + imports + vars + code, nil
}

// TestWholeFinds plants code that must not compile.
func TestWholeFinds(t *testing.T) {
	text, err := whole("x := etw.Nothing(ctx)\n", map[string]string{"etw": "github.com/etwgen/etwgen/runtime/etw", "context": "context"})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"import etw ", "import context ", "var ctx context.Context", "use(x)"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if _, err := whole("x := := 1", nil); err == nil {
		t.Error("what is no code is taken")
	}
}
