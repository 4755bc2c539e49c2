// Package command holds what the commands of the module share.
package command

import (
	"errors"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// Add adds a subcommand to root, so that [Began] tells what its function returns
// from what package cobra says about the command line.
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

// SetVersion gives root the flag --version, which prints that of the module.
func SetVersion(root *cobra.Command) {
	root.Version = "(devel)"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		root.Version = info.Main.Version
	}
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
}
