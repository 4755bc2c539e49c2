package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"

	"github.com/etwgen/etwgen/internal/command"
	"github.com/etwgen/etwgen/manifest"
	"github.com/spf13/cobra"
)

// newCompat returns the command that compares two versions of a manifest.
func newCompat() *cobra.Command {
	var werror, all bool
	var format, since string
	cmd := &cobra.Command{
		Use:   "compat [flags] OLD NEW | --since COMMIT FILE...",
		Short: "Say whom a change of a manifest harms",
		Long: `Compat compares two versions of a manifest, and prints the changes that harm those who know
the old one, one line for each change, as file:line:col: severity: message (rule).

  error    payloads in old traces are misread, or old programs misread new ones:
           an event or a provider is gone, its layout differs without a new
           version, a keyword is another bit
  warning  sessions, queries or source code may have to change: names, levels,
           keywords, channels, opcodes, meanings of values; a new version that
           does not begin with the fields of the old one
  note     other text for people: messages, outTypes; additions (with --all)

Each can also be a program, with the events of its resource and of TraceLogging: two builds
of it are two versions. Both files are read leniently. With --since the old version of
each FILE is that of a commit, by git; files that it does not have are new, and fine.
--format sarif is for code hosts.

Exit codes: 0 if there is no error, 1 if there is, or with --werror a warning, 2 for
trouble.`,
		Example: "  etwgen compat released.man MyProvider.man\n  etwgen compat --since origin/main --werror events/*.man",
		Args:    command.Args(1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			changes, err := changesOf(cmd, since, args)
			if err != nil {
				return trouble(err)
			}
			least, fatal := manifest.Doubtful, manifest.Breaking
			if all {
				least = manifest.Harmless
			}
			if werror {
				fatal = manifest.Doubtful
			}
			if format == "sarif" {
				err = writeSARIF(cmd, findingsOf(changes, least))
			} else {
				_, err = printChanges(cmd.OutOrStdout(), changes, least)
			}
			if err != nil {
				return &exitError{exitUsage, err}
			}
			for _, c := range changes {
				if c.Severity >= fatal {
					return &exitError{code: exitDiagnostics}
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&werror, "werror", false, "exit with 1 also for warnings")
	cmd.Flags().StringVar(&since, "since", "", "compare files with those of a `commit`, as git names it")
	addFormat(cmd, &format)
	cmd.Flags().BoolVar(&all, "all", false, "also print changes that only people see, and additions")
	return cmd
}

// changesOf returns the changes from one file to another, or of files since a commit.
func changesOf(cmd *cobra.Command, since string, paths []string) ([]manifest.Change, error) {
	opts := manifest.Options{Lenient: true}
	if since == "" {
		if len(paths) != 2 {
			return nil, usagef("give two files, the old one and the new one, or --since a commit")
		}
		old, err := sound(cmd, paths[0], opts)
		if err != nil {
			return nil, err
		}
		now, err := sound(cmd, paths[1], opts)
		if err != nil {
			return nil, err
		}
		return manifest.Compare(old.manifest, now.manifest), nil
	}
	var all []manifest.Change
	for _, path := range paths {
		now, err := sound(cmd, path, opts)
		if err != nil {
			return nil, err
		}
		data, err := ofCommit(cmd.Context(), since, path)
		if err != nil {
			return nil, err
		}
		if data == nil {
			continue
		}
		old, err := readOpened(cmd, path, bytes.NewReader(data), opts)
		if old, err = old.sound(cmd, err); err != nil {
			return nil, fmt.Errorf("%s: as it is in %s, it cannot be read", path, since)
		}
		all = append(all, manifest.Compare(old.manifest, now.manifest)...)
	}
	return all, nil
}

// ofCommit returns the file as a commit has it, or nil if that has no such file.
func ofCommit(ctx context.Context, commit, path string) ([]byte, error) {
	git := func(args ...string) ([]byte, error) {
		out, err := exec.CommandContext(ctx, "git", append([]string{"-C", filepath.Dir(path)}, args...)...).Output()
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
			return nil, fmt.Errorf("%s: git %s: %s", path, args[0], bytes.TrimSpace(exit.Stderr))
		}
		return out, err
	}
	hash, err := git("rev-parse", "--verify", "--end-of-options", commit+"^{commit}")
	if err != nil {
		return nil, err
	}
	commit = string(bytes.TrimSpace(hash))
	name := "./" + filepath.Base(path)
	listed, err := git("ls-tree", "--name-only", commit, "--", name)
	if err != nil || len(listed) == 0 {
		return nil, err
	}
	return git("show", commit+":"+name)
}

// printChanges prints the changes of at least some severity, and returns how many
// there are.
func printChanges(w io.Writer, changes []manifest.Change, least manifest.Severity) (int, error) {
	n := 0
	for _, c := range changes {
		if c.Severity < least {
			continue
		}
		n++
		if _, err := fmt.Fprintln(w, c); err != nil {
			return n, err
		}
	}
	return n, nil
}

// findingsOf returns the changes of at least some severity as findings.
func findingsOf(changes []manifest.Change, least manifest.Severity) []finding {
	var list []finding
	for _, c := range changes {
		if c.Severity >= least {
			list = append(list, finding{c.Rule, c.Severity.String(), c.Msg, c.Pos.File, c.Pos.Line, c.Pos.Col})
		}
	}
	return list
}
