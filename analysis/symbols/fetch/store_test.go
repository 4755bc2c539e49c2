package fetch

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/analysis/symbols"
)

// put writes a file, and the folders that it is in.
func put(t *testing.T, b []byte, elem ...string) string {
	path := filepath.Join(elem...)
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, b, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestLayouts finds files where others keep them.
func TestLayouts(t *testing.T) {
	id := strings.Repeat("0a", 20)
	bin, _ := hex.DecodeString(id)
	pdb, elf := makePDB(testGUID), makeELF(bin)
	program := symbols.Native{Module: "/usr/bin/oven", BuildID: id}
	other := testGUID
	other[0]++
	for at, n := range map[string]*symbols.Native{
		testKey:                  &testCode,
		strings.ToLower(testKey): &testCode,
		"ov/" + testKey:          &testCode,
		"oven.pdb":               &testCode,
		"dll/oven.pdb":           &testCode,
		testKey[:len(testKey)-8] + "msfz0/oven.pdb":  &testCode,
		"symbols/sys/oven.pdb":                       &testCode,
		id + "/debuginfo":                            &program,
		id + "/executable":                           &program,
		".build-id/0a/" + id[2:] + ".debug":          &program,
		"_.debug/elf-buildid-sym-" + id + "/_.debug": &program,
		"oven/elf-buildid-" + id + "/oven":           &program,
	} {
		folder := t.TempDir()
		file, wrong := pdb, makePDB(other)
		if n == &program {
			bin[0] = 0x0b
			file, wrong = elf, makeELF(bin)
		}
		if strings.HasPrefix(at, "ov/") {
			put(t, nil, folder, "index2.txt")
		}
		want := put(t, file, folder, at)
		find := func() []string { return New(Path{{Folder: folder}}, Limits{}, nil).Files(t.Context(), n) }
		if got := find(); len(got) != 1 || got[0] != want {
			t.Errorf("%s: %q", at, got)
		}
		for _, no := range [][]byte{wrong, nil, []byte("x")} { // of another build, a 404 as debuginfod keeps it, and dirt
			put(t, no, want)
			if got := find(); len(got) != 0 {
				t.Errorf("%s is another file: %q", at, got)
			}
		}
	}
}

// TestPackedStore unpacks a cabinet of a store.
func TestPackedStore(t *testing.T) {
	packed, store := t.TempDir(), t.TempDir()
	at := put(t, makeCabinet(t, makePDB(testGUID)), packed, strings.TrimSuffix(testKey, "b")+"_")
	p, err := ParsePath("srv*"+store+"*"+packed, "")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := New(p, Limits{}, nil).Find(t.Context(), Keys(&testCode)[0]), filepath.Join(store, testKey); got != want {
		t.Errorf("%q, not %q", got, want)
	}
	put(t, []byte("MSCF and no more"), at)
	store = t.TempDir()
	p[0].Stores[0] = store
	var events []Event
	if got := New(p, Limits{}, func(e Event) { events = append(events, e) }).Find(t.Context(), Keys(&testCode)[0]); got != "" || len(events) != 1 || events[0].From != at {
		t.Errorf("%q, %v", got, events)
	}
	if got := stored(t, store); len(got) != 0 {
		t.Errorf("the store has %q", got)
	}
}

// TestHostileNames has unsafe names of traces: no key has them.
func TestHostileNames(t *testing.T) {
	for _, name := range []string{"", ".", "..", `a\..`, "C:", "a:b.pdb", "a\x00.pdb", "a\n.pdb", "a*.pdb", "a?.pdb", "\xff.pdb", strings.Repeat("a", 300), "a.pdb.", "dir/", `dir\`} {
		n := testCode
		if n.PDB.Path = name; len(Keys(&n)) != 0 {
			t.Errorf("%q: %v", name, Keys(&n))
		}
	}
	for _, path := range []string{`..\..\oven.pdb`, "/etc/../oven.pdb", `\\server\share\oven.pdb`, "https://b.example/oven.pdb"} {
		n := testCode
		if n.PDB.Path = path; len(Keys(&n)) != 1 || Keys(&n)[0].String() != testKey {
			t.Errorf("%q: %v", path, Keys(&n))
		}
	}
	for _, id := range []string{"..", "00", "0011223344556677/..", "zz11223344556677", strings.Repeat("00", 65)} {
		if n := (symbols.Native{Module: "/a", BuildID: id}); len(Keys(&n)) != 0 {
			t.Errorf("build id %q: %v", id, Keys(&n))
		}
	}
}

// TestLocal has no server asked.
func TestLocal(t *testing.T) {
	b := serve(t, files(map[string][]byte{testKey: makePDB(testGUID)}))
	f := b.finder("")
	f.path = f.path.Local()
	if f.path.HasServer() || f.Find(t.Context(), Keys(&testCode)[0]) != "" || len(b.asked) != 0 {
		t.Errorf("asked for %q", b.asked)
	}
}
