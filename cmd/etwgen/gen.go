package main

import (
	"cmp"
	"errors"
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/etwgen/etwgen/gen"
	"github.com/etwgen/etwgen/internal/command"
	"github.com/etwgen/etwgen/manifest"
	"github.com/spf13/cobra"
)

// genFlags are the flags that gen and diff share.
type genFlags struct {
	dir    string
	rename []string
	gen    gen.Options

	selfDescribing bool
}

func (g *genFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVarP(&g.dir, "output", "o", ".", "the folder of the package")
	flags.StringVar(&g.gen.Package, "package", "", "the name of the package (default $GOPACKAGE, or else the folder's)")
	flags.StringVar(&g.gen.Provider, "provider", "", "the provider, by name, symbol, GUID or number (1 is the first), where a manifest has several")
	flags.StringArrayVar(&g.rename, "rename", nil, "`OLD=NEW` gives the name OLD of the manifest the Go name NEW (repeatable)")
	flags.StringArrayVar(&g.gen.Accessors, "accessor", nil, "give each event that has the field `NAME` a method GetNAME, for code that takes whatever has it (repeatable)")
	flags.StringVar(&g.gen.Files, "files", "task", "`how` events are spread over files: task, a file for each, or one")
	flags.BoolVar(&g.gen.Lenient, "lenient", false, "accept dumps of registered providers, and settle clashes of names")
	flags.BoolVar(&g.selfDescribing, "self-describing", false, "take the providers for self-describing EventSources, which write narrower Booleans and go by names")
	flags.BoolVar(&g.gen.Tests, "tests", false, "also generate tests of the package")
}

// options returns the options of the generator.
func (g *genFlags) options() (gen.Options, error) {
	opts := g.gen
	opts.Provider = providerName(opts.Provider)
	if opts.Files != "task" && opts.Files != "one" {
		return opts, usagef("--files %s: choose task or one", opts.Files)
	}
	var err error
	if opts.Rename, err = renames(g.rename); err != nil {
		return opts, err
	}
	opts.Package = cmp.Or(opts.Package, os.Getenv("GOPACKAGE"))
	if opts.Package == "" {
		dir, err := filepath.Abs(g.dir)
		if err != nil {
			return opts, &exitError{exitUsage, err}
		}
		opts.Package = strings.ToLower(filepath.Base(dir))
	}
	if !token.IsIdentifier(opts.Package) {
		return opts, usagef("%q is not a valid Go package name; give one with --package", opts.Package)
	}
	opts.PackageDoc = !documented(g.dir)
	return opts, checkFolder(g.dir, opts.Package)
}

// renames returns the values of --rename.
func renames(list []string) (map[string]string, error) {
	m := make(map[string]string)
	for _, r := range list {
		i := strings.LastIndexByte(r, '=') // names of a manifest may contain one
		if i <= 0 || i+1 == len(r) {
			return nil, usagef("--rename %s: not of the form OLD=NEW", r)
		}
		m[r[:i]] = r[i+1:]
	}
	return m, nil
}

// checkFolder checks that no file in dir belongs to a package of another name:
// the go command refuses a folder with two. Files that it ignores do not count,
// nor do those that are to be replaced.
func checkFolder(dir, pkg string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &exitError{exitUsage, err}
	}
	old, err := readPackage(dir)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	for _, e := range entries {
		name := e.Name()
		if filepath.Ext(name) != ".go" || old[name] != nil {
			continue
		}
		path := filepath.Join(dir, name)
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil || ignored(name, f) { // what is wrong with it is for the compiler to say
			continue
		}
		other := f.Name.Name
		if strings.HasSuffix(name, "_test.go") {
			other = strings.TrimSuffix(other, "_test")
		}
		if other != pkg {
			return usagef("%s is in package %s, so that package %s cannot be in the same folder; give --package %[2]s, or another folder with -o", path, other, pkg)
		}
	}
	return nil
}

// ignored reports whether the go command leaves a file out: for its name, or for a build
// constraint that asks for more than this system, as "ignore" does. Package go/build would
// know each case, and is large.
func ignored(name string, f *ast.File) bool {
	if name[0] == '_' || name[0] == '.' {
		return true
	}
	for _, group := range f.Comments {
		for _, c := range group.List {
			if x, err := constraint.Parse(c.Text); err == nil && constraint.IsGoBuild(c.Text) && c.Pos() < f.Package {
				return !x.Eval(func(tag string) bool {
					return tag == runtime.GOOS || tag == runtime.GOARCH || tag == "unix" || tag == "cgo" || tag == runtime.Compiler || strings.HasPrefix(tag, "go1.")
				})
			}
		}
	}
	return false
}

// sameFile reports whether two arguments mean one file.
func sameFile(a, b string) bool {
	if a == stdinName || b == stdinName {
		return a == b
	}
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// choose reads manifests and returns the one that has the provider to generate.
func choose(cmd *cobra.Command, paths []string, opts gen.Options, reads manifest.Options) (*reading, error) {
	var chosen *reading
	var missed, bad error
	for i, path := range paths {
		for _, earlier := range paths[:i] {
			if sameFile(earlier, path) {
				return nil, usagef("%s is given twice", path)
			}
		}
		r, err := sound(cmd, path, reads)
		if err != nil {
			if exit := (*exitError)(nil); errors.As(err, &exit) && exit.code == exitUsage {
				return nil, err
			}
			bad = err
			continue
		}
		if _, err := gen.Select(r.manifest, opts.Provider); err != nil {
			missed = err
			continue
		}
		if chosen != nil {
			return nil, usagef("both %s and %s have a provider to generate, and a package is for one; choose it with --provider", chosen.name, r.name)
		}
		chosen = r
	}
	switch {
	case bad != nil:
		return nil, bad
	case chosen == nil:
		return nil, &exitError{exitUsage, missed}
	}
	return chosen, nil
}

// generate returns the files of the package for the provider that the flags choose from some
// manifests. It prints doubts about the manifest.
func (g *genFlags) generate(cmd *cobra.Command, paths []string) ([]gen.File, error) {
	opts, err := g.options()
	if err != nil {
		return nil, err
	}
	chosen, err := choose(cmd, paths, opts, manifest.Options{Lenient: opts.Lenient, SelfDescribing: g.selfDescribing})
	if err != nil {
		return nil, err
	}
	chosen.printWarnings(cmd)
	if chosen.path != stdinName {
		if opts.Origin, err = originOf(cmd.Flags(), g.dir, opts.Package, chosen.path, paths); err != nil {
			return nil, &exitError{exitUsage, err}
		}
	}
	files, err := gen.Generate(chosen.manifest, opts)
	if err != nil {
		return nil, reported(cmd, err)
	}
	return files, nil
}

// newGen returns the command that writes a package.
func newGen() *cobra.Command {
	var flags genFlags
	var verbose, all bool
	cmd := &cobra.Command{
		Use:   "gen [flags] MANIFEST...",
		Short: "Write the Go package of a provider",
		Long: `Gen writes a Go package with a type for each event of a provider: *.etw.go
files, one for each task, or with --files=one a single file with all events.
Everything is generated before anything is written; files that would not change
are left alone, and generated files that are no longer needed are removed. Under
go generate, which would miss them, they are emptied, and the next run removes them.
The package says how it was made, and has a test that fails once the manifest is
another one.

Gen prints doubts about the manifest, in short where --lenient reads a
dump, and nothing else. Warnings do not change the exit code.

Where a provider writes other fields than its manifest says, a file beside the
manifest says so: MyProvider.overrides for MyProvider.man.

With --all each provider of a manifest gets a package, in a folder below --output that
is called by its name, without the words that all names begin with.

It works from a go:generate line as it does by hand:

  //go:generate go tool etwgen gen -o . MyProvider.man`,
		Example: "  etwgen gen -o internal/myprovider MyProvider.man\n  etwgen gen --provider Microsoft-Windows-DotNETRuntime -o clr ClrEtwAll.man",
		Args:    command.Args(1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			report := io.Discard
			if verbose {
				report = cmd.OutOrStdout()
			}
			if all {
				return flags.writeEach(cmd, args, report)
			}
			return flags.write(cmd, args, report)
		},
	}
	flags.add(cmd)
	cmd.Flags().BoolVar(&all, "all", false, "write a package for each provider of a manifest, in folders below that of --output")
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "list the files that are written and removed")
	return cmd
}

// write writes the package for the provider that the flags choose.
func (g *genFlags) write(cmd *cobra.Command, paths []string, report io.Writer) error {
	files, err := g.generate(cmd, paths)
	if err != nil {
		return err
	}
	old, err := readPackage(g.dir)
	if err == nil {
		err = writeFiles(osDisk{}, g.dir, old, withEmptied(old, files, cmd.ErrOrStderr()), report)
	}
	if err != nil {
		return &exitError{exitUsage, err}
	}
	return nil
}

// writeEach writes a package for each provider of a manifest.
func (g *genFlags) writeEach(cmd *cobra.Command, paths []string, report io.Writer) error {
	if g.gen.Provider != "" || g.gen.Package != "" || len(paths) != 1 || paths[0] == stdinName {
		return usagef("--all is for one file, and names packages by itself; give neither --provider nor --package")
	}
	r, err := sound(cmd, paths[0], manifest.Options{Lenient: g.gen.Lenient, SelfDescribing: g.selfDescribing})
	if err != nil {
		return err
	}
	below := g.dir
	for i, name := range packageNames(r.manifest.Providers) {
		g.dir, g.gen.Package = filepath.Join(below, name), name
		if err := cmd.Flags().Set("provider", strconv.Itoa(i+1)); err != nil {
			return &exitError{exitUsage, err}
		}
		if err := g.write(cmd, paths, report); err != nil {
			return err
		}
	}
	return nil
}
