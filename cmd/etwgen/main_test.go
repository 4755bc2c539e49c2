package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"etwgen": main})
}

// TestScripts runs the scripts in testdata/script. With ETWGEN_UPDATE=1 it writes the output
// of the commands into them.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       os.Getenv("ETWGEN_UPDATE") == "1",
		RequireExplicitExec: true,
	})
}

// TestExitCodes checks the exit codes that scripts depend on.
func TestExitCodes(t *testing.T) {
	const good = `<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events"><instrumentation><events><provider name="P" guid="{7c1d5e0a-3b0f-4f5e-8a52-0d6c1e2f3a4b}"><x/></provider></events></instrumentation></instrumentationManifest>`
	for _, tt := range []struct {
		args  []string
		stdin string
		want  int
	}{
		{nil, "", 0},
		{[]string{"-h"}, "", 0},
		{[]string{"--version"}, "", 0},
		{[]string{"check", "--help"}, "", 0},
		{[]string{"check", "-"}, good, 0},
		{[]string{"check", "--werror", "-"}, good, 1}, // it has an element that means nothing
		{[]string{"check", "-"}, "<a/>", 1},
		{[]string{"check"}, "", 2},
		{[]string{"check", "--no-such-flag", "-"}, good, 2},
		{[]string{"check", filepath.Join(t.TempDir(), "missing.man")}, "", 2},
		{[]string{"list", "-"}, good, 0},
		{[]string{"list", "-"}, "<a/>", 1},
		{[]string{"list", "--provider", "Q", "-"}, good, 2},
		{[]string{"list", "--provider", "p", "-"}, good, 0},
		{[]string{"list"}, "", 2},
		{[]string{"list", "-", "-"}, good, 2},
		{[]string{"gen", "-o", t.TempDir(), "--package", "p", "-"}, good, 0},
		{[]string{"gen", "-o", t.TempDir(), "--package", "p", "-"}, "<a/>", 1},
		{[]string{"gen", "-o", t.TempDir(), "--package", "p-q", "-"}, good, 2},
		{[]string{"gen", "-o", t.TempDir(), "--package", "p", "--provider", "Q", "-"}, good, 2},
		{[]string{"gen"}, "", 2},
		{[]string{"diff", "-o", t.TempDir(), "--package", "p", "-"}, good, 1},
		{[]string{"diff", "-o", t.TempDir(), "--package", "p", "-"}, "<a/>", 2},
		{[]string{"diff"}, "", 2},
		{[]string{"diff", "../../generated/universal/...", t.TempDir()}, "", 2},
		{[]string{"nonsense"}, "", 2},
		{[]string{"--no-such-flag"}, "", 2},
	} {
		var stdout, stderr strings.Builder
		if got := run(tt.args, strings.NewReader(tt.stdin), &stdout, &stderr); got != tt.want {
			t.Errorf("etwgen %s: exit code %d, want %d\n%s%s", strings.Join(tt.args, " "), got, tt.want, &stdout, &stderr)
		}
	}
}
