package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"debug/buildinfo"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/google/go-cmp/cmp"
)

var info = &buildinfo.BuildInfo{
	GoVersion: "go1.26.8",
	Main:      debug.Module{Path: "github.com/etwgen/etwgen", Version: "v0.1.0"},
	Deps:      []*debug.Module{{Path: "github.com/BurntSushi/toml", Version: "v1.4.1+incompatible", Sum: "h1:abc="}},
	Settings:  []debug.BuildSetting{{Key: "CGO_ENABLED", Value: "0"}, {Key: "vcs.time", Value: "2026-11-22T10:00:00Z"}},
}

// TestSBOM checks the parts of a CycloneDX document that tools look for: the program, each
// module by a package URL, and that all references lead somewhere.
func TestSBOM(t *testing.T) {
	text, err := sbom("etw", info, []byte("program"), target{"linux", "arm64"})
	if err != nil {
		t.Fatal(err)
	}
	again, err := sbom("etw", info, []byte("program"), target{"linux", "arm64"})
	if err != nil || !bytes.Equal(text, again) {
		t.Errorf("the same program has another list (%v)", err)
	}
	var doc document
	testio.JSON(t, text, &doc)
	want := []string{"pkg:golang/std@1.26.8", "pkg:golang/github.com/burntsushi/toml@v1.4.1+incompatible"}
	if diff := cmp.Diff(want, doc.Dependencies[0].DependsOn); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	main := doc.Metadata.Component
	if main.PURL != "pkg:golang/github.com/etwgen/etwgen@v0.1.0?goos=linux&goarch=arm64#cmd/etw" || main.Ref != doc.Dependencies[0].Ref {
		t.Errorf("the program is %+v", main)
	}
	if len(doc.Serial) != len("urn:uuid:00000000-0000-8000-8000-000000000000") || doc.Serial[23] != '8' {
		t.Errorf("the number is %s", doc.Serial)
	}
	replaced := *info
	replaced.Deps = []*debug.Module{{Path: "a", Version: "v1.0.0", Replace: &debug.Module{Path: "../a"}}}
	if _, err := sbom("etw", &replaced, nil, target{"linux", "arm64"}); err == nil {
		t.Error("a replacement is released")
	}
}

// TestStamp: only committed files are released.
func TestStamp(t *testing.T) {
	version, when, err := stamp(info, false)
	if err != nil || version != "v0.1.0" || !when.Equal(time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)) {
		t.Errorf("stamp is %s, %v, %v", version, when, err)
	}
	for _, v := range []string{"", "(devel)", "v0.1.0+dirty"} {
		changed := *info
		changed.Main.Version = v
		if _, _, err := stamp(&changed, false); err == nil {
			t.Errorf("version %q is released", v)
		}
	}
}

// TestArchives: the same files make the same bytes in whatever order they come, and are in
// one folder, sorted, with their modes.
func TestArchives(t *testing.T) {
	dir, when := t.TempDir(), time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
	files := []file{{"man/man1/etw.1", []byte(".TH"), 0o644}, {"etw", []byte("program"), 0o755}}
	for i, zipped := range []bool{false, true, false, true} {
		if err := writeArchive(filepath.Join(dir, string(rune('a'+i))), zipped, "etwgen", when, files); err != nil {
			t.Fatal(err)
		}
		files[0], files[1] = files[1], files[0]
	}
	for _, pair := range [][2]string{{"a.tar.gz", "c.tar.gz"}, {"b.zip", "d.zip"}} {
		first, err1 := os.ReadFile(filepath.Join(dir, pair[0]))
		second, err2 := os.ReadFile(filepath.Join(dir, pair[1]))
		if err := errors.Join(err1, err2); err != nil || !bytes.Equal(first, second) {
			t.Errorf("%v differ (%v)", pair, err)
		}
		if diff := cmp.Diff([]string{"etwgen/etw -rwxr-xr-x program", "etwgen/man/man1/etw.1 -rw-r--r-- .TH"}, entries(t, pair[0], first)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", pair[0], diff)
		}
	}
	if err := writeSums(dir); err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile(filepath.Join(dir, "SHA256SUMS"))
	if lines := strings.Split(strings.TrimSpace(string(sums)), "\n"); err != nil || len(lines) != 4 || !strings.HasSuffix(lines[0], "  a.tar.gz") || len(lines[0]) != 64+2+8 {
		t.Errorf("the sums are %s (%v)", sums, err)
	}
}

// entries lists the files of an archive.
func entries(t *testing.T, name string, data []byte) []string {
	t.Helper()
	var list []string
	add := func(name string, mode os.FileMode, r io.Reader) {
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, name+" "+mode.String()+" "+string(text))
	}
	if strings.HasSuffix(name, ".zip") {
		z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range z.File {
			r, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			add(f.Name, f.Mode(), r)
		}
		return list
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(unpacked); ; {
		h, err := r.Next()
		if err == io.EOF {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		add(h.Name, h.FileInfo().Mode(), r)
	}
}
