package main

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/etwgen/etwgen/gen"
	"github.com/etwgen/etwgen/internal/directive"
	"github.com/etwgen/etwgen/internal/fingerprint"
)

// originOf returns how the package pkg in dir is made again by gen with these flags, of the
// manifest in the file chosen, which is one of paths. It names no folder of this machine.
func originOf(flags *pflag.FlagSet, dir, pkg, chosen string, paths []string) (*gen.Origin, error) {
	o := &gen.Origin{}
	var err error
	if o.Fingerprint, err = fingerprint.Of(chosen); err != nil {
		return nil, err
	}
	var args []string
	flags.Visit(func(f *pflag.Flag) {
		switch list, several := f.Value.(pflag.SliceValue); {
		case f.Name == "output" || f.Name == "package" || f.Name == "verbose" || f.Name == "all":
		case several:
			for _, v := range list.GetSlice() {
				args = append(args, "--"+f.Name, v)
			}
		case f.Value.Type() == "bool":
			if f.Value.String() == "true" {
				args = append(args, "--"+f.Name)
			}
		default:
			args = append(args, "--"+f.Name, strings.TrimPrefix(f.Value.String(), "#"))
		}
	})
	if whole, err := filepath.Abs(dir); err != nil || pkg != strings.ToLower(filepath.Base(whole)) {
		args = append(args, "--package", pkg)
	}
	for _, path := range paths {
		name, ok := fromPackage(dir, path)
		if path == chosen && ok {
			o.Manifest = name
		}
		if strings.HasPrefix(name, "-") {
			name = "./" + name
		}
		args = append(args, name)
	}
	o.Command = "etwgen gen"
	for _, arg := range args {
		o.Command += " " + quoteArg(arg)
	}
	return o, nil
}

// fromPackage returns the name of a file as seen from the folder of a package, with slashes,
// if that is the same on every machine: if both were given from here, or are in one module.
// Otherwise it returns the file's own name.
func fromPackage(dir, path string) (string, bool) {
	base := filepath.Base(path)
	from, err := filepath.Abs(dir)
	to, err2 := filepath.Abs(path)
	if err = cmp.Or(err, err2); err != nil {
		return base, false
	}
	if filepath.IsAbs(dir) || filepath.IsAbs(path) {
		if root := directive.Root(from); root == "" || !strings.HasPrefix(to, root+string(filepath.Separator)) {
			return base, false
		}
	}
	name, err := filepath.Rel(from, to)
	if err != nil {
		return base, false
	}
	return filepath.ToSlash(name), true
}

// quoteArg writes an argument as lines of go:generate have it.
func quoteArg(arg string) string {
	if arg == "" || strings.ContainsFunc(arg, func(c rune) bool { return c <= ' ' || c == '"' || c == '\\' || c > '~' }) {
		return strconv.Quote(arg)
	}
	return arg
}

// A made is a package that gen has made.
type made struct {
	dir, pkg string
	args     []string // of gen
}

// readMade reads how the package in dir is made: as a line for go:generate in its folder says,
// or else its header. There is none if nothing was generated.
func readMade(dir string) (*made, error) {
	old, err := readPackage(dir)
	if err != nil || old["provider.etw.go"] == nil {
		return nil, err
	}
	m, header := &made{dir: dir}, ""
	for lines := bufio.NewScanner(bytes.NewReader(old["provider.etw.go"])); lines.Scan(); {
		line := lines.Text()
		if command, ok := strings.CutPrefix(line, gen.CommandMark); ok && header == "" {
			header = command
		}
		if pkg, ok := strings.CutPrefix(line, "package "); ok {
			m.pkg = pkg
			m.args, err = argsOf(dir, header)
			return m, err
		}
	}
	return nil, fmt.Errorf("%s: no package clause in provider.etw.go", dir)
}

// argsOf returns the arguments of gen for a package with that command in its header. A line that
// has variables of go generate is not read.
func argsOf(dir, header string) ([]string, error) {
	hasVariable := func(arg string) bool { return strings.Contains(arg, "$") }
	if args, ok := directive.In(dir, dir); ok && !slices.ContainsFunc(args, hasVariable) {
		return args, nil
	}
	if header == "" {
		return nil, nil
	}
	args, err := directive.Split(header)
	if err != nil || len(args) < 3 || args[0] != "etwgen" || args[1] != "gen" {
		return nil, fmt.Errorf("%s: the header has no command of etwgen gen: %q", dir, header)
	}
	return args[2:], nil
}

// packagesIn returns the generated packages that an argument names: that of a folder, or with
// /... also those below it, but not in folders that the go command leaves out, too. The error
// is about those that it does not return.
func packagesIn(arg string) ([]*made, error) {
	root, below := strings.CutSuffix(filepath.ToSlash(arg), "/...")
	if arg == "..." {
		root, below = ".", true
	}
	root = filepath.Clean(cmp.Or(root, "/"))
	if here, err := os.Getwd(); err == nil && filepath.IsAbs(root) {
		if rel, err := filepath.Rel(here, root); err == nil {
			root = rel // as a manifest's name in a header is
		}
	}
	var list []*made
	var bad []error
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if name := d.Name(); path != root && (!below || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata" || name == "vendor") {
			return filepath.SkipDir
		}
		m, err := readMade(path)
		switch {
		case err != nil:
			bad = append(bad, err)
		case m != nil:
			list = append(list, m)
		}
		return nil
	})
	if err = errors.Join(append(bad, err)...); err == nil && len(list) == 0 {
		err = errors.New(arg + ": no package that etwgen has generated")
	}
	return list, err
}

// isFolder reports whether an argument names packages, not a manifest.
func isFolder(arg string) bool {
	if arg == "..." || strings.HasSuffix(filepath.ToSlash(arg), "/...") {
		return true
	}
	info, err := os.Stat(arg)
	return err == nil && info.IsDir()
}
