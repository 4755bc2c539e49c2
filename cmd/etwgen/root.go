package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/internal/command"
)

// newRoot returns the command with all its subcommands.
func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "etwgen",
		Short: "Go packages from ETW instrumentation manifests",
		Long: `Etwgen makes Go packages from ETW instrumentation manifests, lists their
contents, and reports their faults. It takes manifests out of programs,
resources and traces, compiles them for Windows, and compares two versions.

Every command that reads a manifest also takes a program or library of Windows
with a WEVT_TEMPLATE resource, such a resource alone, or a trace whose events
describe themselves; it then reads the output of etwgen import.

Exit codes: 0 if all is well, 1 if a manifest has errors, 2 for a command line
that makes no sense or a file that cannot be read or written.`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	command.SetVersion(root)
	command.ExplainFlags(root)
	command.Add(root, newCheck())
	command.Add(root, newList())
	command.Add(root, newGen())
	command.Add(root, newDiff())
	command.Add(root, newDoc())
	command.Add(root, newImport())
	command.Add(root, newCompile())
	command.Add(root, newCompat())
	command.Add(root, newMan())
	return root
}

// The exit codes.
const (
	exitDiagnostics = 1
	exitUsage       = 2
)

// A usageError is a fault in a command line.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error {
	return &usageError{fmt.Errorf(format, args...)}
}

// An exitError chooses the exit code. If err is nil everything has been printed.
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

// exitCode prints err and returns the exit code for it.
func exitCode(cmd *cobra.Command, err error) int {
	if err == nil {
		return 0
	}
	stderr := cmd.ErrOrStderr()
	var usage *usageError
	if !command.IsOutput(err) && (!command.Began(err) || errors.As(err, &usage)) {
		line, _, _ := strings.Cut(err.Error(), "\n") // the rest are suggestions
		fmt.Fprintf(stderr, "%s: %s; see %[1]s --help\n", cmd.CommandPath(), line)
		return exitUsage
	}
	var exit *exitError
	if !errors.As(err, &exit) {
		exit = &exitError{exitDiagnostics, err}
		if command.IsOutput(err) {
			exit.code = exitUsage
		}
	}
	if exit.err != nil {
		fmt.Fprintf(stderr, "etwgen: %v\n", exit.err)
	}
	return exit.code
}

// newMan returns the command that makes manual pages.
func newMan() *cobra.Command {
	cmd := command.NewMan(usagef, func(string, []string) string { return "" })
	cmd.Long = `Man prints the manual page of etwgen or of one of its commands, in the form that man
reads, or writes all of them into a folder.`
	cmd.Example = `  etwgen man gen > etwgen-gen.1
  etwgen man --dir man1`
	return cmd
}
