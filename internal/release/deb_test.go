package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/etwgen/etwgen/internal/testio"
)

var debFiles = []file{
	{"etw", []byte("#!/bin/sh\necho etw\n"), 0o755}, {"man/man1/etw.1", []byte(".TH\n"), 0o644}, {"completions/etw.bash", []byte("bash\n"), 0o644},
	{"completions/_etw", []byte("zsh\n"), 0o644}, {"completions/etw.fish", []byte("fish\n"), 0o644}, {"completions/etw.ps1", []byte("ps1\n"), 0o644},
	{"LICENSE", []byte("MIT\n"), 0o644}, {"NOTICES", []byte("others\n"), 0o644}, {"README.md", []byte("# etwgen\n"), 0o644}, {"etw.cdx.json", []byte("{}\n"), 0o644},
}

// TestDeb has Debian's own programs list a package.
func TestDeb(t *testing.T) {
	name := twice(t, "arm64", "deb")
	path, err := exec.LookPath("dpkg-deb")
	if err != nil {
		t.Skip("there is no dpkg-deb")
	}
	for field, want := range map[string]string{"Package": "etwgen", "Version": "0.1.0~rc.1", "Architecture": "arm64"} {
		if out, err := exec.Command(path, "--field", name, field).CombinedOutput(); err != nil || strings.TrimSpace(string(out)) != want {
			t.Errorf("%s is %s (%v), not %s", field, out, err, want)
		}
	}
	dir := t.TempDir()
	if out, err := exec.Command(path, "--raw-extract", name, dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for name, want := range map[string]string{
		"usr/bin/etw": "#!/bin/sh\necho etw\n", "usr/share/doc/etwgen/copyright": "MIT\n\nothers\n\n", "usr/share/bash-completion/completions/etw": "bash\n",
		"usr/share/zsh/vendor-completions/_etw": "zsh\n", "usr/share/fish/vendor_completions.d/etw.fish": "fish\n", "usr/share/doc/etwgen/etw.cdx.json": "{}\n",
	} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s is %q (%v)", name, got, err)
		}
	}
	if out, err := exec.Command(filepath.Join(dir, "usr/bin/etw")).Output(); err != nil || string(out) != "etw\n" {
		t.Errorf("the program: %s (%v)", out, err)
	}
	if out, err := exec.Command("gzip", "-dc", filepath.Join(dir, "usr/share/man/man1/etw.1.gz")).CombinedOutput(); err != nil || string(out) != ".TH\n" {
		t.Errorf("the page: %s (%v)", out, err)
	}
	sums := exec.Command("md5sum", "--check", "--strict", "DEBIAN/md5sums")
	sums.Dir = dir
	if out, err := sums.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// TestRecipes: each archive stands in a recipe with its sum.
func TestRecipes(t *testing.T) {
	dir := t.TempDir()
	if err := writeRecipes(dir, "v0.1.0"); err == nil {
		t.Error("there are recipes for archives that do not exist")
	}
	for _, t0 := range targets {
		if err := writeArchive(filepath.Join(dir, archiveName("0.1.0", t0)), t0.os == "windows", archiveName("0.1.0", t0), time.Unix(0, 0), []file{{"etw", []byte(t0.String()), 0o755}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := writeRecipes(dir, "v0.1.0"); err != nil {
		t.Fatal(err)
	}
	if err := writeSums(dir); err != nil {
		t.Fatal(err)
	}
	read := func(name string) string {
		return string(testio.Read(t, filepath.Join(dir, name)))
	}
	both := read("etwgen.rb") + read("etwgen.json")
	for line := range strings.Lines(read("SHA256SUMS")) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		if strings.HasPrefix(name, "etwgen_") && (!strings.Contains(both, sum) || !strings.Contains(both, "/v0.1.0/"+name)) {
			t.Errorf("no recipe has %s of %s", sum, name)
		}
	}
	if !json.Valid([]byte(read("etwgen.json"))) {
		t.Error("the manifest of Scoop is no JSON")
	}
	if ruby, err := exec.LookPath("ruby"); err == nil {
		if out, err := exec.Command(ruby, "-c", filepath.Join(dir, "etwgen.rb")).CombinedOutput(); err != nil {
			t.Errorf("the formula: %s", out)
		}
	}
}
