package main

import (
	"bytes"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/etwgen/etwgen/manifest"
	"github.com/etwgen/etwgen/manifest/wevt"
	"github.com/etwgen/etwgen/tests/corpus"
)

// TestResources builds the service for Windows, and takes the compiled manifest out of the
// program.
func TestResources(t *testing.T) {
	if !corpus.All() || testing.Short() {
		t.Skip("builds the standard library for each architecture: ETWGEN_TESTS=all does it")
	}
	m, _, err := manifest.ParseFile("events/service.man", manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want, err := wevt.Encode(m, wevt.EncodeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, arch := range []string{"amd64", "arm64", "386"} {
		t.Run(arch, func(t *testing.T) {
			program := filepath.Join(t.TempDir(), "service.exe")
			build := exec.Command("go", "build", "-o", program, ".")
			build.Env = append(os.Environ(), "GOOS=windows", "GOARCH="+arch, "CGO_ENABLED=0")
			if out, err := build.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			f, err := os.Open(program)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			got, err := wevt.ReadPE(f)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.Templates, want.Templates) || !maps.EqualFunc(got.Messages, want.Messages, bytes.Equal) {
				t.Error("the program has other resources than its manifest is compiled to")
			}
		})
	}
}
