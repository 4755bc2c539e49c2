package eventsource_test

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/manifest/eventsource"
	"github.com/etwgen/etwgen/tests/corpus"
	"github.com/google/go-cmp/cmp"
)

// table reads a table of the corpus with its first line as names of columns, if it has
// such a line.
func table(t *testing.T, columns []string, elem ...string) []map[string]string {
	t.Helper()
	f := testio.File(t, corpus.File(t, elem...))
	defer f.Close()
	r := csv.NewReader(f)
	r.Comma, r.LazyQuotes, r.FieldsPerRecord = '\t', true, -1
	records, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if columns == nil {
		columns, records = records[0], records[1:]
	}
	var rows []map[string]string
	for _, record := range records {
		row := make(map[string]string)
		for i, v := range record {
			row[columns[i]] = v
		}
		rows = append(rows, row)
	}
	return rows
}

// find finds the assemblies of the corpus.
func find(t *testing.T) func(string) []byte {
	dir := filepath.Dir(corpus.File(t, "assemblies", "System.Runtime.dll"))
	return func(name string) []byte {
		data, _ := os.ReadFile(filepath.Join(dir, name+".dll"))
		return data
	}
}

// read reads the sources of an assembly, by class.
func read(t *testing.T, path string, opts eventsource.Options) map[string]*eventsource.Source {
	t.Helper()
	data := testio.Read(t, path)
	opts.Find, opts.Accidents = find(t), true
	all, err := eventsource.Read(filepath.Base(path), data, opts)
	if err != nil && err != eventsource.ErrNoSource {
		t.Errorf("%s: %v", path, err)
	}
	byClass := make(map[string]*eventsource.Source)
	for _, s := range all {
		byClass[s.Class] = s
	}
	return byClass
}

// TestManifests makes manifests of the classes whose manifests .NET made for the
// corpus: they are the same bytes.
func TestManifests(t *testing.T) {
	same, all := 0, 0
	for _, row := range table(t, nil, "eventsource", "index.tsv") {
		path := filepath.Join(corpus.Dir(t), "assemblies", row["assembly"])
		if _, err := os.Stat(path); err != nil {
			continue
		}
		all++
		semantics := eventsource.Live
		if row["generated_with"] == "None" {
			semantics = eventsource.None
		}
		if s := read(t, path, eventsource.Options{})[row["source_class"]]; s == nil {
			t.Errorf("%s has no class %s", row["assembly"], row["source_class"])
			continue
		} else if s.Name != row["provider"] || s.GUID.String() != row["guid"] || s.SelfDescribing != (row["self_describing"] == "yes") {
			t.Errorf("%s is %s %s, self-describing %t; not %s %s %s", row["source_class"], s.Name, s.GUID, s.SelfDescribing,
				row["provider"], row["guid"], row["self_describing"])
		}
		s := read(t, path, eventsource.Options{Semantics: semantics})[row["source_class"]]
		want := testio.Read(t, corpus.File(t, "eventsource", row["file"]))
		if diff := cmp.Diff(string(want), string(s.AppendManifest(nil))); diff != "" {
			if lacking(s) != "" && withoutMaps(string(want), lacking(s)) == withoutMaps(string(s.AppendManifest(nil)), lacking(s)) {
				t.Logf("%s has but for %s the same: %q", row["file"], lacking(s), s.Warnings)
				continue
			}
			t.Errorf("%s (-want +got):\n%s", row["file"], diff)
			continue
		}
		same++
	}
	t.Logf("%d of %d manifests of classes that are at hand are .NET's, byte by byte", same, all)
}

// lacking returns the enumeration that is not at hand for a source, or "".
func lacking(s *eventsource.Source) string {
	for _, w := range s.Warnings {
		if name, _, ok := strings.Cut(w, " is not at hand"); ok {
			return name[strings.LastIndexByte(name, '.')+1:]
		}
	}
	return ""
}

// withoutMaps returns a manifest without a map, which is the only one it has.
func withoutMaps(text, name string) string {
	var out strings.Builder
	text = strings.ReplaceAll(text, fmt.Sprintf(" map=\"%s\"", name), "")
	for line := range strings.Lines(text) {
		if !strings.Contains(line, name+".") && !strings.Contains(line, "maps>") && !strings.Contains(line, "valueMap") {
			out.WriteString(line)
		}
	}
	return out.String()
}

// truthColumns are those of the table of difficult classes.
var truthColumns = []string{"dll", "class", "file", "name", "guid", "none", "strict", "liveName", "liveGUID", "settings", "object", "live", "rest"}

// TestDifficult does the same for classes that were written to be difficult, in each
// of the three ways.
func TestDifficult(t *testing.T) {
	for _, way := range []struct {
		folder, refusal string
		semantics       eventsource.Semantics
	}{{"none", "none", eventsource.None}, {"strict", "strict", eventsource.Strict}, {"live", "live", eventsource.Live}} {
		t.Run(way.folder, func(t *testing.T) {
			sources := read(t, corpus.File(t, "eventsource", "tricky", "tricky.dll"), eventsource.Options{Semantics: way.semantics})
			same, manifests, refused, refusals := 0, 0, 0, 0
			for _, row := range table(t, truthColumns, "eventsource", "tricky", "truth.tsv") {
				s := sources[row["class"]]
				if s == nil {
					t.Errorf("no class %s", row["class"])
					continue
				}
				file := filepath.Join(corpus.Dir(t), "eventsource", "tricky", way.folder, row["file"]+".man")
				if want, err := os.ReadFile(file); err == nil {
					manifests++
					if diff := cmp.Diff(string(want), string(s.AppendManifest(nil))); diff != "" {
						t.Errorf("%s (-want +got):\n%s", row["class"], diff)
						continue
					}
					same++
				}
				want := row[way.refusal]
				if want == "" || want == "null" {
					if s.Dead != "" || len(s.Complaints) > 0 && way.semantics == eventsource.Strict {
						t.Errorf("%s is refused: %q %q", row["class"], s.Dead, s.Complaints)
					}
					continue
				}
				refusals++
				got := s.Dead
				if way.semantics == eventsource.Strict {
					got = strings.Join(s.Complaints, " | ")
				} else if way.semantics == eventsource.None {
					_, want, _ = strings.Cut(want, ": ")
				}
				if got != want && !(strings.Contains(want, "Could not find the resource") && strings.Contains(got, "Could not find the resource")) {
					t.Errorf("%s is refused with\n%s\nwant\n%s", row["class"], got, want)
					continue
				}
				refused++
			}
			t.Logf("%d of %d manifests are .NET's, byte by byte; %d of %d classes are refused with its words", same, manifests, refused, refusals)
		})
	}
}

// TestLocalized does the same for classes whose texts are in a resource.
func TestLocalized(t *testing.T) {
	same, all := 0, 0
	for _, semantics := range []eventsource.Semantics{eventsource.None, eventsource.Strict, eventsource.Live} {
		sources := read(t, corpus.File(t, "eventsource", "localized", "loc.dll"), eventsource.Options{Semantics: semantics})
		for _, path := range corpus.Glob(t, "eventsource", "localized", "*.man") {
			all++
			_, class, _ := strings.Cut(strings.TrimSuffix(filepath.Base(path), ".man"), "@")
			want := testio.Read(t, path)
			s := sources[class]
			if s == nil {
				t.Errorf("no class %s", class)
				continue
			}
			if diff := cmp.Diff(string(want), string(s.AppendManifest(nil))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", class, diff)
				continue
			}
			same++
		}
	}
	t.Logf("%d of %d localized manifests are .NET's, byte by byte", same, all)
}

// TestConstructors holds names, GUIDs and kinds that are read out of constructors
// against those of objects.
func TestConstructors(t *testing.T) {
	sources := read(t, corpus.File(t, "eventsource", "tricky", "tricky.dll"), eventsource.Options{})
	right, unknown, all := 0, 0, 0
	for _, row := range table(t, truthColumns, "eventsource", "tricky", "truth.tsv") {
		all++
		s := sources[row["class"]]
		settings := strings.Contains(row["settings"], "EtwSelfDescribingEventFormat")
		switch {
		case s.SelfDescribing != settings:
			t.Errorf("%s is self-describing: %t, want %t", s.Class, s.SelfDescribing, settings)
		case s.Name == row["liveName"] && s.GUID.String() == row["liveGUID"]:
			right++
		case len(s.Warnings) > 0 && strings.Contains(s.Warnings[0], "computed at run time"):
			unknown++
		default:
			t.Errorf("%s is %q %s, want %q %s: %q", s.Class, s.Name, s.GUID, row["liveName"], row["liveGUID"], s.Warnings)
		}
	}
	t.Logf("%d of %d names and GUIDs are right, %d are known to be computed at run time", right, all, unknown)
}

// TestLayouts finds the events whose code writes something else than their parameters:
// those of which recordings say so, and no other.
func TestLayouts(t *testing.T) {
	want := map[string]string{
		"Bakery-Manifest 6":                        "a=win:UInt32 b c",
		"Dotnet-dev-certs 23":                      "certificate path includePrivateKey=win:UnicodeString",
		"System.Threading.Tasks.TplEventSource 20": "TaskID=win:Int64 Object",
		"System.Threading.Tasks.TplEventSource 21": "TaskID=win:Int64 Index=win:Int64 Object",
	}
	got := make(map[string]string)
	events := 0
	for _, path := range append(corpus.Glob(t, "assemblies", "*.dll"), corpus.File(t, "dotnet10", "Bakery.dll")) {
		for _, s := range read(t, path, eventsource.Options{}) {
			events += len(s.Events)
			for _, e := range s.Events {
				if e.Written != "" {
					got[fmt.Sprintf("%s %d", s.Name, e.ID)] = e.Written
				}
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	t.Logf("%d of %d events of these assemblies write something else than they declare: %d of %d known", len(got), events, len(got), len(want))
}
