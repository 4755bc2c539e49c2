package conformance

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/clr/private"
	"github.com/etwgen/etwgen/generated/clr/rundown"
	"github.com/etwgen/etwgen/generated/clr/stress"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/corpus"
)

// unnamed are the bits of flags that runtimes write and that have no names, each
// of which is a part of a number.
var unnamed = map[string][]struct {
	bits uint32
	why  string
}{
	"AppDomainFlagsMap": {{0xf << 28, "AppDomainFlags.SharingPolicy returns it"}},
	"MethodFlagsMap": {
		{0x7 << 7, "MethodFlags.Tier returns it, with names"},
		{0xf << 28, "MethodFlags.Extent returns it, with names"},
	},
}

// TestNamesInRecordedTraces and TestNamesInCorpus check that every value of an
// enumeration, and every bit of flags, that runtimes write has a name.
func TestNamesInRecordedTraces(t *testing.T) {
	paths := testio.Glob(t, filepath.Join("..", "recorded", "*.net*"))
	checkNames(t, paths)
}

func TestNamesInCorpus(t *testing.T) {
	met := checkNames(t, slices.Concat(
		corpus.Glob(t, "nettrace", "*.net*[ef]"),
		corpus.Glob(t, "dotnet10", "*.net*[ef]"),
		corpus.Glob(t, "universal", "*.nettrace"),
		corpus.Glob(t, "etl", "*.etl")))
	for enum, parts := range unnamed {
		for _, part := range parts {
			if met[enum]&part.bits == 0 {
				t.Errorf("no trace has any of the bits %#x of %s; %s", part.bits, enum, part.why)
			}
		}
	}
}

// A fieldValue is a value that a field of an enumeration has in some trace.
type fieldValue struct {
	enum, field string
	value       uint32
}

// checkNames reports the values without names in traces. It returns the bits
// without names that were met, by their map.
func checkNames(t *testing.T, paths []string) map[string]uint32 {
	t.Helper()
	decoder := etw.NewDecoder(clr.Provider, rundown.Provider, private.Provider, stress.Provider)
	nameless := make(map[fieldValue]int)
	values := 0
	for _, path := range paths {
		next, closer := openTrace(t, path)
		var r etw.Record
		for next(&r) == nil { // how traces end is for other tests
			e, err := decoder.Decode(&r)
			if err != nil || decoder.Event(&r).Basis != etw.BasisGenerated {
				continue // and so is what does not decode
			}
			d := e.EventDesc()
			for i := range d.Fields {
				values += collectNameless(nameless, d.Name+"."+d.Fields[i].Name, &d.Fields[i], e.FieldValue(i))
			}
		}
		closer.Close()
	}
	t.Logf("%d values of enumerations", values)
	if values == 0 {
		t.Error("no values of enumerations")
	}
	met := make(map[string]uint32)
	for _, v := range slices.SortedFunc(maps.Keys(nameless), func(a, b fieldValue) int {
		return cmp.Or(cmp.Compare(a.enum, b.enum), cmp.Compare(a.field, b.field), cmp.Compare(a.value, b.value))
	}) {
		left := v.value
		for _, part := range unnamed[v.enum] {
			left &^= part.bits
		}
		if left != 0 || v.value == 0 {
			t.Errorf("%s: %s has no name for %#x, written %d times", v.field, v.enum, left, nameless[v])
		}
		met[v.enum] |= v.value
	}
	return met
}

// collectNameless counts the values in a field that have no name: for flags, the
// bits that have none. It returns how many values it looked at.
func collectNameless(nameless map[fieldValue]int, field string, d *etw.FieldDesc, v etw.Value) int {
	looked := 0
	switch {
	case v.Kind() == etw.ValueArray:
		for elem := range v.Elements() {
			looked += collectNameless(nameless, field, d, elem)
		}
	case v.Kind() == etw.ValueStruct:
		for i, member := range v.Members() {
			looked += collectNameless(nameless, field+"."+d.Fields[i].Name, &d.Fields[i], member)
		}
	case d.Map != nil:
		looked = 1
		value := uint32(v.Uint())
		if _, ok := d.Map.Lookup(value); ok || d.Map.Flags && value == 0 {
			break
		}
		if d.Map.Flags {
			for _, entry := range d.Map.Entries {
				value &^= entry.Value
			}
			if value == 0 {
				break
			}
		}
		nameless[fieldValue{d.Map.Name, field, value}]++
	}
	return looked
}
