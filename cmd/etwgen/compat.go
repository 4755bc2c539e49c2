package main

import (
	"fmt"
	"io"

	"github.com/etwgen/etwgen/internal/command"
	"github.com/etwgen/etwgen/manifest"
	"github.com/spf13/cobra"
)

// newCompat returns the command that compares two versions of a manifest.
func newCompat() *cobra.Command {
	var werror, all bool
	var format string
	cmd := &cobra.Command{
		Use:   "compat [flags] OLD NEW",
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
of it are two versions. Both files are read leniently. --format sarif is for code hosts.

Exit codes: 0 if there is no error, 1 if there is, or with --werror a warning, 2 for
trouble.`,
		Example: "  etwgen compat released.man MyProvider.man\n  etwgen compat --all old/app.exe new/app.exe",
		Args:    command.Args(2, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			var versions [2]*reading
			var err error
			for i, path := range args {
				if versions[i], err = sound(cmd, path, manifest.Options{Lenient: true}); err != nil {
					return trouble(err)
				}
			}
			least, fatal := manifest.Doubtful, manifest.Breaking
			if all {
				least = manifest.Harmless
			}
			if werror {
				fatal = manifest.Doubtful
			}
			changes := manifest.Compare(versions[0].manifest, versions[1].manifest)
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
	addFormat(cmd, &format)
	cmd.Flags().BoolVar(&all, "all", false, "also print changes that only people see, and additions")
	return cmd
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
