//go:build unix

package main

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

// enableColor asks a terminal to take the codes of colours.
func enableColor(*os.File) bool { return true }

// reportBrokenPipes makes writing to a closed pipe an error, where it would end
// the program otherwise.
func reportBrokenPipes() { signal.Ignore(syscall.SIGPIPE) }

func isBrokenPipe(err error) bool { return errors.Is(err, syscall.EPIPE) }
