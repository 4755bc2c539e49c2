package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/internal/command"
)

// The exit codes.
const (
	ExitTrouble = 1 // with a file
	ExitUsage   = 2
	ExitFailed  = 3 // a condition of --fail-if holds
	ExitUnmet   = 4 // the condition of --stop-when did not come
	ExitNone    = 5 // the trace has none of the events that the answer is of
)

// A UsageError is a fault in a command line.
type UsageError struct{ Err error }

func (e *UsageError) Error() string { return e.Err.Error() }

func (e *UsageError) Unwrap() error { return e.Err }

// Usagef returns an error about a command line.
func Usagef(format string, args ...any) error {
	return &UsageError{fmt.Errorf(format, args...)}
}

// ErrReported is trouble of which all has been said.
var ErrReported = errors.New("reported")

// ErrNone is that a trace has no answer, which has been said.
var ErrNone = errors.New("no answer")

// Report prints an error in one line.
func Report(cmd *cobra.Command, err error) {
	fmt.Fprintf(cmd.ErrOrStderr(), "etw: %s\n", Clean(err.Error()))
}

// ExitCode prints err, in one line, and returns the exit code for it.
func ExitCode(cmd *cobra.Command, err error) int {
	var usage *UsageError
	switch {
	case err == nil, IsBrokenPipe(err): // whoever reads the output has enough
		return 0
	case errors.Is(err, ErrFailed):
		return ExitFailed
	case errors.Is(err, ErrUnmet):
		return ExitUnmet
	case errors.Is(err, ErrNone):
		return ExitNone
	case errors.Is(err, ErrReported):
		return ExitTrouble
	case command.IsOutput(err):
		Report(cmd, err)
		return ExitTrouble
	case !command.Began(err), errors.As(err, &usage):
		line, _, _ := strings.Cut(err.Error(), "\n") // the rest are suggestions
		fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s%s; see %[1]s --help\n", cmd.CommandPath(), Clean(line), advice(cmd, line))
		return ExitUsage
	}
	if errors.Is(err, context.Canceled) && cmd.Context() != nil && cmd.Context().Err() != nil {
		err = errors.New("interrupted")
	}
	if f := cmd.Flags().ShorthandLookup("p"); f != nil && f.Name == "attach" && errors.Is(err, fs.ErrNotExist) {
		if pid, noNumber := strconv.Atoi(cmd.Flags().Arg(0)); noNumber == nil {
			err = fmt.Errorf("%w (a process: -p %d)", err, pid)
		}
	}
	Report(cmd, err)
	return ExitTrouble
}

// Asked is the annotation of commands that assistants can ask.
const Asked = "asked"

// Side is an annotation of flags that turn a question to another side, with a result of its own.
const Side = "side"

// IsLive reports whether a command is about a live process.
func IsLive(cmd *cobra.Command) bool {
	return slices.ContainsFunc([]string{"attach", "name", "port"}, cmd.Flags().Changed)
}

// StdoutPath is the path of a file that stands for the standard output.
const StdoutPath = "-"

// advice says where an unknown command has moved, or asks for one that is like it. Where a file
// is missing, -p may have been taken for that of a process.
func advice(cmd *cobra.Command, line string) string {
	rest, ok := strings.CutPrefix(line, `unknown command "`)
	if f := cmd.Flags().ShorthandLookup("p"); f != nil && f.Changed && f.Name == "provider" && strings.HasPrefix(line, "an argument") {
		return " (-p is a provider)"
	}
	if !ok {
		return ""
	}
	name, _, _ := strings.Cut(rest, `"`)
	if now := moved[name]; now != "" {
		return ": it is etw " + now
	}
	return DidYouMean(name, command.Names(cmd.Root()))
}

// ErrUnmet says that a recording is over, and its condition did not come, which has been
// said.
var ErrUnmet = errors.New("the condition of --stop-when did not come")

// ErrFailed says that a condition of --fail-if holds. The condition has been named.
var ErrFailed = errors.New("a condition of --fail-if holds")

// RecordedLong is the text on it in the help of such commands.
const RecordedLong = `With -p, --name or --port it is about a live process: the needs of the command are
recorded for --duration, or up to an interrupt (^C).`

// Args checks that a command has that many arguments, any number of them if most is negative.
func Args(least, most int) cobra.PositionalArgs { return command.Args(least, most) }

// Endings returns the signals that end a command: also that a terminal is closed, unless
// nohup or the like has it go on.
func Endings() []os.Signal {
	list := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		list = append(list, syscall.SIGHUP)
	}
	return list
}
