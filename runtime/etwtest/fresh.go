package etwtest

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/internal/fingerprint"
)

// Fresh checks, in the folder of a generated package, that the manifest has not changed since
// the command made the package of it, and else says how to make it again. Without the file,
// as where a module is vendored, it skips.
func Fresh(t testing.TB, command, manifest, made string) {
	t.Helper()
	now, err := fingerprint.Of(filepath.FromSlash(manifest))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("there is no %s to compare with", manifest)
	}
	if err != nil {
		t.Fatal(err)
	}
	if now != made {
		t.Errorf("%s has changed since this package was generated from it; run: %s", manifest, remedy(command))
	}
}

// remedy returns what generates the package in this folder: go generate, at the root of its
// module, if a file beside it says how, and else the command here.
func remedy(command string) string {
	dir, err := os.Getwd()
	if err != nil || !generates(dir) {
		return command
	}
	for at, below := dir, ""; ; {
		if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil {
			return "go generate ./" + below
		}
		up := filepath.Dir(at)
		if up == at {
			return "go generate " + dir
		}
		at, below = up, path.Join(filepath.Base(at), below)
	}
}

// generates reports whether a file in dir has a line for go generate that runs etwgen.
func generates(dir string) bool {
	files, _ := filepath.Glob(filepath.Join(dir, "*.go"))
	for _, file := range files {
		text, _ := os.ReadFile(file)
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, "//go:generate ") && strings.Contains(line, "etwgen") {
				return true
			}
		}
	}
	return false
}
