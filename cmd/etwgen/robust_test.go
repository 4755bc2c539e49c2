package main

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/manifest"
	"github.com/etwgen/etwgen/manifest/wevt"
)

// fullDisk is an output that cannot be written.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) {
	return 0, &fs.PathError{Op: "write", Path: "full", Err: syscall.ENOSPC}
}

// TestFullOutput: failing to print is no success.
func TestFullOutput(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"old.man": compatShop, "new.man": strings.Replace(compatShop, "win:UInt32", "win:UInt64", 1)} {
		testio.Write(t, filepath.Join(dir, name), text)
	}
	t.Chdir(dir)
	for _, args := range []string{
		"compat old.man new.man", "compat --all --werror old.man new.man",
		"list old.man", "list --json old.man", "--help", "--version", "check --help", "help",
	} {
		if got := run(strings.Fields(args), strings.NewReader(""), fullDisk{}, io.Discard); got != exitUsage {
			t.Errorf("%s with a full output exits with %d, want %d", args, got, exitUsage)
		}
	}
}

// An endless repeats a byte.
type endless byte

func (e endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(e)
	}
	return len(p), nil
}

// TestEndlessInput: endless input is refused, by its begin or by its size.
func TestEndlessInput(t *testing.T) {
	for _, tt := range []struct {
		in   endless
		want int
		says string
	}{
		{0, exitDiagnostics, "nor is it a manifest"},
		{' ', exitUsage, "<stdin>: it has more than 64 MiB"},
	} {
		for _, args := range []string{"check -", "list -", "compile -", "gen --package p -o nowhere -"} {
			var stderr bytes.Buffer
			if got := run(strings.Fields(args), tt.in, io.Discard, &stderr); got != tt.want || !strings.Contains(stderr.String(), tt.says) {
				t.Errorf("%s of endless %q exits with %d, want %d: %s", args, byte(tt.in), got, tt.want, &stderr)
			}
		}
	}
}

// TestCompileNames: files are written into the folder that was named, once each.
func TestCompileNames(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"../x", "a/b", `a\b`, "c:x", `a"b`} {
		if got := run([]string{"compile", "--name", name, "-o", dir, "-"}, strings.NewReader(compatShop), io.Discard, io.Discard); got != exitUsage {
			t.Errorf("--name %s exits with %d, want %d", name, got, exitUsage)
		}
	}
	var stderr bytes.Buffer
	if got := run([]string{"compile", "--syso", "amd64,386,amd64", "-o", dir, "-"}, strings.NewReader(compatShop), io.Discard, &stderr); got != 0 {
		t.Errorf("--syso with a repeat exits with %d: %s", got, &stderr)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != 2 {
		t.Errorf("%q, %v; want two files", files, err)
	}
}

// TestImportOfFaults: an impossible manifest is not printed, here two events of one id. A
// resource can say that, since nothing in it forbids it.
func TestImportOfFaults(t *testing.T) {
	m := testio.Parse(t, manifest.Parse, "shop.man", compatShop, manifest.Options{})
	p := m.Providers[0]
	p.Events = append(p.Events, p.Events[0])
	res, err := wevt.Encode(m, wevt.EncodeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "shop.bin")
	testio.Write(t, path, res.Templates)
	var stdout, stderr bytes.Buffer
	if got := run([]string{"import", path}, strings.NewReader(""), &stdout, &stderr); got != exitDiagnostics || stdout.Len() > 0 ||
		!strings.Contains(stderr.String(), "the manifest that it makes would have errors: line:") {
		t.Errorf("exit code %d, %d bytes printed, %s", got, stdout.Len(), &stderr)
	}
}

// TestImportOfFolder: a fault in one file of a folder does not stop the others, and shows in
// the exit code.
func TestImportOfFolder(t *testing.T) {
	m := testio.Parse(t, manifest.Parse, "shop.man", compatShop, manifest.Options{})
	res, err := wevt.Encode(m, wevt.EncodeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	dir, out := t.TempDir(), filepath.Join(t.TempDir(), "out")
	for name, data := range map[string][]byte{"good.bin": res.Templates, "cut.bin": res.Templates[:len(res.Templates)/2]} {
		testio.Write(t, filepath.Join(dir, name), data)
	}
	code, _, stderr := etwgenRun("import", "--output", out, dir)
	if code != exitDiagnostics || !strings.Contains(stderr, "cut.bin") {
		t.Errorf("exit code %d, %s", code, stderr)
	}
	if _, err := os.Stat(filepath.Join(out, "good.man")); err != nil {
		t.Error(err)
	}
}
