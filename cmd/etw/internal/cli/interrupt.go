package cli

import (
	"os"
	"os/signal"
	"syscall"
)

// Endings returns the signals that end a command: also that a terminal is closed, unless
// nohup or the like has it go on.
func Endings() []os.Signal {
	list := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		list = append(list, syscall.SIGHUP)
	}
	return list
}
