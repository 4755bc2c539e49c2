package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/internal/command"
)

// The exit codes.
const (
	exitTrouble = 1 // with a file
	exitUsage   = 2
)

// newRoot returns the command with all its subcommands.
func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "etw",
		Short: "Show what is in ETW and EventPipe traces",
		Long: `Etw shows what is in traces of events: .etl files of Windows, .nettrace and
.netperf files of .NET, on any system. What a file is, its first bytes say. Zip and
gzip files of traces open directly, and - is the standard input.

Exit codes: 0 if all is well, 1 if a file is not (what could be read of it is shown
nevertheless), 2 for a command line that makes no sense.`,
		Example: `  etw info app.nettrace           what it is, and whether anything was lost
  etw stat app.nettrace           which events it has, and how many
  etw dump app.nettrace           every event with its fields
  etw events clr                  which events of the .NET runtime are known`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cmd.Help()
		},
	}
	command.SetVersion(root)
	command.Add(root, newInfo())
	command.Add(root, newStat())
	command.Add(root, newDump())
	command.Add(root, newEvents())
	command.Add(root, newKeywords())
	return root
}

// A usageError says what is wrong with a command line.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error {
	return &usageError{fmt.Errorf(format, args...)}
}

// errReported is trouble of which all has been said.
var errReported = errors.New("reported")

// exitCode prints what err says, in one line, and returns the exit code for it.
func exitCode(cmd *cobra.Command, err error) int {
	var usage *usageError
	switch {
	case err == nil, isBrokenPipe(err): // whoever reads the output has enough
		return 0
	case errors.Is(err, errReported):
		return exitTrouble
	case !command.Began(err), errors.As(err, &usage):
		line, _, _ := strings.Cut(err.Error(), "\n") // the rest are suggestions
		fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s; see %[1]s --help\n", cmd.CommandPath(), clean(line))
		return exitUsage
	}
	report(cmd, err)
	return exitTrouble
}

// report prints an error in one line.
func report(cmd *cobra.Command, err error) {
	fmt.Fprintf(cmd.ErrOrStderr(), "etw: %s\n", clean(err.Error()))
}
