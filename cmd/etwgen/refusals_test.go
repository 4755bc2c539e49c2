package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
)

// TestRefusals: each command says in one line, and with the right exit code, that a flag is
// wrong, an argument missing, or a file none that it can read.
func TestRefusals(t *testing.T) {
	dir := t.TempDir()
	empty, none := filepath.Join(dir, "empty.man"), filepath.Join(dir, "none.man")
	testio.Write(t, empty, "")
	refused := func(want int, says string, args ...string) {
		t.Helper()
		var stdout, stderr bytes.Buffer
		code := run(args, strings.NewReader(""), &stdout, &stderr)
		said := stderr.String() + stdout.String() // check prints what is wrong with manifests
		if code != want || strings.Count(said, "\n") != 1 || !strings.Contains(said, says) {
			t.Errorf("etwgen %s: exit code %d, want %d: %q, want %q in it", strings.Join(args, " "), code, want, said, says)
		}
	}
	for name, on := range map[string]struct{ files, empty int }{
		"check": {1, exitDiagnostics}, "compat": {2, exitUsage}, "compile": {1, exitDiagnostics}, "diff": {1, exitUsage}, "doc": {1, exitDiagnostics},
		"gen": {1, exitDiagnostics}, "import": {1, exitDiagnostics}, "list": {1, exitDiagnostics},
	} {
		args := func(path string) []string {
			list := append([]string{name}, []string{path, path}[:on.files]...)
			if name == "gen" || name == "diff" {
				list = append(list, "-o", filepath.Join(dir, "events"))
			}
			return list
		}
		refused(exitUsage, "unknown flag: --frobnicate; see etwgen "+name+" --help\n", name, "--frobnicate")
		refused(exitUsage, "missing: etwgen "+name+" [flags] ", name)
		refused(exitUsage, none, args(none)...)
		if name != "diff" { // whose folders are packages
			refused(exitUsage, dir, args(dir)...)
		}
		refused(on.empty, empty, args(empty)...)
	}
	refused(exitUsage, "unknown flag: --frobnicate; see etwgen man --help\n", "man", "--frobnicate")
	profile := filepath.Join(dir, "cpu.folded")
	testio.Write(t, profile, "main;run;work 12\nmain;run;wait 3\n")
	refused(exitDiagnostics, profile+": it is no trace, but at most a profile of another tool; a profile has no events; nor is it a manifest", "import", profile)
}

// TestNoEvents: commands that read manifests say alike that an assembly has no events.
func TestNoEvents(t *testing.T) {
	library := filepath.Join("..", "..", "tests", "live", "app.dll")
	for _, name := range []string{"check", "compile", "doc", "gen", "import", "list"} {
		args := []string{name, library}
		if name == "compile" || name == "doc" || name == "gen" {
			args = append(args, "-o", filepath.Join(t.TempDir(), "events"))
		}
		var stdout, stderr bytes.Buffer
		code := run(args, strings.NewReader(""), &stdout, &stderr)
		if want := "etwgen: " + library + ": the assembly has no EventSource class\n"; code != exitDiagnostics || stderr.String() != want || stdout.Len() > 0 {
			t.Errorf("%s: exit code %d, %q, %d bytes of output, want %q", name, code, stderr.String(), stdout.Len(), want)
		}
	}
}
