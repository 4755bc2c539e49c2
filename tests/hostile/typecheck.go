package main

import (
	"bytes"
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
	"regexp"
	"strconv"
	"strings"

	"github.com/etwgen/etwgen/gen"
)

// A checker checks the types of generated packages against their imports, of which it has
// the compiler's export data.
type checker struct {
	exports  map[string]string // files, by import path
	fset     *token.FileSet
	importer types.Importer
	checked  int
}

// allowed is the imports that generated code may have.
var allowed = []string{
	"github.com/etwgen/etwgen/runtime/etw", "github.com/etwgen/etwgen/runtime/etwtest", "testing", "bytes", "encoding/binary", "iter", "log/slog", "math", "strconv",
}

// newChecker finds the export data.
func newChecker() (*checker, error) {
	cmd := exec.Command("go", append([]string{"list", "-export", "-deps", "-f", "{{.ImportPath}}={{.Export}}"}, allowed...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	c := &checker{exports: make(map[string]string)}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), "=")
		c.exports[path] = file
	}
	return c, nil
}

// renew forgets the positions of files that were checked, from time to time.
func (c *checker) renew() {
	if c.checked%1000 == 0 {
		c.fset = token.NewFileSet()
		c.importer = importer.ForCompiler(c.fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(c.exports[path]) })
	}
	c.checked++
}

// files checks that files are formatted and make a package that compiles, also
// where an int has 32 bits.
func (c *checker) files(files []gen.File) error {
	c.renew()
	var parsed []*ast.File
	for _, f := range files {
		if f.Name == gen.GoldenFile { // which is no code
			continue
		}
		file, err := parser.ParseFile(c.fset, f.Name, f.Content, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		parsed = append(parsed, file)
		if formatted, err := format.Source(f.Content); err != nil || !bytes.Equal(formatted, f.Content) {
			return fmt.Errorf("%s is not formatted (%v)", f.Name, err)
		}
	}
	var errs []error
	conf := types.Config{
		Importer: c.importer,
		Sizes:    types.SizesFor("gc", "386"),
		Error: func(err error) {
			if len(errs) < 3 {
				errs = append(errs, err)
			}
		},
	}
	conf.Check("p", c.fset, parsed, nil)
	return errors.Join(errs...)
}

// goldenLine is a line of a file with payloads: a comment, or a type, its payload and its text.
var goldenLine = regexp.MustCompile(`(?m)^(#[^\x00-\x1f]*|\pL[\pL\pN_]* 0x[0-9a-f]* [^\x00-\x1f]*)\n`)

// injected reports whether anything from a manifest got into the code as other
// than a name, the text of a comment or a quoted string: an import, a function
// that runs by itself, a directive, a file with a name of its own.
func injected(files []gen.File) error {
	for _, f := range files {
		if f.Name == gen.GoldenFile {
			if line := goldenLine.ReplaceAll(f.Content, nil); len(line) > 0 {
				return fmt.Errorf("a line of payloads that is not one: %q", line)
			}
			continue
		}
		if strings.ContainsAny(f.Name, "/\\ \x00") || !strings.HasSuffix(f.Name, ".go") {
			return fmt.Errorf("a file named %q", f.Name)
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, f.Name, f.Content, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		if file.Name.Name != "p" {
			return fmt.Errorf("package %s", file.Name.Name)
		}
		for _, i := range file.Imports {
			path, _ := strconv.Unquote(i.Path.Value)
			if !isAllowed(path) && !(path == "fmt" && strings.HasSuffix(f.Name, "_test.go")) { // for examples
				return fmt.Errorf("it imports %q", path)
			}
		}
		for _, d := range file.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && (fn.Name.Name == "init" || fn.Name.Name == "main") {
				return fmt.Errorf("it has a func %s", fn.Name.Name)
			}
		}
		for _, group := range file.Comments {
			for _, line := range group.List {
				if isDirective(line.Text) {
					return fmt.Errorf("a directive: %q", line.Text)
				}
			}
		}
	}
	return nil
}

func isAllowed(path string) bool {
	for _, a := range allowed {
		if a == path {
			return true
		}
	}
	return false
}

// isDirective reports whether the tools of Go take a comment for more than that.
func isDirective(comment string) bool {
	for _, prefix := range []string{"//go:", "//line ", "/*line ", "//export ", "//extern ", "// +build", "//+build", "#cgo"} {
		if strings.HasPrefix(comment, prefix) {
			return true
		}
	}
	return strings.HasPrefix(comment, "/*")
}
