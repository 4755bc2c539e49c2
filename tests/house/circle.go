package main

import (
	"bytes"
	"cmp"
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
	"slices"
)

// A circle is files of a package that use each other: from each there is a way to each other
// one, by names that the next one declares. Who changes one has to know all.
type circle struct {
	files, lines int
	arrows       []arrow // the weakest first, which are the ones to cut
}

// An arrow is the names by which a file uses another one.
type arrow struct {
	from, to string
	names    []string
}

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
		used, err := usesOf(fset, imports, p)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.ImportPath, err)
		}
		found[folder] = largest(files, used)
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

// uses has, for each file of a package, the files that declare the things it uses: names,
// methods and fields.
type uses map[string]map[string][]string

func usesOf(fset *token.FileSet, imports types.Importer, p *listed) (uses, error) {
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
	all := uses{}
	for ident, used := range info.Uses {
		if used.Pkg() != pkg || !used.Pos().IsValid() {
			continue
		}
		if from, to := fileOf(ident.Pos()), fileOf(used.Pos()); from != to {
			if all[from] == nil {
				all[from] = map[string][]string{}
			}
			if !slices.Contains(all[from][to], ident.Name) {
				all[from][to] = append(all[from][to], ident.Name)
			}
		}
	}
	return all, nil
}

// largest returns the circle with most lines: the files that a file reaches and that reach it.
func largest(files []*file, all uses) circle {
	reached := map[string]map[string]bool{}
	for _, f := range files {
		reached[f.name] = map[string]bool{}
		all.reach(f.name, reached[f.name])
	}
	var best circle
	for _, f := range files {
		var c circle
		for _, g := range files {
			if reached[f.name][g.name] && reached[g.name][f.name] {
				c.files++
				c.lines += g.lines
				for to, names := range all[g.name] {
					if reached[f.name][to] && reached[to][f.name] {
						c.arrows = append(c.arrows, arrow{g.name, to, slices.Sorted(slices.Values(names))})
					}
				}
			}
		}
		if c.lines > best.lines {
			best = c
		}
	}
	slices.SortFunc(best.arrows, func(a, b arrow) int {
		return cmp.Or(cmp.Compare(len(a.names), len(b.names)), cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
	})
	return best
}

func (all uses) reach(name string, seen map[string]bool) {
	for next := range all[name] {
		if !seen[next] {
			seen[next] = true
			all.reach(next, seen)
		}
	}
}
