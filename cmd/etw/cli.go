package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/internal/command"
)

// The exit codes.
const (
	exitTrouble = 1 // with a file
	exitUsage   = 2
	exitFailed  = 3 // a condition of --fail-if holds
)

// A usageError says what is wrong with a command line.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }

func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error {
	return &usageError{fmt.Errorf(format, args...)}
}

// errReported is trouble of which all has been said.
var errReported = errors.New("reported")

// report prints an error in one line.
func report(cmd *cobra.Command, err error) {
	fmt.Fprintf(cmd.ErrOrStderr(), "etw: %s\n", clean(err.Error()))
}

// exitCode prints what err says, in one line, and returns the exit code for it.
func exitCode(cmd *cobra.Command, err error) int {
	var usage *usageError
	switch {
	case err == nil, isBrokenPipe(err): // whoever reads the output has enough
		return 0
	case errors.Is(err, errFailed):
		return exitFailed
	case errors.Is(err, errReported):
		return exitTrouble
	case command.IsOutput(err):
		report(cmd, err)
		return exitTrouble
	case !command.Began(err), errors.As(err, &usage):
		line, _, _ := strings.Cut(err.Error(), "\n") // the rest are suggestions
		fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s%s; see %[1]s --help\n", cmd.CommandPath(), clean(line), similarCommand(cmd, line))
		return exitUsage
	}
	if errors.Is(err, context.Canceled) && cmd.Context() != nil && cmd.Context().Err() != nil {
		err = errors.New("interrupted")
	}
	report(cmd, err)
	return exitTrouble
}

// isLive reports whether a command is about a live process.
func isLive(cmd *cobra.Command) bool {
	return slices.ContainsFunc([]string{"attach", "name", "port"}, cmd.Flags().Changed)
}

// stdoutPath is the path of a file that stands for the standard output.
const stdoutPath = "-"

// similarCommand returns a question for a command that is like the one that is not known.
func similarCommand(cmd *cobra.Command, line string) string {
	rest, ok := strings.CutPrefix(line, `unknown command "`)
	if !ok {
		return ""
	}
	name, _, _ := strings.Cut(rest, `"`)
	return didYouMean(name, command.Names(cmd.Root()))
}

// errFailed says that a condition of --fail-if holds. What it is has been said.
var errFailed = errors.New("a condition of --fail-if holds")

// recordedLong is what the help of such commands says of it.
const recordedLong = `With -p, --name or --port it is about a live process: what the command needs is
recorded for --duration, or up to an interrupt (^C).`
