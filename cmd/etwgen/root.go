package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

// newRoot returns the command with all its subcommands.
func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "etwgen",
		Short: "Go packages from ETW instrumentation manifests",
		Long: `Etwgen makes Go packages out of ETW instrumentation manifests, and tells what
is in them and what is wrong with them.

Exit codes: 0 if all is well, 1 if a manifest is not, 2 for a command line that
makes no sense or a file that cannot be read.`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	add(root, newCheck())
	add(root, newList())
	add(root, newGen())
	add(root, newDiff())
	add(root, newDoc())
	return root
}

// add adds a subcommand. What its function returns is told apart from what
// package cobra says about the command line.
func add(root, cmd *cobra.Command) {
	do := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := do(cmd, args); err != nil {
			return &commandError{err}
		}
		return nil
	}
	root.AddCommand(cmd)
}

// The exit codes.
const (
	exitDiagnostics = 1
	exitUsage       = 2
)

// A commandError is an error of a command that has begun its work.
type commandError struct{ err error }

func (e *commandError) Error() string { return e.err.Error() }
func (e *commandError) Unwrap() error { return e.err }

// An exitError chooses the exit code. Without an error there is nothing left to
// say.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// exitCode prints what err says and returns the exit code for it.
func exitCode(cmd *cobra.Command, err error) int {
	if err == nil {
		return 0
	}
	stderr := cmd.ErrOrStderr()
	var began *commandError
	if !errors.As(err, &began) {
		fmt.Fprintf(stderr, "etwgen: %v\n%s", err, cmd.UsageString())
		return exitUsage
	}
	var exit *exitError
	if !errors.As(err, &exit) {
		exit = &exitError{exitDiagnostics, err}
	}
	if exit.err != nil {
		fmt.Fprintf(stderr, "etwgen: %v\n", exit.err)
	}
	return exit.code
}
