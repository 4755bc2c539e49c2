// Package command holds the common parts of the module's commands.
package command

import (
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// Add adds a subcommand to root, so that [Began] tells the errors of its function from those
// of package cobra about the command line.
func Add(root, cmd *cobra.Command) {
	// Cobra takes the argument behind a flag that it does not know yet for its
	// value: the help of a command is asked for in either order.
	root.InitDefaultHelpFlag()
	do := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := do(cmd, args); err != nil {
			return &begunError{err}
		}
		return nil
	}
	root.AddCommand(cmd)
}

// A begunError is an error of a command that has begun its work.
type begunError struct{ err error }

func (e *begunError) Error() string { return e.err.Error() }
func (e *begunError) Unwrap() error { return e.err }

// Began reports whether err comes from the function of a subcommand.
func Began(err error) bool {
	var begun *begunError
	return errors.As(err, &begun)
}

// Version returns the version of the module.
func Version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

// SetVersion gives root the flag --version. Root has only help to give, and gives the
// version in its place: a version template of package cobra would have the linker keep
// every exported method of the program, for templates call them by name.
func SetVersion(root *cobra.Command) {
	asked := root.Flags().BoolP("version", "v", false, "version for "+root.Name())
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if cmd == root && *asked && !cmd.Flags().Changed("help") {
			fmt.Fprintln(cmd.OutOrStdout(), root.Name(), Version())
			return
		}
		help(cmd, args)
	})
}
