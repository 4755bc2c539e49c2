package main

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"
)

// newDiff returns the command that shows what gen would change.
func newDiff() *cobra.Command {
	var flags genFlags
	cmd := &cobra.Command{
		Use:   "diff [flags] MANIFEST...",
		Short: "Show what gen would change",
		Long: `Diff generates a package as gen does with the same flags, and prints how the
files in the folder differ from it, as a unified diff. It writes nothing. Of a
folder without generated files it only says so.

Exit codes: 0 if nothing differs, 1 if something does, 2 for trouble.`,
		Example: "  etwgen diff -o internal/myprovider MyProvider.man",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			differs, err := flags.diff(cmd, args)
			switch {
			case err != nil:
				return trouble(err)
			case differs:
				return &exitError{code: exitDiagnostics}
			}
			return nil
		},
	}
	flags.add(cmd)
	return cmd
}

// trouble turns any error into one with the exit code for trouble, since 1 says
// that something differs.
func trouble(err error) error {
	var usage *usageError
	if errors.As(err, &usage) {
		return err
	}
	if exit, ok := err.(*exitError); ok {
		return &exitError{exitUsage, exit.err}
	}
	return &exitError{exitUsage, err}
}

// diff prints what differs and reports whether anything does.
func (g *genFlags) diff(cmd *cobra.Command, paths []string) (bool, error) {
	files, err := g.generate(cmd, paths)
	if err != nil {
		return false, err
	}
	old, err := readPackage(g.dir)
	if err != nil {
		return false, err
	}
	if len(old) == 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "etwgen: no generated files in %s: all %d are missing; etwgen gen writes them\n", g.dir, len(files))
		return true, nil
	}
	next := make(map[string][]byte)
	names := make(map[string]bool)
	for _, f := range files {
		next[f.Name] = f.Content
		names[f.Name] = true
	}
	for name := range old {
		names[name] = true
	}
	differs := false
	for _, name := range slices.Sorted(maps.Keys(names)) {
		path := filepath.ToSlash(filepath.Join(g.dir, name))
		text := diff.Diff(side("a/", path, old[name]), old[name], side("b/", path, next[name]), next[name])
		if len(text) == 0 {
			continue
		}
		differs = true
		if _, err := cmd.OutOrStdout().Write(text); err != nil {
			return false, fmt.Errorf("writing the diff: %w", err)
		}
	}
	return differs, nil
}

// side names a side of a diff.
func side(prefix, path string, content []byte) string {
	if content == nil {
		return "/dev/null"
	}
	return prefix + path
}
