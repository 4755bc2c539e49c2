// Package golden holds small manifests, each about one idea, with the packages
// that the generator makes of them, or the errors. The packages are compiled
// and tested like all others. With -update the test writes what it gets; an
// errors.txt it writes only where there is one.
package golden

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etwgen/etwgen/gen"
	"github.com/etwgen/etwgen/manifest"
)

var update = flag.Bool("update", false, "write the packages and errors that the generator makes")

func TestGolden(t *testing.T) {
	cases, err := filepath.Glob("*/in.man")
	if err != nil || len(cases) < 10 {
		t.Fatalf("%d cases, error %v", len(cases), err)
	}
	for _, path := range cases {
		dir := filepath.Dir(path)
		t.Run(dir, func(t *testing.T) {
			got := generate(t, dir)
			if *update {
				write(t, dir, got)
			}
			if diff := cmp.Diff(read(t, dir), got); diff != "" {
				t.Errorf("differs (-want +got):\n%s", diff)
			}
		})
	}
}

// generate returns the files that the manifest of a case makes, or errors.txt.
func generate(t *testing.T, dir string) map[string]string {
	t.Helper()
	opts := options(t, dir)
	m, _, err := manifest.ParseFile(filepath.Join(dir, "in.man"), manifest.Options{Lenient: opts.Lenient})
	var files []gen.File
	if err == nil {
		files, err = gen.Generate(m, opts)
	}
	got := make(map[string]string)
	if err != nil {
		got["errors.txt"] = filepath.ToSlash(messages(err))
		return got
	}
	for _, f := range files {
		got[f.Name] = string(f.Content)
	}
	return got
}

// messages returns the lines of an error.
func messages(err error) string {
	var list manifest.ErrorList
	if !errors.As(err, &list) {
		return err.Error() + "\n"
	}
	var b strings.Builder
	for _, e := range list {
		b.WriteString(e.Error() + "\n")
	}
	return b.String()
}

// options reads the options of a case.
func options(t *testing.T, dir string) gen.Options {
	t.Helper()
	opts := gen.Options{Package: "want", Rename: make(map[string]string)}
	text, err := os.ReadFile(filepath.Join(dir, "options.txt"))
	if errors.Is(err, os.ErrNotExist) {
		return opts
	}
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch name {
		case "lenient":
			opts.Lenient = true
		case "tests":
			opts.Tests = true
		case "rename":
			from, to, _ := strings.Cut(value, "=")
			opts.Rename[from] = to
		default:
			t.Fatalf("unknown option %q", name)
		}
	}
	return opts
}

// read returns what a case wants.
func read(t *testing.T, dir string) map[string]string {
	t.Helper()
	want := make(map[string]string)
	entries, err := os.ReadDir(filepath.Join(dir, "want"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, "want", e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		want[e.Name()] = string(text)
	}
	return want
}

// write makes what a case wants what it got.
func write(t *testing.T, dir string, got map[string]string) {
	t.Helper()
	want := filepath.Join(dir, "want")
	if text, fails := got["errors.txt"]; fails {
		if _, err := os.Stat(filepath.Join(want, "errors.txt")); err != nil {
			t.Fatalf("no errors.txt is wanted, and -update makes none:\n%s", text)
		}
	}
	if err := os.RemoveAll(want); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(want, 0o777); err != nil {
		t.Fatal(err)
	}
	for name, text := range got {
		if err := os.WriteFile(filepath.Join(want, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}
