package main

import (
	"bytes"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/manifest"
	"github.com/etwgen/etwgen/manifest/tlg/tlgtest"
	"github.com/etwgen/etwgen/runtime/etw"
)

// tool runs etwgen in a folder with some files, and returns its output.
func tool(t *testing.T, files map[string][]byte, line string) (code int, stdout, stderr string) {
	t.Helper()
	dir := t.TempDir()
	for name, data := range files {
		testio.Write(t, filepath.Join(dir, name), data)
	}
	t.Chdir(dir)
	var out, errs bytes.Buffer
	code = run(strings.Fields(line), strings.NewReader(""), &out, &errs)
	return code, out.String(), errs.String()
}

// TestImportTraceLogging: a manifest has each event with all providers that may write it.
func TestImportTraceLogging(t *testing.T) {
	code, text, stderr := tool(t, map[string][]byte{"shop.exe": tlgtest.Sample()}, "import shop.exe")
	if code != 0 || stderr != "" {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	m := testio.Parse(t, manifest.Parse, "shop.man", text, manifest.Options{})
	var got []string
	for _, p := range m.Providers {
		for _, e := range p.Events {
			got = append(got, p.Name+"/"+e.TraceName+"/"+e.Template.Fields[0].Name)
		}
	}
	if want := []string{"Kitchen/Cooked/Count", "Kitchen/Opened/Count", "Shop/Opened/Count", "Shop/Sold/Count"}; !slices.Equal(got, want) {
		t.Errorf("events are %v, want %v", got, want)
	}
	if !strings.Contains(text, "1 events that one of them writes") || !strings.Contains(text, "\n       Shop\n       Kitchen") {
		t.Errorf("the comment does not say which are unsure: %s", text)
	}
}

// TestImportDamagedTraceLogging: damage is refused with its place, or with --lenient is said.
func TestImportDamagedTraceLogging(t *testing.T) {
	shop := tlgtest.Provider("Shop", etw.GUID{1}, etw.GUID{})
	idle := tlgtest.Provider("Idle", etw.GUID{2}, etw.GUID{})
	im := &tlgtest.Image{Machine: tlgtest.X64, Data: slices.Concat(tlgtest.Head(), append([]byte{2}, shop[17:]...), tlgtest.Event("Sold", 4, 0), []byte{77})}
	files := map[string][]byte{"shop.exe": im.Bytes()}
	if code, _, stderr := tool(t, files, "import shop.exe"); code != exitDiagnostics || !strings.Contains(stderr, "unknown kind 77") || !strings.Contains(stderr, "--lenient") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	code, text, stderr := tool(t, files, "import --lenient shop.exe")
	if code != exitDiagnostics || !strings.Contains(stderr, "unknown kind 77") || !strings.Contains(stderr, "has no GUID in this form") || !strings.Contains(text, etw.NameGUID("Shop").String()) {
		t.Errorf("exit code %d: %s%s", code, text, stderr)
	}
	im.Data = slices.Concat(tlgtest.Head(), idle, []byte{1})
	if code, _, stderr := tool(t, map[string][]byte{"idle.exe": im.Bytes()}, "import idle.exe"); code != exitDiagnostics || !strings.Contains(stderr, "no events of TraceLogging") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

// TestCompareBuilds: of two builds of a program the new one lacks an event and has another.
func TestCompareBuilds(t *testing.T) {
	build := func(events ...string) []byte {
		data := append(tlgtest.Head(), tlgtest.Provider("Shop", etw.GUID{1}, etw.GUID{})...)
		for _, name := range events {
			data = append(data, tlgtest.Event(name, 4, 0)...)
		}
		return (&tlgtest.Image{Machine: tlgtest.X64, Data: append(data, 1)}).Bytes()
	}
	code, out, stderr := tool(t, map[string][]byte{"old.exe": build("Sold", "Gone"), "new.exe": build("Added", "Sold")}, "compat --all old.exe new.exe")
	if code != exitDiagnostics || strings.Count(out, "\n") != 2 || !strings.Contains(out, `event "Gone" version 0 is gone`) || !strings.Contains(out, `note: event "Added" version 0 is new (new)`) {
		t.Errorf("exit code %d: %s%s", code, out, stderr)
	}
}

// TestManyOwners: a program whose events may each be of a thousand providers is refused.
func TestManyOwners(t *testing.T) {
	data := slices.Concat(tlgtest.Head(), bytes.Repeat(tlgtest.Provider("P", etw.GUID{1}, etw.GUID{}), 1000), bytes.Repeat(tlgtest.Event("E", 4, 0), 300), []byte{1})
	im := (&tlgtest.Image{Machine: tlgtest.X64}).Bytes()
	if _, err := importTraceLogging("x.exe", append(im, data...), false); err == nil || !strings.Contains(err.Error(), "too much for a manifest") {
		t.Error(err)
	}
	if got := run([]string{"list", "-"}, bytes.NewReader(tlgtest.Sample()), io.Discard, io.Discard); got != 0 {
		t.Errorf("list of a program exits with %d", got)
	}
}
