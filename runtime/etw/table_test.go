package etw

import (
	"encoding/binary"
	"testing"
)

// similarGUIDs returns GUIDs that differ in the two bytes at at.
func similarGUIDs(n, at int) []GUID {
	list := make([]GUID, n)
	for i := range list {
		list[i] = MustParseGUID("3d6fa8d0-fe05-11d0-9dda-00c04fd7ba7c")
		binary.LittleEndian.PutUint16(list[i][at:], uint16(i))
	}
	return list
}

// longestSearch returns how many slots of the table the slowest search looks at.
func longestSearch[T any](t *table[T]) int {
	longest, run := 0, 0
	for range 2 { // a run may go on at the start
		for _, e := range t.slots {
			if run++; e == nil {
				longest, run = max(longest, run), 0
			}
		}
	}
	return longest
}

// Whichever bytes of GUIDs differ, searches are short: those of the kernel's
// classes differ in the first, those of people who count up in the last.
func TestTableOfSimilarGUIDs(t *testing.T) {
	for at := 0; at <= 14; at += 2 {
		var tab table[int]
		guids := similarGUIDs(1000, at)
		for i, g := range guids {
			for id := range uint16(4) {
				*tab.at(Key{KindClassic, g, id, 0}).version(0) = 4*i + int(id)
			}
		}
		for i, g := range guids {
			for id := range uint16(4) {
				e := tab.id(KindClassic, &g, id)
				if e == nil || *e.find(0) != 4*i+int(id) {
					t.Fatalf("byte %d: event %d of %v is not found", at, id, g)
				}
			}
			if tab.id(KindManifest, &g, 0) != nil || tab.id(KindClassic, &g, 4) != nil {
				t.Fatalf("byte %d: found what is not there", at)
			}
		}
		if n := longestSearch(&tab); n > 100 {
			t.Errorf("GUIDs that differ at byte %d: a search of %d slots", at, n)
		}
	}
}

// A provider and an id whose sum, or difference, is that of another one must not
// share a slot with it.
func TestTableOfSums(t *testing.T) {
	var tab table[int]
	for i := range 4000 {
		for _, n := range []uint64{uint64(i), -uint64(i)} {
			var g GUID
			binary.LittleEndian.PutUint64(g[8:], n)
			tab.at(Key{Provider: g, ID: uint16(i)})
		}
	}
	if n := longestSearch(&tab); n > 100 {
		t.Errorf("a search of %d slots", n)
	}
}

func TestTableVersions(t *testing.T) {
	var tab table[string]
	k := Key{KindManifest, GUID{1}, 2, 3}
	if tab.id(k.Kind, &k.Provider, k.ID) != nil {
		t.Error("an empty table has an id")
	}
	*tab.at(k).version(3) = "three"
	*tab.at(k).version(4) = "four"
	e := tab.at(k)
	if *e.find(3) != "three" || *e.find(4) != "four" || e.find(5) != nil || len(e.versions) != 2 {
		t.Errorf("versions %v", e.versions)
	}
}
