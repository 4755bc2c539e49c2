//go:build unix

package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestDeskPipe: a pipe in place of a trace makes nobody wait.
func TestDeskPipe(t *testing.T) {
	d, root := deskOf(t)
	path := filepath.Join(root, "gc.nettrace")
	if _, err := d.Trace("gc.nettrace"); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(path, 0o666); err != nil {
		t.Skip(err)
	}
	if _, err := askTool(t, d, "gc", map[string]any{"trace": "t1"}); err == nil {
		t.Error("a pipe is read")
	}
	if f, err := d.Open(path); err == nil {
		t.Errorf("%v is opened", f.Name())
	}
}
