package native

import (
	"bytes"
	"encoding/binary"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/internal/msf"
	"github.com/etwgen/etwgen/internal/msf/msftest"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
)

var testGUID = etw.MustParseGUID("00112233-4455-6677-8899-aabbccddeeff")

// le appends numbers of 16 and 32 bits, and bytes.
func le(b []byte, list ...any) []byte {
	for _, x := range list {
		switch x := x.(type) {
		case uint16:
			b = binary.LittleEndian.AppendUint16(b, x)
		case uint32:
			b = binary.LittleEndian.AppendUint32(b, x)
		case int:
			b = binary.LittleEndian.AppendUint32(b, uint32(x))
		case string:
			b = append(append(b, x...), 0)
		case []byte:
			b = append(b, x...)
		}
	}
	return b
}

// record makes a record of symbols, padded to 4 bytes.
func record(kind uint16, fields ...any) []byte {
	b := le(nil, append([]any{kind}, fields...)...)
	for (len(b)+2)%4 != 0 {
		b = append(b, 0)
	}
	return append(binary.LittleEndian.AppendUint16(nil, uint16(len(b))), b...)
}

// proc makes a record of a function.
func proc(at, size int, number uint16, name string) []byte {
	return record(symbolGlobalProc, 0, 0, 0, size, 0, 0, 0, at, number, []byte{0}, name)
}

func public(flags, at int, number uint16, name string) []byte {
	return record(symbolPublic, flags, at, number, name)
}

// sectionHeaders makes headers of sections of images.
func sectionHeaders(list ...section) []byte {
	var b []byte
	for _, s := range list {
		b = append(append(b, make([]byte, 8)...), le(nil, s.size, s.at)...)
		b = append(b, make([]byte, 24)...)
	}
	return b
}

// testPDB makes a file with two public functions, data, and functions of a module.
func testPDB(debug []byte, more ...[]byte) []byte {
	info := le(nil, 20000404, 0, 7, testGUID[:])
	symbols := append(public(2, 0x100, 1, "?bake@Oven@@QEAAXH@Z"), public(2, 0x300, 1, "_Sell@8")...)
	symbols = append(symbols, public(0, 0x10, 2, "data")...)
	symbols = append(symbols, public(2, 0x10, 9, "nowhere")...)
	module := append([]byte{4, 0, 0, 0}, proc(0x100, 0x80, 1, "Oven::bake")...)
	module = append(module, proc(0x180, 0x40, 1, "knead")...) // is static: no public symbol
	modules := make([]byte, 64)
	binary.LittleEndian.PutUint16(modules[34:], 4)
	binary.LittleEndian.PutUint32(modules[36:], uint32(len(module)))
	modules = le(modules, "oven.obj", "oven.lib")
	for len(modules)%4 != 0 {
		modules = append(modules, 0)
	}
	none := make([]byte, 64)
	binary.LittleEndian.PutUint16(none[34:], 0xffff)
	modules = append(modules, le(none, "* Linker *", "")...)
	for len(modules)%4 != 0 {
		modules = append(modules, 0)
	}
	dbi := make([]byte, 64)
	binary.LittleEndian.PutUint32(dbi, 0xffffffff)
	binary.LittleEndian.PutUint32(dbi[8:], 3) // the age of the image
	binary.LittleEndian.PutUint16(dbi[20:], 5)
	binary.LittleEndian.PutUint32(dbi[24:], uint32(len(modules)))
	binary.LittleEndian.PutUint32(dbi[48:], uint32(len(debug)))
	dbi = append(append(dbi, modules...), debug...)
	sections := sectionHeaders(section{0x1000, 0x400}, section{0x2000, 0x100})
	return msftest.File(append([][]byte{nil, info, nil, dbi, module, symbols, sections}, more...))
}

// debugStreams lists streams of the debugger by their places.
func debugStreams(streams map[int]uint16) []byte {
	var b []byte
	for i := range 11 {
		n, ok := streams[i]
		if !ok {
			n = 0xffff
		}
		b = le(b, n)
	}
	return b
}

func functionsOf(t *testing.T, file []byte) *table {
	t.Helper()
	p, err := openPDB(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	if !p.is(testGUID, 3) || !p.is(testGUID, 7) || p.is(testGUID, 4) || p.is(etw.GUID{}, 3) {
		t.Error("the identity is wrong")
	}
	tab, err := p.functions()
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

func TestPDB(t *testing.T) {
	tab := functionsOf(t, testPDB(debugStreams(map[int]uint16{debugSections: 6})))
	for _, test := range []struct {
		at     uint64
		name   string
		offset uint64
	}{
		{0x10ff, "", 0}, {0x1100, "Oven::bake", 0}, {0x117f, "Oven::bake", 0x7f}, {0x1180, "knead", 0}, {0x11bf, "knead", 0x3f},
		{0x11c0, "", 0}, {0x1300, "Sell", 0}, {0x13ff, "Sell", 0xff}, {0x1400, "", 0}, {0x2010, "", 0},
	} {
		if name, offset, ok := tab.find(test.at); name != test.name || offset != test.offset || ok != (name != "") {
			t.Errorf("at %#x is %q+%#x, %v", test.at, name, offset, ok)
		}
	}
}

// Code that was moved after it was linked is where it was moved to.
func TestMovedPDB(t *testing.T) {
	moved := le(nil, 0x1000, 0x5000, 0x1180, 0, 0x1300, 0x6000)
	sections := sectionHeaders(section{0x5000, 0x2000})
	tab := functionsOf(t, testPDB(debugStreams(map[int]uint16{debugOmapFromSource: 7, debugSections: 8, debugOriginalSections: 6}), moved, sections))
	if name, offset, _ := tab.find(0x5104); name != "Oven::bake" || offset != 4 {
		t.Errorf("got %s+%d", name, offset)
	}
	if name, _, _ := tab.find(0x6001); name != "Sell" {
		t.Errorf("got %s", name)
	}
	if len(tab.list) != 2 {
		t.Errorf("%+v", tab.list) // knead was left out
	}
}

func TestBrokenPDB(t *testing.T) {
	whole := testPDB(debugStreams(map[int]uint16{debugSections: 6}))
	for n := 0; n < len(whole); n += 7 {
		if p, err := openPDB(bytes.NewReader(whole[:n]), int64(n)); err == nil {
			if _, err := p.functions(); err == nil && n < 512 {
				t.Errorf("%d bytes are taken for a file", n)
			}
		}
	}
	noSections := testPDB(debugStreams(nil))
	p, err := openPDB(bytes.NewReader(noSections), int64(len(noSections)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.functions(); !errors.Is(err, msf.ErrPDB) {
		t.Errorf("got %v", err)
	}
}

func FuzzPDB(f *testing.F) {
	f.Add(testPDB(debugStreams(map[int]uint16{debugSections: 6})))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := openPDB(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		if tab, err := p.functions(); err == nil {
			for i := range tab.list {
				tab.find(tab.list[i].at)
			}
		}
	})
}

func TestUndecorated(t *testing.T) {
	for name, want := range map[string]string{
		"?bake@Oven@@QEAAXH@Z": "Oven::bake", "?x@?$T@H@@QEAAXXZ": "?x@?$T@H@@QEAAXXZ", "??0Oven@@QEAA@XZ": "??0Oven@@QEAA@XZ", "_Sleep@4": "Sleep",
		"_main": "_main", "NtClose": "NtClose", "?": "?", "?@@": "?@@", "_@4": "_@4",
	} {
		if got := undecorated(name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}

// A folder gives names by identity alone.
func TestDir(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, data []byte) {
		t.Helper()
		path := filepath.Join(dir, name)
		testio.Write(t, path, data)
	}
	write("oven.pdb/1/oven.pdb", []byte("no symbols"))
	write("oven.pdb/2/Oven.PDB", testPDB(debugStreams(map[int]uint16{debugSections: 6})))
	write("lib/liboven.so", testELF())
	write("perf-42.map", []byte("1000 20 void [Shop] Bakery.Oven::Bake(int32)[Tier1]\nrubbish\n2000 10 stub <1>\n1000 30 int [Shop] Bakery.Till::Sell()[Tier0]\n"))
	write("perf-x.map", nil)
	write("jit-42.dump", []byte("rubbish that nobody looks at"))
	dump := []byte("DTiJ\x01\x00\x00\x00\x28\x00\x00\x00" + strings.Repeat("\x00", 28))
	for _, n := range []uint64{62 << 32, 0, 0, 0, 0x3000, 0x20, 1} { // a record of 62 bytes, which has code
		dump = binary.LittleEndian.AppendUint64(dump, n)
	}
	write("jit-44.dump", append(dump, "knead\x00"...))
	d := testio.Open(t, Open, dir)
	name := func(n symbols.Native) string {
		d.Name(&n)
		return n.Text(0)
	}
	id := symbols.PDB{GUID: testGUID, Age: 3, Path: `d:\build\oven.pdb`}
	for want, n := range map[string]symbols.Native{
		"oven.dll!knead+0x1":  {Module: `C:\oven.dll`, Offset: 0x1181, PDB: id},
		"oven.dll+0x1181":     {Module: `C:\oven.dll`, Offset: 0x1181, PDB: symbols.PDB{GUID: testGUID, Age: 2, Path: "oven.pdb"}},
		"oven.dll+0x9":        {Module: `C:\oven.dll`, Offset: 9, PDB: id},
		"oven.dll!known+0x2":  {Module: `C:\oven.dll`, Offset: 2, Function: "known", PDB: id},
		"liboven.so!bake+0x4": {Module: "/lib/liboven.so", Offset: 0x1104, InFile: true, BuildID: "0A0B0C0D"},
		"liboven.so+0x2104":   {Module: "/lib/liboven.so", Offset: 0x2104, BuildID: "0a0b0c0d"}, // not where it is in the file
		"other.so+0x1104":     {Module: "/lib/other.so", Offset: 0x1104, InFile: true, BuildID: "ffff"},
	} {
		if got := name(n); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if n, ok := d.Jitted(42, 0x1025); !ok || n.Text(0) != "Shop!Bakery.Till.Sell()+0x25" {
		t.Errorf("%+v, %v", n, ok)
	}
	if n, ok := d.Jitted(42, 0x2001); !ok || n.Text(0) != "stub <1>+0x1" {
		t.Errorf("%+v, %v", n, ok)
	}
	if n, ok := d.Jitted(44, 0x301f); !ok || n.Text(0) != "knead+0x1f" {
		t.Errorf("of a jitdump: %+v, %v", n, ok)
	}
	for _, at := range []uint64{0, 0xfff, 0x1030, 0x2010} {
		if n, ok := d.Jitted(42, at); ok {
			t.Errorf("%#x is %+v", at, n)
		}
	}
	if _, ok := d.Jitted(43, 0x1000); ok {
		t.Error("there is a map of another process")
	}
	if len(d.Faults()) != 1 {
		t.Errorf("%v", d.Faults())
	}
	if _, err := Open(filepath.Join(dir, "none")); err == nil {
		t.Error("a folder that is not there is opened")
	}
}
