//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// TestShrinkingTrace: a trace that becomes shorter while it is read is an error.
func TestShrinkingTrace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shrinking.nettrace")
	testio.Write(t, path, endlessTrace())
	read := pick.OverMappings(func(*cobra.Command, []string) error {
		tr, err := trace.Open(path, trace.WithMapping())
		if err != nil {
			return err
		}
		defer tr.Close()
		if err := os.Truncate(path, 0); err != nil {
			return err
		}
		var rec etw.Record
		for {
			if err := tr.Next(&rec); err != nil {
				return err
			}
		}
	})
	if err := read(nil, nil); err == nil || !strings.Contains(err.Error(), "became shorter") {
		t.Error(err)
	}
}

// TestOtherPanics: a fault of the program itself is not called a trace's fault.
func TestOtherPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	pick.OverMappings(func(*cobra.Command, []string) error { panic("a bug") })(nil, nil)
}
