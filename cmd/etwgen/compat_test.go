package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
)

const compatShop = `<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events"
    xmlns:win="http://manifests.microsoft.com/win/2004/08/windows/events"><instrumentation><events>
<provider name="My-Shop" guid="{5d1e2f64-77a0-4c57-9f0c-2b8c4f0a9e11}" symbol="MY_SHOP" resourceFileName="shop.exe" messageFileName="shop.exe">
<templates><template tid="Sold"><data name="Article" inType="win:UnicodeString"/><data name="Pieces" inType="win:UInt32"/></template></templates>
<events><event value="1" symbol="Sold" template="Sold" level="win:Informational" message="sold"/></events>
</provider></events></instrumentation></instrumentationManifest>`

// TestCompatExitCodes: CI goes by the exit code of compat.
func TestCompatExitCodes(t *testing.T) {
	dir := t.TempDir()
	write := func(name, from, to string) {
		testio.Write(t, filepath.Join(dir, name), strings.Replace(compatShop, from, to, 1))
	}
	write("old.man", "", "")
	write("note.man", `message="sold"`, `message="bought"`)
	write("warning.man", "win:Informational", "win:Verbose")
	write("error.man", "win:UInt32", "win:UInt64")
	write("bad.man", "</events>", "")
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args string
		want int
	}{
		{"old.man old.man", 0},
		{"old.man note.man", 0},
		{"--werror --all old.man note.man", 0},
		{"old.man warning.man", 0},
		{"--werror old.man warning.man", exitDiagnostics},
		{"old.man error.man", exitDiagnostics},
		{"error.man old.man", exitDiagnostics},
		{"--werror old.man error.man", exitDiagnostics},
		{"old.man missing.man", exitUsage},
		{"old.man folder", exitUsage},
		{"folder old.man", exitUsage},
		{"old.man bad.man", exitUsage},
		{"old.man", exitUsage},
	} {
		args := []string{"compat"}
		for arg := range strings.FieldsSeq(tt.args) {
			if !strings.HasPrefix(arg, "--") {
				arg = filepath.Join(dir, arg)
			}
			args = append(args, arg)
		}
		if got := run(args, strings.NewReader(""), io.Discard, io.Discard); got != tt.want {
			t.Errorf("compat %s exits with %d, want %d", tt.args, got, tt.want)
		}
	}
}
