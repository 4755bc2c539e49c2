package main

import (
	"bytes"
	"os"
	"os/exec"
	"runtime"
	"testing"
)

// TestInterrupt interrupts a command that waits for the rest of a manifest.
func TestInterrupt(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot be interrupted by another one")
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd := &exec.Cmd{Path: program, Args: []string{"etwgen", "check", "-"}, Stderr: &stderr}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// It is more than a pipe holds: when all of it is written the command reads.
	if _, err := stdin.Write(bytes.Repeat([]byte(" "), 1<<20)); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != exitDiagnostics || stderr.String() != "etwgen: interrupted\n" {
		t.Errorf("exit code %d: %s", code, &stderr)
	}
}
