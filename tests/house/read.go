package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// A file is one that people write, tests aside.
type file struct {
	folder, name    string
	lines, comments int
	excused         bool // the comment on its package says why it is long
	funcs           []function
}

// A function is one with a name, and all that is inside.
type function struct {
	name              string
	lines, complexity int
	excused           bool
}

func (f *file) path() string { return path.Join(f.folder, f.name) }

// readTree reads all files below root, those of nested modules and of other systems, too.
func readTree(root string) ([]*file, error) {
	var all []*file
	fset := token.NewFileSet()
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		switch name := d.Name(); {
		case err != nil:
			return err
		case d.IsDir() && p != root && (name[0] == '.' || name[0] == '_' || name == "testdata"):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		folder, err := filepath.Rel(root, filepath.Dir(p))
		if err != nil {
			return err
		}
		f, err := readFile(fset, p)
		if f != nil {
			f.folder, f.name = filepath.ToSlash(folder), d.Name()
			all = append(all, f)
		}
		return err
	})
	return all, err
}

// readFile returns nothing for a file that is generated.
func readFile(fset *token.FileSet, p string) (*file, error) {
	data, err := os.ReadFile(p)
	if err != nil {
		return nil, err
	}
	syntax, err := parser.ParseFile(fset, p, data, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil || ast.IsGenerated(syntax) {
		return nil, err
	}
	lines := func(from, to token.Pos) int { return fset.Position(to).Line - fset.Position(from).Line + 1 }
	f := &file{}
	for line := range strings.Lines(string(data)) {
		f.lines++
		if strings.HasPrefix(strings.TrimSpace(line), "//") {
			f.comments++
		}
	}
	for _, group := range syntax.Comments {
		f.excused = f.excused || group.Pos() < syntax.Package && excuses(group)
	}
	for _, decl := range syntax.Decls {
		if d, ok := decl.(*ast.FuncDecl); ok {
			f.funcs = append(f.funcs, function{nameOf(d), lines(d.Pos(), d.End()), complexity(d), excuses(d.Doc)})
		}
	}
	return f, nil
}

// excuses reports whether a comment has a paragraph such as "Long: one case for each type."
func excuses(doc *ast.CommentGroup) bool {
	for line := range strings.Lines(doc.Text()) {
		if strings.HasPrefix(line, "Long: ") {
			return true
		}
	}
	return false
}

func nameOf(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return d.Name.Name
	}
	typ := d.Recv.List[0].Type
	for {
		switch t := typ.(type) {
		case *ast.StarExpr:
			typ = t.X
		case *ast.IndexExpr:
			typ = t.X
		case *ast.IndexListExpr:
			typ = t.X
		default:
			return typ.(*ast.Ident).Name + "." + d.Name.Name
		}
	}
}

// complexity counts the ways through a function, as McCabe did: 1, and 1 for each branch,
// each loop, each case, and each && and ||.
func complexity(d *ast.FuncDecl) int {
	n := 1
	ast.Inspect(d, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
			n++
		case *ast.CaseClause:
			if node.List != nil {
				n++
			}
		case *ast.CommClause:
			if node.Comm != nil {
				n++
			}
		case *ast.BinaryExpr:
			if node.Op == token.LAND || node.Op == token.LOR {
				n++
			}
		}
		return true
	})
	return n
}
