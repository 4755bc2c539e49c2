package main

import (
	"github.com/etwgen/etwgen/manifest"
	"github.com/spf13/cobra"
)

// newCheck returns the command that looks for faults.
func newCheck() *cobra.Command {
	var opts manifest.Options
	var werror bool
	cmd := &cobra.Command{
		Use:   "check [flags] FILE...",
		Short: "Say what is wrong with manifests",
		Long: `Check reads manifests and prints what is wrong with them, one line for each
fault, as file:line:col: message. It says nothing about a manifest that is good.
A FILE of - is the standard input.

It is as strict as the message compiler of Windows, unless --lenient asks for
what dumps of registered providers need.`,
		Example: "  etwgen check MyProvider.man\n  etwgen check --lenient dumps/*.xml",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			bad := false
			for _, path := range args {
				m, warnings, err := readManifest(cmd, path, opts)
				if err != nil {
					return err
				}
				bad = bad || m == nil || werror && warnings > 0
			}
			if bad {
				return &exitError{code: exitDiagnostics}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&opts.Lenient, "lenient", false, "accept what dumps of registered providers contain")
	cmd.Flags().BoolVar(&werror, "werror", false, "exit with 1 for warnings, too")
	cmd.Flags().BoolVarP(&opts.Notes, "verbose", "v", false, "warn about values outside of their documented ranges, too")
	return cmd
}
