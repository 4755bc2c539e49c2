package manifest_test

import (
	"bufio"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/manifest"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/corpus"
)

// refusals has the reason for which every refused manifest of the corpus is refused, by its
// first error. Those that are no manifests are refused in both modes; the dumps of classic
// providers only in strict mode.
var refusals = map[string]string{
	"handwritten/chrome_regions_of_interest.xml":               "2:1: no ETW provider",
	"handwritten/gas.man":                                      "2:1: no ETW provider",
	"handwritten/sysmon-own-schema.xml":                        "1:1: no ETW provider",
	"handwritten/xdppcw.man":                                   `2:1: namespace "https://`,
	"perfview/ASPNetTraceEventParser.man.xml":                  `312:11: event 10000 has opcode "1", which is not declared`,
	"perfview/kerneltraceeventparser.man.xml":                  `65:13: unknown inType "trace:WBEMSid"`,
	"win10-17134/Microsoft.Diagnostics.FastSerialization.xml":  "2:1: no ETW provider: the document is <doc>",
	"win10-17134/Microsoft.Diagnostics.Tracing.TraceEvent.xml": "2:1: no ETW provider: the document is <doc>",
}

// folders has the folders of the corpus, and the mode in which each is read.
var folders = []struct {
	name    string
	lenient bool
}{
	{"clr", false}, {"handwritten", false}, {"perfview", false}, {"win7-7600", true}, {"win10-17134", true},
}

// TestCorpus reads all manifests of the corpus. It prints how many of how many
// are accepted, and names all others.
func TestCorpus(t *testing.T) {
	for _, folder := range folders {
		t.Run(folder.name, func(t *testing.T) {
			files := corpus.Glob(t, "manifests", folder.name, "*")
			accepted, events, warnings := 0, 0, 0
			files = corpus.Share(files, 150)
			for _, file := range files {
				name := filepath.Base(file)
				data := testio.Read(t, file)
				m, warned, err := manifest.Parse(name, data, manifest.Options{Lenient: folder.lenient})
				want, refuse := refusals[folder.name+"/"+name]
				if err != nil {
					t.Logf("refused: %v", err)
					if !refuse || !strings.HasPrefix(err.Error(), name+":"+want) {
						t.Errorf("%s: %v, want %s", name, err, want)
					}
					continue
				}
				if refuse {
					t.Errorf("%s: accepted, want %s", name, want)
				}
				accepted++
				warnings += len(warned)
				for _, p := range m.Providers {
					events += len(p.Events)
					checkModel(t, name, p)
				}
			}
			mode := "strict"
			if folder.lenient {
				mode = "lenient"
			}
			t.Logf("%s, %s: accepted %d of %d, %d events, %d warnings", folder.name, mode, accepted, len(files), events, warnings)
		})
	}
}

// TestCorpusLenient checks that lenient mode accepts all that strict mode does,
// and the dumps in the folders of hand-written manifests.
func TestCorpusLenient(t *testing.T) {
	for _, folder := range folders {
		if folder.lenient {
			continue
		}
		for _, file := range corpus.Glob(t, "manifests", folder.name, "*") {
			m, _, err := manifest.ParseFile(file, manifest.Options{Lenient: true})
			name := folder.name + "/" + filepath.Base(file)
			if why := refusals[name]; err != nil && !strings.Contains(why, "no ETW provider") && !strings.Contains(why, "https") {
				t.Errorf("%s: %v", name, err)
			}
			if err == nil {
				for _, p := range m.Providers {
					checkModel(t, name, p)
				}
			}
		}
	}
}

// checkModel checks invariants of all models.
func checkModel(t *testing.T, file string, p *manifest.Provider) {
	t.Helper()
	if p.Name == "" || p.GUID.IsZero() || !p.Pos.IsValid() {
		t.Errorf("%s: provider %+v", file, p)
	}
	for _, tmpl := range p.Templates {
		n := 0
		for i, f := range tmpl.Fields {
			n += max(1, len(f.Lost))
			checkField(t, file, f, i == len(tmpl.Fields)-1, 0)
		}
		if n != tmpl.Declared {
			t.Errorf("%s: template %s has %d fields of %d", file, tmpl.ID, n, tmpl.Declared)
		}
	}
	for _, e := range p.Events {
		if (e.ID > 0xffff) && e.Undispatched == "" || !e.Pos.IsValid() {
			t.Errorf("%s: event %+v", file, e)
		}
	}
}

func checkField(t *testing.T, file string, f *manifest.Field, last bool, depth int) {
	t.Helper()
	if f.Name == "" || f.Type == etw.InNull || f.Type != manifest.Opaque && f.Type.String() == "" {
		t.Errorf("%s: field %+v", file, f)
	}
	rest := f.Count.Kind == etw.SizeRest || f.Length.Kind == etw.SizeRest
	if rest && (!last || depth > 0) || (f.Type == manifest.Opaque) != (f.Opaque != "") || (f.Type == etw.InStruct) != (len(f.Fields) > 0) {
		t.Errorf("%s: field %+v", file, f)
	}
	if f.Type == etw.InBinary && f.Length.Kind == etw.SizeNone {
		t.Errorf("%s: binary field %s without a length", file, f.Name)
	}
	for _, s := range []manifest.Size{f.Count, f.Length} {
		if s.Kind == etw.SizeField && (!manifest.CanCount(s.Field.Type) || s.Up > depth) {
			t.Errorf("%s: size of field %s: %+v", file, f.Name, s)
		}
	}
	for i, m := range f.Fields {
		checkField(t, file, m, i == len(f.Fields)-1, depth+1)
	}
}

// table reads a table of facts about the CLR. It returns the rows without the
// columns that say where a fact comes from, those apart that only the manifest
// of .NET Framework has.
func table(t *testing.T, name string, columns int) (rows, framework []string) {
	t.Helper()
	f := testio.File(t, filepath.Join(corpus.Facts(t), name))
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Scan() // the names of the columns
	for lines.Scan() {
		cells := strings.Split(lines.Text(), "\t")
		row := strings.Join(cells[:columns], "\t")
		if cells[len(cells)-1] == "netfx" {
			framework = append(framework, row)
		} else {
			rows = append(rows, row)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return rows, framework
}

// row joins cells like the tables have them.
func row(cells ...any) string {
	parts := make([]string, len(cells))
	for i, c := range cells {
		parts[i] = fmt.Sprint(c)
	}
	return strings.Join(parts, "\t")
}

// clrTable is a table of facts, with the rows that a manifest has for it.
type clrTable struct {
	file    string
	columns int
	hex     int // the column with masks or values, -1 if there is none
	rows    []string
}

// TestFacts compares the model of the newest CLR manifest with tables of its contents, row
// by row.
func TestFacts(t *testing.T) {
	latest := clrTables(t, "ClrEtwAll.latest-partial.man")
	framework := clrTables(t, "ClrEtwAll.netfx-2016.man")
	for i, have := range latest {
		want, old := table(t, have.file, have.columns)
		for j := range want {
			want[j] = canonical(want[j], have.hex)
		}
		compareRows(t, have.file, want, have.rows)
		for _, r := range old {
			if !slices.Contains(framework[i].rows, canonical(r, have.hex)) {
				t.Errorf("%s: not in the manifest of .NET Framework: %q", have.file, r)
			}
		}
	}
}

// clrTables makes the tables of a manifest of the CLR.
func clrTables(t *testing.T, file string) []clrTable {
	t.Helper()
	m := testio.ParseFile(t, manifest.ParseFile, corpus.File(t, "manifests", "clr", file), manifest.Options{})
	var eventRows, fieldRows, keywords, maps, opcodes, tasks []string
	for _, p := range m.Providers {
		for _, e := range p.Events {
			var names []string
			for _, k := range e.Keywords {
				names = append(names, k.Name)
			}
			template := ""
			if e.Template != nil {
				template = e.Template.ID
			}
			level, task, opcode := e.Level, e.Task, e.Opcode
			if level == nil {
				level = &manifest.Level{}
			}
			if task == nil {
				task = &manifest.Task{}
			}
			if opcode == nil {
				opcode = &manifest.Opcode{}
			}
			eventRows = append(eventRows, row(p.Name, e.ID, e.Version, e.Symbol, level.Name, task.Name, task.Value,
				opcode.Name, uint8(opcode.Value), strings.Join(names, " "), fmt.Sprintf("0x%x", e.Mask()), template, uint8(level.Value)))
		}
		for _, tmpl := range p.Templates {
			index := 0
			fieldRows = appendFields(fieldRows, p.Name+"\t"+tmpl.ID, "", tmpl.Fields, &index)
		}
		for _, k := range p.Keywords {
			keywords = append(keywords, row(p.Name, k.Name, fmt.Sprintf("0x%x", k.Mask), k.Symbol, k.Message))
		}
		for _, mp := range p.Maps {
			kind := "valueMap"
			if mp.Flags {
				kind = "bitMap"
			}
			for _, e := range mp.Entries {
				maps = append(maps, row(p.Name, mp.Name, kind, fmt.Sprintf("0x%x", e.Value), e.StringID, e.Message))
			}
		}
		for _, task := range p.Tasks {
			guid := ""
			if !task.EventGUID.IsZero() {
				guid = task.EventGUID.String()
			}
			tasks = append(tasks, row(p.Name, task.Name, task.Value, task.Symbol, guid))
			for _, o := range task.Opcodes {
				opcodes = append(opcodes, row(p.Name, task.Name, o.Name, uint8(o.Value), o.Symbol))
			}
		}
	}
	return []clrTable{
		{"clr-events.tsv", 13, 10, eventRows},
		{"clr-fields.tsv", 10, -1, fieldRows},
		{"clr-keywords.tsv", 5, 2, keywords},
		{"clr-maps.tsv", 6, 3, maps},
		{"clr-opcodes.tsv", 5, -1, opcodes},
		{"clr-tasks.tsv", 5, -1, tasks},
	}
}

// canonical returns a row with masks, values of maps and GUIDs in one spelling:
// how a file spells them is not part of the model. The column is that with the
// masks or values, -1 if there is none.
func canonical(row string, column int) string {
	cells := strings.Split(row, "\t")
	for i, cell := range cells {
		if v, err := strconv.ParseUint(cell, 0, 64); err == nil && i == column {
			cells[i] = fmt.Sprintf("0x%x", v)
		} else if guid, err := etw.ParseGUID(cell); err == nil {
			cells[i] = guid.String()
		}
	}
	return strings.Join(cells, "\t")
}

// compareRows compares tables whose rows may be in any order, since the facts
// have theirs sorted in other ways.
func compareRows(t *testing.T, name string, want, got []string) {
	t.Helper()
	left := make(map[string]int)
	for _, r := range want {
		left[r]++
	}
	equal := 0
	for _, r := range got {
		if left[r] > 0 {
			left[r]--
			equal++
		} else {
			t.Errorf("%s: not in the facts: %q", name, r)
		}
	}
	for r, n := range left {
		if n > 0 {
			t.Errorf("%s: not in the model: %q", name, r)
		}
	}
	t.Logf("%s: %d of %d rows equal", name, equal, len(want))
}

// appendFields appends the rows of fields, members behind their structs.
func appendFields(rows []string, prefix, path string, fields []*manifest.Field, index *int) []string {
	for _, f := range fields {
		kind, inType, mapName := "data", f.Type.String(), ""
		if f.Type == etw.InStruct {
			kind, inType = "struct", ""
		}
		if f.Map != nil {
			mapName = f.Map.Name
		}
		rows = append(rows, row(prefix, *index, path+f.Name, kind, inType, f.OutType, mapName, sizeText(f.Count), sizeText(f.Length)))
		*index++
		rows = appendFields(rows, prefix, path+f.Name+".", f.Fields, index)
	}
	return rows
}

func sizeText(s manifest.Size) string {
	switch s.Kind {
	case etw.SizeConst:
		return fmt.Sprint(s.Const)
	case etw.SizeField:
		return s.Field.Name
	}
	return ""
}
