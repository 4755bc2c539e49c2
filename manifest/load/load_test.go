package load

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/manifest/wevt"
)

const windows = "../../generated/windows/windows.man"

// TestProviders reads a file, a folder with files that are no manifests, and a path without any.
func TestProviders(t *testing.T) {
	good := testio.Read(t, windows)
	one, err := Providers(windows)
	if err != nil || len(one.Providers) == 0 || one.Files != 1 {
		t.Fatalf("%+v, %v", one, err)
	}
	dir := t.TempDir()
	for name, data := range map[string]string{"a.man": string(good), "b.xml": "<no", "c.dll": "MZ and nothing else", "d.txt": "no"} {
		testio.Write(t, filepath.Join(dir, name), data)
	}
	all, err := Providers(dir)
	if err != nil || len(all.Providers) != len(one.Providers) || all.Files != 3 || len(all.Left) == 0 || all.Left[0].File != filepath.Join(dir, "b.xml") {
		t.Errorf("%+v, %v", all, err)
	}
	if text := all.Left[0].Error(); strings.Count(text, "b.xml") != 1 {
		t.Errorf("the error is %s", text)
	}
	for path, want := range map[string]error{filepath.Join(dir, "none.man"): fs.ErrNotExist, os.Args[0]: nil, t.TempDir(): nil} {
		if s, err := Providers(path); err == nil || want != nil && !errors.Is(err, want) {
			t.Errorf("%s: %+v, %v", path, s, err)
		}
	}
	if _, err := Providers(filepath.Join("testdata", "none.dll")); errors.Is(err, wevt.ErrNoResource) {
		t.Error("a file that is not there has no resource")
	}
}

func ExampleProviders() {
	set, err := Providers("../../generated/windows/windows.man")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(set.Providers[0].Desc.Name)
	// Output: Microsoft-Windows-Kernel-Process
}
