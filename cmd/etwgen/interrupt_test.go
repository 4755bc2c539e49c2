package main

import (
	"bytes"
	"os"
	"os/exec"
	"testing"

	"github.com/etwgen/etwgen/internal/command/commandtest"
)

// TestInterrupt interrupts a command that waits for the rest of a manifest.
func TestInterrupt(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd := &exec.Cmd{Path: program, Args: []string{"etwgen", "check", "-"}, Stderr: &stderr}
	code := commandtest.Interrupt(t, cmd, bytes.Repeat([]byte(" "), 1<<20), os.Interrupt)
	if code != exitDiagnostics || stderr.String() != "etwgen: interrupted\n" {
		t.Errorf("exit code %d: %s", code, &stderr)
	}
}
