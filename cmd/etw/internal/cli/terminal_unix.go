//go:build unix

package cli

import (
	"errors"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	return err == nil
}

// TerminalSize returns how many cells a line of the terminal has, and how many
// lines it has: 0 if it does not say.
func TerminalSize(f *os.File) (width, height int) {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, 0
	}
	return int(size.Col), int(size.Row)
}

// enableColor asks a terminal to take the codes of colours.
func enableColor(*os.File) bool { return true }

// ReportBrokenPipes makes writing to a closed pipe an error, where it would end
// the program otherwise.
func ReportBrokenPipes() { signal.Ignore(syscall.SIGPIPE) }

func IsBrokenPipe(err error) bool { return errors.Is(err, syscall.EPIPE) }
