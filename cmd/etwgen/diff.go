package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/internal/command"
)

// newDiff returns the command that shows the changes that gen would make.
func newDiff() *cobra.Command {
	var flags genFlags
	var format string
	cmd := &cobra.Command{
		Use:   "diff [flags] MANIFEST... | FOLDER...",
		Short: "Show the changes that gen would make",
		Long: `Diff generates a package as gen does, and prints how the files in the folder
differ from it, as a unified diff. It writes nothing. Without flags but --output
they are those with which the package was made. Of a folder without generated
files it only says so.

Of folders it compares the packages in them, and of ./... those below as well,
each with the output of its line for go generate or, without one in the folder, the
command in its header: it takes no flags then but --format sarif, which names the
files that differ to code hosts.

Exit codes: 0 if nothing differs, 1 if something does, 2 for trouble.`,
		Example: "  etwgen diff ./...\n  etwgen diff -o internal/myprovider MyProvider.man",
		Args:    command.Args(1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			diff := flags.diffAsMade
			if isFolder(args[0]) {
				diff = diffMade
			}
			differs, err := asFormat(cmd, format, func() (bool, error) { return diff(cmd, args) })
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
	addFormat(cmd, &format)
	return cmd
}

// asFormat runs diff, and turns its output into SARIF if that is asked for: also if some
// packages could not be compared.
func asFormat(cmd *cobra.Command, format string, diff func() (bool, error)) (bool, error) {
	if format != "sarif" {
		return diff()
	}
	var text bytes.Buffer
	stdout := cmd.OutOrStdout()
	cmd.SetOut(&text)
	differs, err := diff()
	cmd.SetOut(stdout)
	if usage := (*usageError)(nil); errors.As(err, &usage) {
		return false, err
	}
	if err := writeSARIF(cmd, staleIn(text.String())); err != nil {
		return false, err
	}
	return differs, err
}

// ownFlags returns how many flags are given that say how a package is made.
func ownFlags(cmd *cobra.Command) int {
	if cmd.Flags().Changed("format") {
		return cmd.Flags().NFlag() - 1
	}
	return cmd.Flags().NFlag()
}

// trouble turns any error into one with the exit code for trouble, since 1 says
// that something differs.
func trouble(err error) error {
	if _, ok := errors.AsType[*usageError](err); ok {
		return err
	}
	if exit, ok := err.(*exitError); ok {
		return &exitError{exitUsage, exit.err}
	}
	return &exitError{exitUsage, err}
}

// diffMade prints how packages differ from the output of their commands.
func diffMade(cmd *cobra.Command, args []string) (bool, error) {
	if ownFlags(cmd) > 0 {
		return false, usagef("packages in folders have flags of their own; give none, or a manifest")
	}
	any, failed := false, false
	for _, arg := range args {
		list, err := packagesIn(arg)
		if err != nil {
			failed = true
			printFailure(cmd, err)
		}
		for _, m := range list {
			if m.args == nil {
				fmt.Fprintf(cmd.ErrOrStderr(), "etwgen: %s: the header has no command, and nothing is compared\n", m.dir)
				continue
			}
			differs, err := m.diff(cmd, nil)
			switch {
			case command.IsOutput(err):
				return false, err
			case err != nil:
				failed = true
				printFailure(cmd, err)
			}
			any = any || differs
		}
	}
	if failed {
		return any, &exitError{code: exitUsage}
	}
	return any, nil
}

// printFailure prints why a package cannot be compared, unless that is printed already: the
// others are compared all the same.
func printFailure(cmd *cobra.Command, err error) {
	if exit := (*exitError)(nil); errors.As(err, &exit) {
		err = exit.err
	}
	if err != nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "etwgen: %v\n", err)
	}
}

// flags returns the flags and the manifests that the package was made with.
func (m *made) flags() (*genFlags, *cobra.Command, []string, error) {
	g, cmd := new(genFlags), &cobra.Command{}
	g.add(cmd)
	cmd.Flags().BoolP("verbose", "v", false, "")
	if err := cmd.ParseFlags(m.args); err != nil {
		return nil, nil, nil, fmt.Errorf("%s: etwgen gen %s: %w", m.dir, strings.Join(m.args, " "), err)
	}
	g.dir, g.gen.Package = m.dir, cmp.Or(g.gen.Package, m.pkg)
	var paths []string
	for _, name := range cmd.Flags().Args() {
		if name = filepath.FromSlash(name); !filepath.IsAbs(name) {
			name = filepath.Join(m.dir, name)
		}
		paths = append(paths, name)
	}
	return g, cmd, paths, nil
}

// diff prints how the package differs from the output of its command, also for other manifests.
func (m *made) diff(cmd *cobra.Command, others []string) (bool, error) {
	flags, own, paths, err := m.flags()
	if err != nil {
		return false, err
	}
	if others != nil {
		paths = others
	}
	for _, path := range paths {
		if _, err := os.Stat(path); others == nil && errors.Is(err, fs.ErrNotExist) {
			return false, fmt.Errorf("%s: its manifest is not where its command says: %w; give its whole path: etwgen diff -o %s PATH", m.dir, err, quoteArg(filepath.ToSlash(m.dir)))
		}
	}
	own.SetContext(cmd.Context())
	own.SetOut(cmd.OutOrStdout())
	own.SetErr(cmd.ErrOrStderr())
	return flags.diff(own, paths)
}

// diffAsMade prints differences, without flags with those that the package was made with.
func (g *genFlags) diffAsMade(cmd *cobra.Command, paths []string) (bool, error) {
	n := ownFlags(cmd)
	if m, err := readMade(g.dir); (n == 0 || n == 1 && cmd.Flags().Changed("output")) && err == nil && m != nil && m.args != nil {
		return m.diff(cmd, paths)
	}
	return g.diff(cmd, paths) // which says what is wrong with the folder
}

// diff prints differences and reports whether there are any.
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
	return printDiff(cmd.OutOrStdout(), g.dir, old, files)
}
