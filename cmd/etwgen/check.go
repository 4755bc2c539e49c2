package main

import (
	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/internal/command"
	"github.com/etwgen/etwgen/manifest"
)

// newCheck returns the command that looks for faults.
func newCheck() *cobra.Command {
	var opts manifest.Options
	var werror, every bool
	var format string
	cmd := &cobra.Command{
		Use:   "check [flags] FILE...",
		Short: "Report faults in manifests",
		Long: `Check reads manifests and prints their faults, one line for each
fault, as file:line:col: message. It says nothing about a manifest that is good.
Of faults of one kind it prints the first few, with the number of the others;
--all prints them all. A FILE of - is the standard input. With --format sarif all
faults go to the standard output, in the form that code hosts and editors show.

It refuses the same as the message compiler of Windows, unless --lenient asks
for the needs of dumps of registered providers.`,
		Example: "  etwgen check MyProvider.man\n  etwgen check --lenient dumps/*.xml",
		Args:    command.Args(1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			few := fewOfAKind
			if every {
				few = 0
			}
			bad := false
			var all []finding
			for _, path := range args {
				r, err := readManifest(cmd, path, opts)
				if err != nil {
					return err
				}
				if format == "sarif" {
					all = append(all, faultsOf(r)...)
				} else {
					r.print(cmd, few)
				}
				bad = bad || len(r.errors) > 0 || werror && len(r.warnings) > 0
			}
			if format == "sarif" {
				if err := writeSARIF(cmd, all); err != nil {
					return err
				}
			}
			if bad {
				return &exitError{code: exitDiagnostics}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&opts.Lenient, "lenient", false, "accept dumps of registered providers")
	cmd.Flags().BoolVar(&werror, "werror", false, "exit with 1 also for warnings")
	cmd.Flags().BoolVar(&every, "all", false, "print every fault, however many there are of its kind")
	addFormat(cmd, &format)
	cmd.Flags().BoolVarP(&opts.Notes, "verbose", "v", false, "also warn about values outside their documented ranges")
	return cmd
}
