package etwtest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/internal/directive"
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

// remedy returns the command that generates the package in this folder, from wherever in its
// module: go generate, if a file of the module says how, and else the command here.
func remedy(command string) string {
	dir, err := os.Getwd()
	if err != nil {
		return command
	}
	if path := directive.ImportPath(dir); path != "" {
		return "go generate " + path
	}
	mod, _ := os.ReadFile(filepath.Join(directive.Root(dir), "go.mod")) // without it there is no tool of it
	if strings.Contains(string(mod), "github.com/etwgen/etwgen/cmd/etwgen") {
		command = "go tool " + command
	}
	if strings.Contains(dir, " ") {
		dir = `"` + dir + `"`
	}
	return "cd " + dir + " && " + command
}
