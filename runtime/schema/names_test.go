package schema_test

import (
	"bytes"
	"flag"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etwgen/etwgen/internal/packed"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/manifest"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/schema"
	"github.com/etwgen/etwgen/tests/corpus"
)

var update = flag.Bool("update", false, "rewrite names.txt from the corpus")

// TestProviderNames holds the table against the manifests of the corpus, the
// newest last, and the list of names that stand in none.
func TestProviderNames(t *testing.T) {
	names := make(map[string]string)
	for _, folder := range [][]string{
		{"win7-7600", "*.xml"},
		{"win10-17134", "*.xml"},
		{"clr", "ClrEtwAll.latest-partial.man"},
		{"perfview", "kerneltraceeventparser.man.xml"},
		{"perfview", "ASPNetTraceEventParser.man.xml"},
		{"handwritten", "MsQuicEtw.man"},
	} {
		for _, path := range corpus.Glob(t, append([]string{"manifests"}, folder...)...) {
			addNames(t, names, path)
		}
	}
	fromManifests := len(names)
	for guid, name := range knownNames(t) {
		if other, ok := names[guid]; ok {
			t.Errorf("testdata/known.txt: a manifest has %s, as %s", guid, other)
		}
		names[guid] = name
	}
	t.Logf("%d names from manifests, %d others", fromManifests, len(names)-fromManifests)

	var b bytes.Buffer
	for _, guid := range slices.Sorted(maps.Keys(names)) {
		b.WriteString(guid + " " + names[guid] + "\n")
	}
	if *update {
		testio.Write(t, "names.txt", b.Bytes())
		testio.Write(t, "names.txt.gz", packed.Of(b.Bytes()))
		return
	}
	have := testio.Read(t, "names.txt")
	if diff := cmp.Diff(string(have), b.String()); diff != "" {
		t.Errorf("names.txt is stale; run go test ./runtime/schema -run ProviderNames -update (-repository +corpus):\n%s", diff)
	}
	if n := len(testio.Read(t, "names.txt.gz")); n > 40_000 {
		t.Errorf("names.txt.gz has %d bytes, more than programs should carry", n)
	}
}

// addNames adds the providers of a manifest, in place of those that an older one
// has called otherwise.
func addNames(t *testing.T, names map[string]string, path string) {
	m, _, err := manifest.ParseFile(path, manifest.Options{Lenient: true})
	if err != nil {
		return // two files of the corpus are no manifests; other tests count them
	}
	for _, p := range m.Providers {
		guid := strings.Trim(strings.ToLower(p.GUID.String()), "{}")
		if old, ok := names[guid]; ok && old != p.Name {
			t.Logf("%s is %s in %s, and %s in an older manifest", guid, p.Name, filepath.Base(path), old)
		}
		names[guid] = p.Name
	}
}

// knownNames returns the names of providers that have no manifest in the corpus.
func knownNames(t *testing.T) map[string]string {
	text := testio.Read(t, "testdata/known.txt")
	names := make(map[string]string)
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSuffix(line, "\n"); strings.HasPrefix(line, "#") {
			continue
		}
		guid, name, ok := strings.Cut(line, " ")
		if _, err := etw.ParseGUID(guid); err != nil || !ok || names[guid] != "" {
			t.Fatalf("bad line %q", line)
		}
		names[guid] = name
	}
	return names
}

// TestProviderName looks up every line of the table, and GUIDs in none.
func TestProviderName(t *testing.T) {
	table := testio.Read(t, "names.txt")
	if string(testio.Unpacked(t, "names.txt.gz")) != string(table) {
		t.Error("names.txt.gz is not names.txt; see names.go for how to make them")
	}
	lines := strings.Split(strings.TrimSuffix(string(table), "\n"), "\n")
	if len(lines) < 900 || !slices.IsSorted(lines) {
		t.Errorf("%d lines, sorted: %t", len(lines), slices.IsSorted(lines))
	}
	for _, line := range lines {
		guid, want, _ := strings.Cut(line, " ")
		g, err := etw.ParseGUID(guid)
		if err != nil || want == "" {
			t.Errorf("bad line %q", line)
		}
		if got := schema.ProviderName(g); got != want {
			t.Errorf("%s is %q, want %q", guid, got, want)
		}
		// Neither neighbour of a GUID is a provider.
		for _, last := range []byte{g[15] - 1, g[15] + 1} {
			near := g
			near[15] = last
			if got := schema.ProviderName(near); got != "" && !strings.Contains(string(table), near.String()) {
				t.Errorf("%s is %q", near, got)
			}
		}
	}
	for _, guid := range []string{"00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"} {
		if got := schema.ProviderName(etw.MustParseGUID(guid)); got != "" {
			t.Errorf("%s is %q", guid, got)
		}
	}
}

func TestProviderNameAllocates(t *testing.T) {
	known := etw.MustParseGUID("e13c0d23-ccbc-4e12-931b-d9cc2eee27e4")
	name := ""
	if n := testing.AllocsPerRun(100, func() { name = schema.ProviderName(known) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if name != "Microsoft-Windows-DotNETRuntime" {
		t.Errorf("name %q", name)
	}
}

func BenchmarkProviderName(b *testing.B) {
	g := etw.MustParseGUID("dd5ef90a-6398-47a4-ad34-4dcecdef795f")
	b.ReportAllocs()
	for b.Loop() {
		schema.ProviderName(g)
	}
}
