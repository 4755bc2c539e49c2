package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/manifest"
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
				sound, warnings, err := checkManifest(cmd, path, opts)
				if err != nil {
					return err
				}
				bad = bad || !sound || werror && warnings > 0
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

// checkManifest prints what is to be said about a manifest, errors and warnings,
// as lines of the form file:line:col: message in the order of the file. An error
// means that the file could not be read at all.
func checkManifest(cmd *cobra.Command, path string, opts manifest.Options) (sound bool, warnings int, err error) {
	_, warned, err := parseManifest(cmd, path, opts)
	var faults manifest.ErrorList
	if err != nil && !errors.As(err, &faults) {
		return false, 0, &exitError{exitUsage, err}
	}
	all := slices.Concat(faults, warned)
	severity := make(map[*manifest.Error]string, len(warned))
	for _, w := range warned {
		severity[w] = "warning: "
	}
	all.Sort()
	for _, e := range all {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s%s\n", e.Pos, severity[e], e.Msg)
	}
	return err == nil, len(warned), nil
}
