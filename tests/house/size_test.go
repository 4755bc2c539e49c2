package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/etwgen/etwgen/tests/corpus"
)

// TestSizes: the tools, as they are released, are small. A program grows at once by code
// that the linker has to keep: types whose methods are found by reflection, and generic
// functions that are compiled for many types.
func TestSizes(t *testing.T) {
	if !corpus.All() {
		t.Skip("ETWGEN_TESTS=all is not set")
	}
	for name, most := range map[string]int64{"etw": 24_000_000, "etwgen": 9_000_000} {
		file := filepath.Join(t.TempDir(), name)
		build := exec.Command("go", "build", "-trimpath", "-tags=nethttpomithttp2", "-ldflags=-s -w", "-o", file, "github.com/etwgen/etwgen/cmd/"+name)
		build.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0", "GOFLAGS=")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s has %d bytes", name, info.Size())
		if info.Size() > most {
			t.Errorf("%s has %d bytes, more than %d: look at it with go tool nm -size -sort size", name, info.Size(), most)
		}
	}
}
