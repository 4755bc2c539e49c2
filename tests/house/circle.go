package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// A circle is files of a package that use each other: from each there is a way to each other
// one, by names that the next one declares. Who changes one has to know all.
type circle struct{ files, lines int }

// listed is a package as go list prints it.
type listed struct {
	Dir, ImportPath, Export string
	GoFiles                 []string
	ImportMap               map[string]string
	DepOnly                 bool
}

// circles returns the largest circle of each package of the module in root, by folder. Only
// files in written count, as this system builds them.
func circles(root string, written map[string]*file) (map[string]circle, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	packages, err := list(root)
	if err != nil {
		return nil, err
	}
	exports := map[string]string{}
	for _, p := range packages {
		exports[p.ImportPath] = p.Export
	}
	fset := token.NewFileSet()
	imports := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	found := map[string]circle{}
	for _, p := range packages {
		folder, err := filepath.Rel(root, p.Dir)
		if err != nil || p.DepOnly {
			continue
		}
		folder = filepath.ToSlash(folder)
		var files []*file
		for _, name := range p.GoFiles {
			if f := written[filepath.ToSlash(filepath.Join(folder, name))]; f != nil {
				files = append(files, f)
			}
		}
		if len(files) < 2 {
			continue
		}
		uses, err := usesOf(fset, imports, p)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.ImportPath, err)
		}
		found[folder] = largest(files, uses)
	}
	return found, nil
}

func list(root string) ([]*listed, error) {
	cmd := exec.Command("go", "list", "-deps", "-export", "-json=Dir,ImportPath,Export,GoFiles,ImportMap,DepOnly", "./...")
	cmd.Dir = root
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, stderr.Bytes())
	}
	var all []*listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		p := new(listed)
		if err := d.Decode(p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
}

// usesOf returns, for each file of a package, the files that declare what it uses: names,
// methods and fields.
func usesOf(fset *token.FileSet, imports types.Importer, p *listed) (map[string]map[string]bool, error) {
	var files []*ast.File
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	pkg, err := (&types.Config{Importer: imports}).Check(p.ImportPath, fset, files, info)
	if err != nil {
		return nil, err
	}
	fileOf := func(pos token.Pos) string { return filepath.Base(fset.File(pos).Name()) }
	uses := map[string]map[string]bool{}
	for ident, used := range info.Uses {
		if used.Pkg() != pkg || !used.Pos().IsValid() {
			continue
		}
		if from, to := fileOf(ident.Pos()), fileOf(used.Pos()); from != to {
			if uses[from] == nil {
				uses[from] = map[string]bool{}
			}
			uses[from][to] = true
		}
	}
	return uses, nil
}

// largest returns the circle with most lines: the files that a file reaches and that reach it.
func largest(files []*file, uses map[string]map[string]bool) circle {
	reached := map[string]map[string]bool{}
	for _, f := range files {
		reached[f.name] = map[string]bool{}
		reach(f.name, uses, reached[f.name])
	}
	var best circle
	for _, f := range files {
		var c circle
		for _, g := range files {
			if reached[f.name][g.name] && reached[g.name][f.name] {
				c.files++
				c.lines += g.lines
			}
		}
		if c.lines > best.lines {
			best = c
		}
	}
	return best
}

func reach(name string, uses map[string]map[string]bool, seen map[string]bool) {
	for next := range uses[name] {
		if !seen[next] {
			seen[next] = true
			reach(next, uses, seen)
		}
	}
}
