package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/etwgen/etwgen/internal/directive"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/tests/corpus"
)

// TestStale: in a module of somebody else, a manifest that is changed by one field fails go
// test with the command that mends it, and that command does, in the folder of the package too.
func TestStale(t *testing.T) {
	root := testio.Abs(t, "../..")
	dir := t.TempDir()
	events := filepath.Join(dir, "events")
	if err := os.Mkdir(events, 0o777); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(events, "a shop.man")
	writeFile(t, filepath.Join(dir, "go.mod"), "module shop\n\ngo 1.26\n\ntool github.com/etwgen/etwgen/cmd/etwgen\n\nrequire github.com/etwgen/etwgen v0.0.0\n\nreplace github.com/etwgen/etwgen => "+filepath.ToSlash(root)+"\n")
	sums := testio.Read(t, filepath.Join(root, "go.sum"))
	writeFile(t, filepath.Join(dir, "go.sum"), string(sums))
	writeFile(t, filepath.Join(events, "doc.go"), "// Package events has the events of the shop.\npackage events\n\n//go:generate etwgen gen \"a shop.man\"\n")
	writeFile(t, path, shopManifest)
	gen := func() {
		t.Helper()
		if code, _, stderr := etwgen(t, "", "gen", "--package", "events", "-o", events, path); code != 0 {
			t.Fatal(stderr)
		}
	}
	flags := "GOFLAGS="
	if corpus.All() { // go compiles everything again
		flags += "-trimpath"
	}
	inModule := func(dir string, args ...string) string {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOPROXY=off", "GOWORK=off", flags)
		out, err := cmd.CombinedOutput()
		if err == nil {
			return ""
		}
		return string(out)
	}
	goTest := func() string { return inModule(dir, "go", "test", "-mod=mod", "./...") }
	gen()
	if out := goTest(); out != "" {
		t.Fatalf("what is fresh fails:\n%s", out)
	}
	writeFile(t, path, strings.ReplaceAll(shopManifest, "\n", "\r\n"))
	if out := goTest(); out != "" {
		t.Errorf("other ends of lines fail:\n%s", out)
	}
	const doc, directive = "// Package events has the events of the shop.\npackage events\n", "\n//go:generate etwgen gen --package events -o events \"events/a shop.man\"\n"
	for _, tt := range []struct{ field, doc, main, want string }{
		{"UInt16", "", "", "go generate shop/events"},
		{"UInt8", doc, "package main\n" + directive + "\nfunc main() {}\n", "go generate shop"},
		{"Int8", doc, "package main\n\nfunc main() {}\n", "cd " + events + ` && go tool etwgen gen "a shop.man"`},
	} {
		if tt.doc != "" {
			writeFile(t, filepath.Join(events, "doc.go"), tt.doc)
			writeFile(t, filepath.Join(dir, "main.go"), tt.main)
		}
		writeFile(t, path, strings.ReplaceAll(shopManifest, "UInt32", tt.field))
		want := "a shop.man has changed since this package was generated from it; run: " + tt.want + "\n"
		if out := goTest(); !strings.Contains(out, want) {
			t.Errorf("what is stale gives %q, want %q", out, want)
		}
		if code, stdout, stderr := etwgen(t, "", "diff", dir+"/..."); code != 1 || !strings.Contains(stdout, "+\tPieces "+strings.ToLower(tt.field)) {
			t.Errorf("diff: exit code %d, %s%s", code, stdout, stderr)
		}
		if args := strings.Fields(tt.want); args[0] == "go" {
			if out := inModule(events, args...); out != "" {
				t.Errorf("%s: %s", tt.want, out)
			}
		} else {
			gen()
		}
		if out := goTest(); out != "" {
			t.Errorf("what was generated again fails:\n%s", out)
		}
		if code, stdout, stderr := etwgen(t, "", "diff", dir+"/..."); code != 0 {
			t.Errorf("diff: exit code %d, %s%s", code, stdout, stderr)
		}
	}
}

const shopManifest = `<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events">
  <instrumentation xmlns:win="http://manifests.microsoft.com/win/2004/08/windows/events"><events>
    <provider name="My-Shop" guid="{1c5de95e-b0a3-4e57-9cd5-5a0e1e4ee4a5}" symbol="SHOP">
      <events><event value="1" symbol="Sold" template="Sold"/></events>
      <templates><template tid="Sold">
        <data name="Pieces" inType="win:UInt32"/>
      </template></templates>
    </provider>
  </events></instrumentation>
</instrumentationManifest>
`

// TestCommands: a command is read as it is written.
func TestCommands(t *testing.T) {
	for _, args := range [][]string{{"etwgen", "gen", "a.man"}, {"--rename", `a b="c`, `d\e`, "ü", ""}, nil} {
		line := ""
		for _, arg := range args {
			line += " " + quoteArg(arg)
		}
		got, err := directive.Split(line)
		if !slices.Equal(got, args) || err != nil {
			t.Errorf("%q: %q, %v", line, got, err)
		}
	}
	if _, err := directive.Split(`gen "a`); err == nil {
		t.Error("no error of a quote that does not end")
	}
}

// TestFromPackage: names that are the same on every machine.
func TestFromPackage(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "go.mod"), "module m\n")
	type name struct {
		Name string
		OK   bool
	}
	for _, tt := range []struct {
		dir, path string
		want      name
	}{
		{".", "a.man", name{"a.man", true}},
		{"sub/deep", "a.man", name{"../../a.man", true}},
		{"sub", "../b/a.man", name{"../../b/a.man", true}},
		{filepath.Join(dir, "p"), filepath.Join(dir, "a.man"), name{"../a.man", true}},
		{filepath.Join(dir, "p"), filepath.Join(filepath.Dir(dir), "a.man"), name{"a.man", false}},
		{"sub", filepath.Join(dir, "a.man"), name{"a.man", false}},
	} {
		var got name
		got.Name, got.OK = fromPackage(filepath.FromSlash(tt.dir), filepath.FromSlash(tt.path))
		if diff := gocmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s from %s: %s", tt.path, tt.dir, diff)
		}
	}
}
