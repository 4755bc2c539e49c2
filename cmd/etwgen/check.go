package main

import (
	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/manifest"
)

// newCheck returns the command that looks for faults.
func newCheck() *cobra.Command {
	var opts manifest.Options
	var werror, all bool
	cmd := &cobra.Command{
		Use:   "check [flags] FILE...",
		Short: "Say what is wrong with manifests",
		Long: `Check reads manifests and prints what is wrong with them, one line for each
fault, as file:line:col: message. It says nothing about a manifest that is good.
Of faults of one kind it prints the first few, with the number of the others;
--all prints them all. A FILE of - is the standard input.

It refuses what the message compiler of Windows refuses, unless --lenient asks
for what dumps of registered providers need.`,
		Example: "  etwgen check MyProvider.man\n  etwgen check --lenient dumps/*.xml",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			few := fewOfAKind
			if all {
				few = 0
			}
			bad := false
			for _, path := range args {
				r, err := readManifest(cmd, path, opts)
				if err != nil {
					return err
				}
				r.print(cmd, few)
				bad = bad || len(r.errors) > 0 || werror && len(r.warnings) > 0
			}
			if bad {
				return &exitError{code: exitDiagnostics}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&opts.Lenient, "lenient", false, "accept what dumps of registered providers contain")
	cmd.Flags().BoolVar(&werror, "werror", false, "exit with 1 also for warnings")
	cmd.Flags().BoolVar(&all, "all", false, "print every fault, however many there are of its kind")
	cmd.Flags().BoolVarP(&opts.Notes, "verbose", "v", false, "also warn about values outside their documented ranges")
	return cmd
}
