package docs

import (
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/clr/rundown"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

var updateTables = flag.Bool("update", false, "write the tables of docs/clr/keywords.md")

// TestKeywordTables holds the tables of the page on keywords against the functions that it
// is about.
func TestKeywordTables(t *testing.T) {
	path := filepath.Join(root, "docs/clr/keywords.md")
	text := page(t, path)
	for name, table := range map[string]string{"runtime": runtimeTable(), "rundown": rundownTable(), "presets": presetTable()} {
		before, rest, ok := strings.Cut(text, "<!-- table "+name+" -->\n")
		old, after, ended := strings.Cut(rest, "<!-- end -->\n")
		if !ok || !ended {
			t.Fatalf("the page has no table %s", name)
		}
		if old != table && !*updateTables {
			t.Errorf("the table %s is not that of the code: go test ./tests/docs -run KeywordTables -update writes it", name)
		}
		text = before + "<!-- table " + name + " -->\n" + table + "<!-- end -->\n" + after
	}
	if *updateTables {
		write(t, path, text)
	}
}

// A masked is a row of a table: keywords and their mask.
type masked struct {
	names string
	mask  uint64
}

func (m masked) cells() string { return fmt.Sprintf("| %s | %#x |", m.names, m.mask) }

func runtimeTable() string {
	list := []masked{{names: "Loader"}, {names: "Jit"}, {names: "Jit, StartEnumeration"}, {names: "Jit, EndEnumeration"}, {names: "NGen"}, {names: "NGen, StartEnumeration"}, {names: "NGen, EndEnumeration"}, {names: "NGen, StartEnumeration, EndEnumeration"}, {names: "NGen, StartEnumeration, SuppressNGen"}}
	for i := range list {
		m, _ := clr.ParseKeywords(list[i].names)
		list[i].mask = uint64(m)
	}
	list = append(list, masked{"the preset `symbols`", clr.EnableSymbols().Keywords}, masked{"the preset `documented`", clr.EnableDefault().Keywords}, masked{"the preset `without-enumeration`", clr.EnableWithoutEnumeration().Keywords})
	b := "| keywords | mask | domains, assemblies, modules | compiled methods | precompiled methods | dynamic methods |\n|---|---|---|---|---|---|\n"
	life := func(l clr.Lifetime) string { return cell(l.Load, "load", l.Unload, "unload") }
	for _, m := range list {
		s := clr.SymbolsOf(clr.Keyword(m.mask))
		b += m.cells() + life(s.Loader) + life(s.Jitted) + life(s.Precompiled) + life(s.Dynamic) + "\n"
	}
	return b
}

func rundownTable() string {
	list := []masked{{names: "Loader"}, {names: "Loader, Start"}, {names: "Loader, End"}, {names: "Jit"}, {names: "Jit, Start"}, {names: "Jit, End"}, {names: "NGen"}, {names: "NGen, Start"}, {names: "NGen, End"}, {names: "NGen, End, SuppressNGen"}}
	for i := range list {
		m, _ := rundown.ParseKeywords(list[i].names)
		list[i].mask = uint64(m)
	}
	list = append(list, masked{"the preset `symbols`", rundown.EnableEnd().Keywords}, masked{"the preset `symbols-at-start`", rundown.EnableStart().Keywords}, masked{"the slip of Microsoft's page", 0xb8})
	b := "| keywords | mask | domains, assemblies, modules | compiled and dynamic methods | precompiled methods |\n|---|---|---|---|---|\n"
	times := func(t rundown.Times) string { return cell(t.Start, "DCStart", t.End, "DCEnd") }
	for _, m := range list {
		s := rundown.SymbolsOf(rundown.Keyword(m.mask))
		b += m.cells() + times(s.Loader) + times(s.Jitted) + times(s.Precompiled) + "\n"
	}
	return b
}

func presetTable() string {
	b := "| provider | preset | mask and level | is for |\n|---|---|---|---|\n"
	row := func(provider, name, about string, e etw.Enable) {
		b += fmt.Sprintf("| %s | `%s` | %#x:%d | %s |\n", provider, name, e.Keywords, e.Level, about)
	}
	for _, p := range clr.Presets() {
		row("clr", p.Name, p.About, p.Enable())
	}
	row("rundown", "symbols", "names of the code that is there when a session ends", rundown.EnableEnd())
	row("rundown", "symbols-at-start", "the same, when it begins", rundown.EnableStart())
	return b
}

// cell says which of two things are true.
func cell(a bool, first string, b bool, second string) string {
	switch {
	case a && b:
		return " " + first + ", " + second + " |"
	case a:
		return " " + first + " |"
	case b:
		return " " + second + " |"
	}
	return " - |"
}

// TestPrecompiled: the rundown of a .NET program names methods of ReadyToRun code by the
// keyword NGen, as the page says, and a session with CompilationDiagnostic hears of them.
func TestPrecompiled(t *testing.T) {
	precompiled, looked := 0, 0
	var mux etw.Mux
	etw.Handle(&mux, func(r *etw.Record, e *rundown.AnyMethodDCEndVerbose) error {
		if e.MethodFlags&rundown.MethodFlagsJitted == 0 && r.Keywords&uint64(rundown.KeywordNGenRundown) != 0 {
			precompiled++
		}
		return nil
	})
	etw.Handle(&mux, func(r *etw.Record, _ *clr.AnyR2RGetEntryPoint) error {
		if r.Keywords == uint64(clr.KeywordCompilationDiagnostic) {
			looked++
		}
		return nil
	})
	for _, name := range []string{"rundown.nettrace", "r2r.nettrace"} {
		tr := testio.Open(t, trace.Open, filepath.Join(root, "tests/recorded", name))
		if err := mux.Run(t.Context(), tr); err != nil {
			t.Error(err)
		}
		tr.Close()
	}
	if precompiled == 0 || looked == 0 {
		t.Errorf("%d precompiled methods in the rundown, %d looked for", precompiled, looked)
	}
}
