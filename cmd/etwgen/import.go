package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/gen"
	"github.com/etwgen/etwgen/internal/command"
	"github.com/etwgen/etwgen/manifest"
	"github.com/etwgen/etwgen/manifest/eventsource"
	"github.com/etwgen/etwgen/trace"
	"github.com/spf13/cobra"
)

// newImport returns the command that makes manifests of other forms.
func newImport() *cobra.Command {
	var opts importOptions
	var output string
	cmd := &cobra.Command{
		Use:   "import [flags] FILE...",
		Short: "Make a manifest of a program, a resource or a trace",
		Long: `Import prints a manifest of the events that a FILE describes:

  assembly of .NET    by its EventSource classes; nothing of it is run
  program or library  of Windows, by its WEVT_TEMPLATE resource and message tables,
                      also those in files such as de-DE/x.dll.mui beside it, and by
                      the metadata of TraceLogging
  resource            WEVT_TEMPLATE as a file, such as mc.exe writes
  trace               .etl, .nettrace or .netperf, by its descriptions of its own
                      events: EventSource manifests, merged schemas, metadata
  event log           .evtx, by the layouts of the events that are in it

A folder stands for all such files in it. With --output, a manifest is written for
each program and resource, and one with the name traces.man for all traces
together; without it there can be only one.

A comment at the top names the losses of a form. Names that it lacks are made
up, the same each time. A damaged part is an error that says where; with --lenient
the rest is kept, and the damage is printed.

Exit codes: 0 if all is well, 1 if something was damaged or left out, 2 for trouble.`,
		Example: "  etwgen import App.dll > app.man\n  etwgen import clretwrc.dll > clr.man\n  etwgen import -o manifests traces/*.nettrace",
		Args:    command.Args(1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			paths, err := expand(args)
			if err != nil {
				return err
			}
			results, refused, err := importAll(cmd, args, paths, opts)
			if err != nil {
				return err
			}
			if output == "" && len(results) > 1 {
				return usagef("%d manifests come of these files; choose a folder for them with --output", len(results))
			}
			if err := writeImported(cmd, results, output); err != nil || refused == 0 {
				return err
			}
			return &exitError{code: exitDiagnostics}
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "write manifests to this `folder`")
	cmd.Flags().BoolVar(&opts.lenient, "lenient", false, "keep the readable parts of damaged resources")
	cmd.Flags().StringVar(&opts.provider, "name", "", "the `name` of a provider that the file does not tell, as resources of older compilers")
	opts.assembly.add(cmd)
	return cmd
}

// A result is a manifest, and the name of its file.
type result struct {
	*imported
	file string
}

// expand replaces folders by the files in them.
func expand(args []string) ([]string, error) {
	var paths []string
	for _, arg := range args {
		info, err := os.Stat(arg)
		if arg == stdinName || err == nil && !info.IsDir() {
			paths = append(paths, arg)
			continue
		}
		if err != nil {
			return nil, &exitError{exitUsage, err}
		}
		err = filepath.WalkDir(arg, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && importable(path) {
				paths = append(paths, path)
			}
			return err
		})
		if err != nil {
			return nil, &exitError{exitUsage, err}
		}
	}
	if len(paths) == 0 {
		return nil, usagef("no program, resource or trace in %s", strings.Join(args, ", "))
	}
	return paths, nil
}

// importable reports whether a file in a folder may be one to import, by its name.
func importable(path string) bool {
	name := strings.ToLower(filepath.Base(path))
	for _, suffix := range []string{".dll", ".exe", ".sys", ".bin", ".etl", ".nettrace", ".netperf", ".evtx", ".gz", ".zip"} {
		if strings.HasSuffix(name, suffix) {
			return true
		}
	}
	return false
}

// importAll imports programs and resources one by one, and traces together. The paths are
// the arguments, and the files in those that are folders. Of several, one that is refused is
// reported and counted, and does not keep the others.
func importAll(cmd *cobra.Command, args, paths []string, opts importOptions) (results []result, refused int, err error) {
	var traces []string
	many := len(paths) > 1
	for _, path := range paths {
		kind, err := peek(path)
		if err != nil {
			return nil, 0, &exitError{exitUsage, err}
		}
		if kind != "" && isManifest([]byte(kind)) {
			return nil, 0, usagef("%s is a manifest already, which all other commands take", path)
		}
		if kind != "MZ" && kind != "CR" {
			traces = append(traces, path)
			continue
		}
		data, err := readProgram(path)
		if err != nil {
			return nil, 0, &exitError{exitUsage, err}
		}
		in, err := importWhole(path, data, opts)
		if err == nil {
			err = in.check(path, opts)
		}
		if err != nil {
			if many && errors.Is(err, eventsource.ErrNoSource) && !slices.Contains(args, path) {
				continue // most assemblies in a folder have none
			}
			if many {
				fmt.Fprintf(cmd.ErrOrStderr(), "etwgen: %v\n", err)
				refused++
				continue
			}
			return nil, 0, &exitError{exitDiagnostics, err}
		}
		base := filepath.Base(path)
		results = append(results, result{in, strings.TrimSuffix(base, filepath.Ext(base)) + ".man"})
	}
	if len(traces) > 0 {
		t, err := trace.OpenEvents(traces, trace.WithStdin(cmd.InOrStdin()))
		if err != nil {
			return nil, 0, &exitError{exitDiagnostics, noForm(err)}
		}
		defer t.Close()
		in, err := importTraces(cmd.Context(), t, slices.Clone(traces)...)
		if err == nil {
			err = in.check(strings.Join(traces, ", "), opts)
		}
		if err != nil {
			return nil, 0, &exitError{exitDiagnostics, err}
		}
		results = append(results, result{in, "traces.man"})
	}
	if len(results) == 0 {
		return nil, 0, &exitError{code: exitDiagnostics}
	}
	return results, refused, nil
}

// peek returns the first two bytes of a file. The standard input can only be a
// trace.
func peek(path string) (string, error) {
	if path == stdinName {
		return "", nil
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	head := make([]byte, 2)
	if _, err := io.ReadFull(f, head); err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return "", err
	}
	return string(head), nil
}

// check reads a manifest that is about to be printed: damage that the form it was made
// of has no rule against can break one of manifests.
func (i *imported) check(path string, opts importOptions) error {
	_, _, err := manifest.Parse("line", i.text(), manifest.Options{Lenient: opts.lenient})
	var faults manifest.ErrorList
	if !errors.As(err, &faults) || len(faults) == 0 {
		return err
	}
	more := ""
	if n := len(faults) - 1; n > 0 {
		more = fmt.Sprintf(" (and %d more)", n)
	}
	if !opts.lenient {
		if _, _, err := manifest.Parse("line", i.text(), manifest.Options{Lenient: true}); err == nil {
			more += "; --lenient lets it pass"
		}
	}
	return fmt.Errorf("%s: the manifest that it makes would have errors: %v%s", path, faults[0], more)
}

// readProgram reads a program, a library or a resource.
func readProgram(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := readAtMost(f, maxProgram)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return data, nil
}

// writeImported writes manifests, and names the parts that they lack.
func writeImported(cmd *cobra.Command, results []result, folder string) error {
	faults := 0
	var files []gen.File
	taken := make(map[string]bool)
	for _, r := range results {
		if taken[r.file] {
			return usagef("two of the files would be written to %s; import one of them alone", r.file)
		}
		taken[r.file] = true
		r.printFaults(cmd)
		faults += len(r.faults)
		files = append(files, gen.File{Name: r.file, Content: r.text()})
	}
	if folder != "" {
		if err := writeAll(osDisk{}, folder, files); err != nil {
			return err
		}
	} else if _, err := cmd.OutOrStdout().Write(files[0].Content); err != nil {
		return &exitError{exitUsage, err}
	}
	if faults > 0 {
		return &exitError{code: exitDiagnostics}
	}
	return nil
}

// printFaults prints the parts left out of a manifest, and remarks on it.
func (i *imported) printFaults(cmd *cobra.Command) {
	for _, f := range i.faults {
		fmt.Fprintf(cmd.ErrOrStderr(), "warning: %s\n", f)
	}
	for _, n := range i.notes {
		fmt.Fprintf(cmd.ErrOrStderr(), "note: %s\n", n)
	}
}
