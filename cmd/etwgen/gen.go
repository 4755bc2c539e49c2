package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/token"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/gen"
	"github.com/etwgen/etwgen/manifest"
	"github.com/spf13/cobra"
)

// genFlags are the flags that gen and diff share.
type genFlags struct {
	dir    string
	rename []string
	gen    gen.Options
}

func (g *genFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVarP(&g.dir, "output", "o", ".", "the folder of the package")
	flags.StringVar(&g.gen.Package, "package", "", "the name of the package (default $GOPACKAGE, or else the folder's)")
	flags.StringVar(&g.gen.Provider, "provider", "", "the provider, by name, symbol, GUID or number (#1), where a manifest has several")
	flags.StringArrayVar(&g.rename, "rename", nil, "`OLD=NEW` gives what the manifest calls OLD the Go name NEW (repeatable)")
	flags.BoolVar(&g.gen.Lenient, "lenient", false, "accept what dumps of registered providers contain, and settle clashes of names")
	flags.BoolVar(&g.gen.Tests, "tests", false, "generate tests of the package, too")
}

// options returns the options of the generator.
func (g *genFlags) options() (gen.Options, error) {
	opts := g.gen
	var err error
	if opts.Rename, err = renames(g.rename); err != nil {
		return opts, err
	}
	if opts.Package == "" {
		opts.Package = os.Getenv("GOPACKAGE")
	}
	if opts.Package == "" {
		dir, err := filepath.Abs(g.dir)
		if err != nil {
			return opts, &exitError{exitUsage, err}
		}
		opts.Package = strings.ToLower(filepath.Base(dir))
	}
	if !token.IsIdentifier(opts.Package) {
		return opts, &exitError{exitUsage, fmt.Errorf("%q is no name of a Go package; give one with --package", opts.Package)}
	}
	return opts, nil
}

// renames returns the values of --rename.
func renames(list []string) (map[string]string, error) {
	m := make(map[string]string)
	for _, r := range list {
		i := strings.LastIndexByte(r, '=') // names of a manifest may contain one
		if i <= 0 || i+1 == len(r) {
			return nil, &exitError{exitUsage, fmt.Errorf("--rename %s: not of the form OLD=NEW", r)}
		}
		m[r[:i]] = r[i+1:]
	}
	return m, nil
}

// generate returns the files of the package for the provider that the flags
// choose from some manifests.
func (g *genFlags) generate(cmd *cobra.Command, paths []string) ([]gen.File, error) {
	opts, err := g.options()
	if err != nil {
		return nil, err
	}
	var chosen *manifest.Manifest
	var missed error
	var bad *exitError
	for _, path := range paths {
		// Warnings are the business of check.
		m, _, err := parseManifest(cmd, path, manifest.Options{Lenient: opts.Lenient})
		if err != nil {
			if bad = reported(cmd, err); bad.code == exitUsage {
				return nil, bad
			}
			continue
		}
		if _, err := gen.Select(m, opts.Provider); err != nil {
			missed = err
			continue
		}
		if chosen != nil {
			return nil, &exitError{exitUsage, fmt.Errorf("both %s and %s have a provider to generate; a package is for one: choose it with --provider", chosen.File, m.File)}
		}
		chosen = m
	}
	switch {
	case bad != nil:
		return nil, bad
	case chosen == nil:
		return nil, &exitError{exitUsage, missed}
	}
	files, err := gen.Generate(chosen, opts)
	if err != nil {
		return nil, reported(cmd, err)
	}
	return files, nil
}

// newGen returns the command that writes a package.
func newGen() *cobra.Command {
	var flags genFlags
	var verbose bool
	cmd := &cobra.Command{
		Use:   "gen [flags] MANIFEST...",
		Short: "Write the Go package of a provider",
		Long: `Gen writes a Go package with a type for each event of a provider: *.etw.go
files, one for each task. Everything is generated before anything is written;
files that would not change are left alone, and generated files that are no
longer needed are removed. Gen says nothing unless something is wrong.

It works from a go:generate line as it does by hand:

  //go:generate go tool etwgen gen -o . MyProvider.man`,
		Example: "  etwgen gen -o internal/myprovider MyProvider.man\n  etwgen gen --provider Microsoft-Windows-DotNETRuntime -o clr ClrEtwAll.man",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			files, err := flags.generate(cmd, args)
			if err != nil {
				return err
			}
			report := io.Discard
			if verbose {
				report = cmd.OutOrStdout()
			}
			if err := writePackage(flags.dir, files, report); err != nil {
				return &exitError{exitUsage, err}
			}
			return nil
		},
	}
	flags.add(cmd)
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "list the files that are written and removed")
	return cmd
}

// writePackage makes the generated files in dir the given ones.
func writePackage(dir string, files []gen.File, report io.Writer) error {
	old, err := readPackage(dir)
	if err != nil {
		return err
	}
	return writeFiles(dir, old, files, report)
}

// writeFiles makes those files in dir that etwgen wrote, the old ones, the given
// ones. Names are paths with slashes. Before it writes anything it looks whether
// it would write over what somebody else has written.
func writeFiles(dir string, old map[string][]byte, files []gen.File, report io.Writer) error {
	for _, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if _, err := os.Stat(path); err == nil && old[f.Name] == nil {
			return fmt.Errorf("%s exists and is not generated by etwgen", path)
		}
	}
	for _, f := range files {
		was := old[f.Name]
		delete(old, f.Name)
		if bytes.Equal(was, f.Content) {
			continue
		}
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(path, f.Content, 0o666); err != nil {
			return err
		}
		fmt.Fprintln(report, "wrote", path)
	}
	for _, name := range slices.Sorted(maps.Keys(old)) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.Remove(path); err != nil {
			return err
		}
		fmt.Fprintln(report, "removed", path)
	}
	return nil
}

// readPackage returns the files of dir that etwgen has written: those that have
// one of its suffixes and its header.
func readPackage(dir string) (map[string][]byte, error) {
	old := make(map[string][]byte)
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		name := e.Name()
		if !strings.HasSuffix(name, ".etw.go") && !strings.HasSuffix(name, ".etw_test.go") {
			continue
		}
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		if bytes.HasPrefix(content, []byte(gen.Header+"\n")) {
			old[name] = content
		}
	}
	return old, nil
}
