package main

import (
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/etwgen/etwgen/gen"
)

var errFull = errors.New("no space left on device")

// A failingDisk fails as a full or broken one does, in the middle of a file.
type failingDisk struct {
	osDisk
	writes, renames, removes int // how many succeed
}

// spent counts n down and reports whether nothing was left.
func spent(n *int) bool {
	*n--
	return *n < 0
}

func (d *failingDisk) WriteFile(path string, content []byte) error {
	if !spent(&d.writes) {
		return d.osDisk.WriteFile(path, content)
	}
	return errors.Join(errFull, d.osDisk.WriteFile(path, content[:len(content)/2]))
}

func (d *failingDisk) Rename(from, to string) error {
	if spent(&d.renames) {
		return errFull
	}
	return d.osDisk.Rename(from, to)
}

func (d *failingDisk) Remove(path string) error {
	if filepath.Ext(path) == ".go" && spent(&d.removes) {
		return errFull
	}
	return d.osDisk.Remove(path)
}

// TestFullDisk checks that no failure costs an old file or leaves a part of a new
// one, and that the next run makes everything good.
func TestFullDisk(t *testing.T) {
	// The files a, b, c and s of a folder, "" where there is none.
	type state [4]string
	names := [4]string{"a.etw.go", "b.etw.go", "c.etw.go", "stale.etw.go"}
	ours := func(text string) string { return gen.Header + "\n" + text + "\n" }
	folder := func(s state) map[string]string {
		m := map[string]string{"doc.go": "not ours"}
		for i, text := range s {
			if text != "" {
				m[names[i]] = ours(text)
			}
		}
		return m
	}
	before, after := state{"old", "old", "", "old"}, state{"new", "new", "new", ""}
	var files []gen.File
	for _, name := range names[:3] {
		files = append(files, gen.File{Name: name, Content: []byte(ours("new"))})
	}

	const all = 100
	for _, tt := range []struct {
		name                     string
		writes, renames, removes int
		want                     state
	}{
		{"first write", 0, all, all, before},
		{"last write", 2, all, all, before},
		{"first rename", all, 0, all, before},
		{"second rename", all, 1, all, state{"new", "old", "", "old"}},
		{"removal", all, all, 0, state{"new", "new", "new", "old"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range folder(before) {
				writeFile(t, filepath.Join(dir, name), text)
			}
			write := func(d disk) error {
				old, err := readPackage(dir)
				if err != nil {
					t.Fatal(err)
				}
				return writeFiles(d, dir, old, files, io.Discard)
			}
			err := write(&failingDisk{writes: tt.writes, renames: tt.renames, removes: tt.removes})
			if !errors.Is(err, errFull) {
				t.Errorf("error %v, want %v", err, errFull)
			}
			if d := gocmp.Diff(folder(tt.want), filesIn(t, dir)); d != "" {
				t.Errorf("after the failure (-want +got):\n%s", d)
			}
			// The leftovers of a killed run are written over.
			if tt.want == before {
				writeFile(t, temporary(filepath.Join(dir, names[0])), "half of")
			}
			if err := write(osDisk{}); err != nil {
				t.Error(err)
			}
			if d := gocmp.Diff(folder(after), filesIn(t, dir)); d != "" {
				t.Errorf("after the next run (-want +got):\n%s", d)
			}
		})
	}
}

// TestUnwritableFolder checks the errors of commands for a folder that cannot be.
func TestUnwritableFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	writeFile(t, file, "")
	for _, args := range [][]string{{"gen", "--package", "p"}, {"doc"}} {
		args = append(args, "--provider", "1", "-o", filepath.Join(file, "folder"), "-")
		if code, _, stderr := etwgen(t, twoProviders, args...); code != exitUsage || !strings.HasPrefix(stderr, "etwgen: ") {
			t.Errorf("%v: exit code %d, stderr %q; want %d and why", args, code, stderr, exitUsage)
		}
	}
}

// TestLineEnds: a file that git has checked out with the line ends of Windows is still ours,
// and the same as the generated one.
func TestLineEnds(t *testing.T) {
	dir := t.TempDir()
	manifest := filepath.Join(dir, "shop.man")
	writeFile(t, filepath.Join(dir, "go.mod"), "module shop\n")
	writeFile(t, manifest, shopManifest)
	gen := []string{"gen", "--tests", "--package", "shop", "-o", dir, manifest}
	doc := []string{"doc", "-o", filepath.Join(dir, "docs"), manifest}
	for _, args := range [][]string{gen, doc} {
		if code, _, stderr := etwgen(t, "", args...); code != 0 {
			t.Fatal(stderr)
		}
	}
	windows := filesIn(t, dir)
	for name, text := range windows {
		windows[name] = strings.ReplaceAll(text, "\n", "\r\n")
		writeFile(t, filepath.Join(dir, name), windows[name])
	}
	asMade := []string{"diff", "-o", dir, manifest} // with --tests, as the package was made
	for _, args := range [][]string{{"diff", dir}, asMade, gen, doc} {
		if code, stdout, stderr := etwgen(t, "", args...); code != 0 || stdout+stderr != "" {
			t.Errorf("%v: exit code %d, %s%s", args, code, stdout, stderr)
		}
	}
	if d := gocmp.Diff(windows, filesIn(t, dir)); d != "" {
		t.Errorf("what is the same was written again (-want +got):\n%s", d)
	}
	writeFile(t, manifest, strings.ReplaceAll(shopManifest, "UInt32", "UInt16"))
	if code, stdout, _ := etwgen(t, "", "diff", dir); code != 1 || strings.Contains(stdout, "\r") {
		t.Errorf("diff of another field: exit code %d, %q", code, stdout)
	}
	if code, _, stderr := etwgen(t, "", gen...); code != 0 {
		t.Errorf("gen of another field: exit code %d, %s", code, stderr)
	}
}
