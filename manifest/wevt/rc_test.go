package wevt_test

import (
	"bytes"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/manifest"
	"github.com/etwgen/etwgen/manifest/wevt"
)

// TestWindres gives the files for resource compilers to one, and takes the resources
// out of the library that is linked of its output.
func TestWindres(t *testing.T) {
	windres, err := exec.LookPath("x86_64-w64-mingw32-windres")
	if err != nil {
		t.Skip("no resource compiler (binutils-mingw-w64): the .rc file is not compiled")
	}
	_, want := compiled(t, 5)
	dir := t.TempDir()
	writeFiles(t, dir, want.Files("sample"))
	for _, args := range [][]string{
		{windres, "-O", "coff", "sample.rc", "sample.o"},
		{"x86_64-w64-mingw32-ld", "-shared", "-o", "sample.dll", "sample.o"},
	} {
		command := exec.Command(args[0], args[1:]...)
		command.Dir = dir
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	got, err := wevt.ReadPE(bytes.NewReader(testio.Read(t, filepath.Join(dir, "sample.dll"))))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Templates, want.Templates) || !maps.EqualFunc(got.Messages, want.Messages, bytes.Equal) {
		t.Errorf("the library has %d bytes and %d tables, want %d and %d", len(got.Templates), len(got.Messages), len(want.Templates), len(want.Messages))
	}
}

// TestLLVM gives the same files to the resource compiler of LLVM.
func TestLLVM(t *testing.T) {
	rc, err := exec.LookPath("llvm-rc")
	if err != nil {
		t.Skip("no llvm-rc: the .rc file is not compiled with it")
	}
	_, want := compiled(t, 5)
	dir := t.TempDir()
	writeFiles(t, dir, want.Files("sample"))
	command := exec.Command(rc, "/FO", "sample.res", "sample.rc")
	command.Dir = dir
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	res := testio.Read(t, filepath.Join(dir, "sample.res"))
	for _, part := range append([][]byte{want.Templates}, want.Messages[wevt.English]) {
		if !bytes.Contains(res, part) {
			t.Errorf("its output lacks a resource of %d bytes", len(part))
		}
	}
}

func writeFiles(t *testing.T, dir string, files []wevt.File) {
	t.Helper()
	for _, f := range files {
		testio.Write(t, filepath.Join(dir, f.Name), f.Content)
	}
}

// TestOthers decodes the resources of programs that the user names, strictly, and
// compiles that: the bytes are those of the program.
func TestOthers(t *testing.T) {
	dir := os.Getenv("ETWGEN_PROGRAMS")
	if dir == "" {
		t.Skip("ETWGEN_PROGRAMS names no folder of programs with resources")
	}
	files := testio.Glob(t, filepath.Join(dir, "*"))
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			want, err := wevt.ReadPE(bytes.NewReader(testio.Read(t, file)))
			if err != nil {
				t.Fatal(err)
			}
			m, _, err := wevt.Decode(file, want, wevt.Options{})
			if err != nil {
				t.Fatal(err)
			}
			again := testio.Parse(t, manifest.Parse, file, m.AppendXML(nil, ""), manifest.Options{})
			got, err := wevt.Encode(again, wevt.EncodeOptions{Version: int(want.Templates[8])})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("version %d, %d providers", want.Templates[8], len(m.Providers))
			checkSame(t, want, got)
		})
	}
}
