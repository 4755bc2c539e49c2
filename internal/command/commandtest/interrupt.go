// Package commandtest runs the programs of package command as other programs do.
package commandtest

import (
	"os"
	"os/exec"
	"runtime"
	"testing"
)

// Interrupt starts a command that reads its standard input, ends it by a signal while it
// waits for more, and returns its exit code. The input must be more than a pipe holds: when
// all of it is written, the command reads. Windows, where a process cannot be interrupted
// by another one, has the test skipped.
func Interrupt(t *testing.T, cmd *exec.Cmd, input []byte, signal os.Signal) int {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot be interrupted by another one")
	}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := stdin.Write(input); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // the exit code says it
	return cmd.ProcessState.ExitCode()
}
