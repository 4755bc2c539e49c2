package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/etwgen/etwgen/gen"
	"github.com/etwgen/etwgen/internal/command"
	"github.com/etwgen/etwgen/manifest"
	"github.com/spf13/cobra"
)

// newDoc returns the command that writes reference pages.
func newDoc() *cobra.Command {
	var dir string
	var opts gen.Options
	var rename []string
	var verbose bool
	cmd := &cobra.Command{
		Use:   "doc [flags] MANIFEST",
		Short: "Write reference pages of a manifest's events",
		Long: `Doc writes reference pages in Markdown: README.md with the providers, and in a
folder for each provider README.md with its keywords, tasks and events, and a
page for each task. For each event a page has its keyword, its versions, and
its fields with their types, their place in the payload, their meaning and the Go
types that gen makes of them.

Meanings come from etwgen:doc in the manifest. A provider's folder is named like
its Go package: by its etwgen:name, or else by its own name.

Files that would not change are left alone, and pages that are no longer needed
are removed. Doc prints doubts about the manifest, and nothing else. A
MANIFEST of - is the standard input.`,
		Example: "  etwgen doc -o docs/events MyProvider.man",
		Args:    command.Args(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if opts.Rename, err = renames(rename); err != nil {
				return err
			}
			r, err := sound(cmd, args[0], manifest.Options{Lenient: opts.Lenient})
			if err != nil {
				return err
			}
			r.printWarnings(cmd)
			opts.Provider = providerName(opts.Provider)
			files, err := gen.Reference(r.manifest, opts)
			if err != nil {
				return reported(cmd, err)
			}
			report := io.Discard
			if verbose {
				report = cmd.OutOrStdout()
			}
			old, err := readPages(dir, files)
			if err == nil {
				err = writeFiles(osDisk{}, dir, old, files, report)
			}
			if err != nil {
				return &exitError{exitUsage, err}
			}
			return nil
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&dir, "output", "o", ".", "the folder of the pages")
	flags.StringVar(&opts.Provider, "provider", "", "one provider, by name, symbol, GUID or number (default all that have events)")
	flags.StringVar(&opts.Package, "package", "", "the name of the Go package, where there is one provider")
	flags.StringArrayVar(&rename, "rename", nil, "`OLD=NEW`, as gen was given it, where there is one provider (repeatable)")
	flags.BoolVar(&opts.Lenient, "lenient", false, "accept dumps of registered providers, and settle clashes of names")
	flags.BoolVarP(&verbose, "verbose", "v", false, "list the files that are written and removed")
	return cmd
}

// readPages returns the pages that an earlier doc wrote, in the folders that this
// one writes to.
func readPages(dir string, files []gen.File) (map[string][]byte, error) {
	old := make(map[string][]byte)
	seen := make(map[string]bool)
	for _, f := range files {
		folder := path.Dir(f.Name)
		if seen[folder] {
			continue
		}
		seen[folder] = true
		entries, err := os.ReadDir(filepath.Join(dir, filepath.FromSlash(folder)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, e := range entries {
			name := path.Join(folder, e.Name())
			if e.IsDir() || path.Ext(name) != ".md" {
				continue
			}
			content, ours, err := readGenerated(filepath.Join(dir, filepath.FromSlash(name)), gen.ReferenceHeader)
			if err != nil {
				return nil, err
			}
			if ours {
				old[name] = content
			}
		}
	}
	return old, nil
}
