package frames

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/analysis/symbols/fetch"
	"github.com/etwgen/etwgen/analysis/symbols/native"
	"github.com/etwgen/etwgen/analysis/symbols/pdb"
	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
)

// A SymbolFiles holds the flags that say where files of symbols are.
type SymbolFiles struct {
	Path  string
	none  bool
	path  string // where others are: stores and servers
	Local bool   // servers are not asked

	Portable []fetch.Key // of PDBs that were looked for along the path and are not there
}

// pathVariable is the variable that holds a symbol path where no flag does.
const pathVariable = "ETW_SYMBOL_PATH"

// Flag adds the flags of symbols to a command.
func (s *SymbolFiles) Flag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.Path, "symbols", "", "name native code also by PDB, ELF and .NET files, perf-PID.map, kallsyms in `FOLDER`")
	cmd.Flags().StringVar(&s.path, "symbol-path", "", "the same by stores and servers, a `PATH` as in _NT_SYMBOL_PATH, or $ETW_SYMBOL_PATH")
	cmd.Flags().BoolVar(&s.none, "no-symbols", false, "name native code by the trace alone, not by libraries of this machine")
	cli.Completions(cmd, map[string]cobra.CompletionFunc{"symbols": func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return nil, cobra.ShellCompDirectiveFilterDirs
	}})
}

// Open returns the files, or nil if none are to be looked at. A server looks at none but
// those in a folder that it was given.
func (s *SymbolFiles) Open(cmd *cobra.Command) (*native.Dir, error) {
	if s.none && s.Path != "" {
		return nil, cli.Usagef("--symbols and --no-symbols: one of them")
	}
	if s.none && s.path != "" {
		return nil, cli.Usagef("--symbol-path and --no-symbols: one of them")
	}
	options := []native.Option{native.Demangle(show.NewDemangler().Name)}
	switch {
	case s.none, s.Path == "" && cli.ForAssistant(cmd):
		return nil, nil
	case !cli.ForAssistant(cmd):
		options = append(options, native.Usual(show.UsualPlaces()))
	}
	f, err := s.Finder(cmd)
	if err != nil {
		return nil, err
	}
	if f != nil {
		options = append(options, native.Elsewhere(func(n *symbols.Native) []string { return f.Files(cmd.Context(), n) }),
			native.LinesElsewhere(func(m symbols.Module, sum string) string {
				k, ok := fetch.Portable(m, sum)
				if !ok {
					return ""
				}
				path := f.Find(cmd.Context(), k)
				if path == "" {
					s.Portable = append(s.Portable, k)
				}
				return path
			}))
	}
	d, err := native.Open(s.Path, options...)
	if err != nil {
		return nil, fmt.Errorf("--symbols: %w", err)
	}
	return d, nil
}

// SymbolPath returns the stores and servers that the user chose, none if there is no choice.
// For those who ask a server, of assistants or of pages, only a flag is one, which they cannot
// set: others name the program that assistants run.
func (s *SymbolFiles) SymbolPath(cmd *cobra.Command) (fetch.Path, error) {
	text := s.path
	if text == "" && !cli.IsServed(cmd) {
		text = os.Getenv(pathVariable)
	}
	if text == "" || s.none {
		return nil, nil
	}
	usual := ""
	if cache, err := os.UserCacheDir(); err == nil {
		usual = filepath.Join(cache, "etw", "symbols")
	}
	p, err := fetch.ParsePath(text, usual)
	if err != nil {
		name := "--symbol-path"
		if s.path == "" {
			name = pathVariable
		}
		return nil, cli.Usagef("%s: %w", name, err)
	}
	return p, nil
}

// Chosen returns the flags that have commands of a server look where the user chose, as flags and
// the variable of the command that serves say, and checks them.
func (s *SymbolFiles) Chosen(cmd *cobra.Command) ([]string, error) {
	if _, err := s.SymbolPath(cmd); err != nil {
		return nil, err
	}
	if _, err := s.Open(cmd); err != nil {
		return nil, err
	}
	var flags []string
	if s.none {
		return []string{"--no-symbols"}, nil
	}
	if s.Path != "" {
		flags = append(flags, "--symbols="+s.Path)
	}
	if path := cmp.Or(s.path, os.Getenv(pathVariable)); path != "" {
		flags = append(flags, "--symbol-path="+path)
	}
	return flags, nil
}

// Finder returns the finder of files along the symbol path, or nil if there is none.
func (s *SymbolFiles) Finder(cmd *cobra.Command) (*fetch.Finder, error) {
	p, err := s.SymbolPath(cmd)
	if err != nil || len(p) == 0 {
		return nil, err
	}
	if s.Local {
		p = p.Local()
	}
	return NewFinder(cmd, p), nil
}

// Source returns the path of a source file, of which a PDB tells the address, or "" if no store
// has it and no server of sources along the path.
func (s *SymbolFiles) Source(cmd *cobra.Command, d pdb.Document, link string) (string, error) {
	f, err := s.Finder(cmd)
	k, ok := fetch.Source(d, link)
	if f == nil || !ok {
		return "", err
	}
	return f.Find(cmd.Context(), k), nil
}

// NewFinder returns the finder of files along a path, which logs the files it gets.
func NewFinder(cmd *cobra.Command, p fetch.Path) *fetch.Finder {
	return fetch.New(p, fetch.Limits{}, func(e fetch.Event) {
		switch {
		case e.Missing():
		case e.Err != nil && e.Key.Name == "":
			cli.Report(cmd, fmt.Errorf("%s: %w", e.From, e.Err))
		case e.Err != nil:
			cli.Report(cmd, fmt.Errorf("%s: %s: %w", e.From, e.Key, e.Err))
		default:
			cli.Report(cmd, fmt.Errorf("%s: %s of %s", e.Key.Name, show.Size(float64(e.Size)), e.From))
		}
	})
}

// ReportFaults says which files of symbols could not be read.
func ReportFaults(cmd *cobra.Command, d *native.Dir) {
	if d == nil {
		return
	}
	for _, err := range d.Faults() {
		cli.Report(cmd, err)
	}
}
