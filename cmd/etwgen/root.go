package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/internal/command"
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
	command.SetVersion(root)
	command.Add(root, newCheck())
	command.Add(root, newList())
	command.Add(root, newGen())
	command.Add(root, newDiff())
	command.Add(root, newDoc())
	return root
}

// The exit codes.
const (
	exitDiagnostics = 1
	exitUsage       = 2
)

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
	if !command.Began(err) {
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
