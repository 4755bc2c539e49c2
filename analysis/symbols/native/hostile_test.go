package native

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/internal/msf/msftest"
	"github.com/etwgen/etwgen/internal/quota"
	"github.com/etwgen/etwgen/internal/testio"
)

// allocated returns how many bytes f allocates, freed ones too: how busy a machine is does not
// change it.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// proportional fails unless reading a file of each of three sizes allocates at most some times
// its bytes.
func proportional(t *testing.T, times int, file func(n int) []byte, read func(b []byte)) {
	t.Helper()
	for _, n := range []int{1, 2, 4} {
		b := file(n)
		if got, most := allocated(func() { read(b) }), uint64(times*len(b)+16<<20); got > most {
			t.Errorf("a file of %d bytes takes %d MB, more than %d", len(b), got>>20, most>>20)
		}
	}
}

// sharedTables is an ELF file with as many tables of symbols as fit, all of them the same bytes.
func sharedTables(size int) []byte {
	list := make([]elf.Sym64, size/2/24)
	for i := range list {
		list[i] = codeSymbol(1, elf.STB_GLOBAL, elf.STT_FUNC, 1, uint64(0x1000+16*i), 16)
	}
	names, _ := stringTable("bake")
	parts := []part{{name: ".text", kind: elf.SHT_PROGBITS, flags: elf.SHF_ALLOC | elf.SHF_EXECINSTR, address: 0x1000, data: list},
		{name: ".strtab", kind: elf.SHT_STRTAB, data: names}}
	file := makeELF(elf.EM_X86_64, append(parts, part{name: ".symtab", kind: elf.SHT_SYMTAB, link: ".strtab", address: 0x1000, data: list})...)
	at := binary.LittleEndian.Uint64(file[40:])
	table := file[at+3*64:][:64]
	for n := range size / 2 / 64 {
		file = append(file, table...)
		binary.LittleEndian.PutUint16(file[60:], uint16(5+n))
	}
	return file
}

func TestTablesThatShareBytes(t *testing.T) {
	proportional(t, 128, func(n int) []byte { return sharedTables(n << 20) }, func(b []byte) {
		x, err := openELF(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		unpack := quota.Quota(unpackedOfDir)
		if _, err := readCode(x, &unpack); !errors.Is(err, quota.ErrShared) {
			t.Errorf("the error is %v", err)
		}
	})
}

// namesThatShareBytes is an ELF file whose symbols have names that are ends of one long one.
func namesThatShareBytes(size int) []byte {
	names := append([]byte{0}, bytes.Repeat([]byte{'_'}, size/2)...)
	list := make([]elf.Sym64, size/2/24)
	for i := range list {
		list[i] = codeSymbol(uint32(1+i), elf.STB_GLOBAL, elf.STT_FUNC, 1, 0x1000, 16)
	}
	return makeELF(elf.EM_X86_64, part{name: ".text", kind: elf.SHT_PROGBITS, flags: elf.SHF_ALLOC | elf.SHF_EXECINSTR, address: 0x1000, data: make([]byte, 0x80)},
		part{name: ".strtab", kind: elf.SHT_STRTAB, data: append(names, 0)}, part{name: ".symtab", kind: elf.SHT_SYMTAB, link: ".strtab", data: list})
}

func TestNamesThatShareBytes(t *testing.T) {
	proportional(t, 128, func(n int) []byte { return namesThatShareBytes(n << 20) }, func(b []byte) {
		x, err := openELF(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		unpack := quota.Quota(unpackedOfDir)
		if _, err := readCode(x, &unpack); !errors.Is(err, quota.ErrShared) {
			t.Errorf("the error is %v", err)
		}
	})
}

// TestModulesThatShareAStream reads a PDB whose modules all have the symbols of one stream.
func TestModulesThatShareAStream(t *testing.T) {
	proportional(t, 128, func(n int) []byte {
		var symbols, modules []byte
		symbols = le(symbols, uint32(4))
		for i := range n * 10_000 {
			symbols = append(symbols, proc(16*i, 16, 1, "bake")...)
		}
		module := make([]byte, 68)
		binary.LittleEndian.PutUint16(module[34:], 6)
		binary.LittleEndian.PutUint32(module[36:], uint32(len(symbols)))
		for range n * 5000 {
			modules = append(modules, module...)
		}
		return modulesPDB(modules, symbols)
	}, func(b []byte) {
		p, err := openPDB(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.functions(); !errors.Is(err, quota.ErrShared) {
			t.Errorf("the error is %v", err)
		}
	})
}

// modulesPDB makes a file of modules, whose symbols are in stream 6.
func modulesPDB(modules, symbols []byte) []byte {
	debug := debugStreams(map[int]uint16{debugSections: 5})
	dbi := make([]byte, 64)
	binary.LittleEndian.PutUint16(dbi[20:], 0xffff)
	binary.LittleEndian.PutUint32(dbi[24:], uint32(len(modules)))
	binary.LittleEndian.PutUint32(dbi[48:], uint32(len(debug)))
	dbi = append(append(dbi, modules...), debug...)
	return msftest.File([][]byte{nil, le(nil, 20000404, 0, 7, testGUID[:]), nil, dbi, nil, sectionHeaders(section{0x1000, 1 << 30}), symbols})
}

// packedZeros is a stream of xz of n chunks with two megabytes of zeros each.
func packedZeros(n int) []byte {
	const used = 53 << 10 // bytes of zeros of which these are made
	b := packed(nil)[:12+12]
	for i := range n {
		chunk := []byte{0x80 | 0x1f, 0xff, 0xff, (used - 1) >> 8, (used - 1) & 0xff}
		if i == 0 {
			chunk[0] = 0xe0 | 0x1f
			chunk = append(chunk, 93)
		}
		b = append(append(b, chunk...), make([]byte, used)...)
	}
	return append(b, 0, 0, 0, 0, 0, 0, 0, 0)
}

// TestPackedBudget unpacks no more than in proportion to a file, and to all of a Dir.
func TestPackedBudget(t *testing.T) {
	text := part{name: ".text", kind: elf.SHT_PROGBITS, flags: elf.SHF_ALLOC | elf.SHF_EXECINSTR, address: 0x1000, data: make([]byte, 0x80)}
	b := makeELF(elf.EM_X86_64, text, part{name: ".gnu_debugdata", kind: elf.SHT_PROGBITS, data: packedZeros(60)})
	x, err := openELF(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	unpack := quota.Quota(unpackedOfDir)
	got := allocated(func() { _, err = readCode(x, &unpack) })
	if err != nil || got > 8*uint64(unpackedTimes*len(b)+leastUnpacked) || unpack != unpackedOfDir {
		t.Errorf("%v, %d MB for a file of %d bytes", err, got>>20, len(b))
	}

	small := makeELF(elf.EM_X86_64, text, part{name: ".gnu_debugdata", kind: elf.SHT_PROGBITS, data: packed(debugOf(false))})
	if x, err = openELF(bytes.NewReader(small), int64(len(small))); err != nil {
		t.Fatal(err)
	}
	for _, left := range []quota.Quota{unpackedOfDir, 10} {
		unpack = left
		c, err := readCode(x, &unpack)
		if err != nil || (len(c.list) > 0) != (left > 10) {
			t.Errorf("with %d bytes left: %d functions, %v", left, len(c.list), err)
		}
	}
}

// TestLongLines reads maps and lists of which one line is longer than any name: it costs itself.
func TestLongLines(t *testing.T) {
	long := strings.Repeat("x", 5<<20)
	m, err := readPerfMap(strings.NewReader("1000 10 first\n2000 10 " + long + "\n3000 10 last\n" + long))
	if fmt.Sprint(err) != "2 lines are longer than 1048576 bytes, and left out" {
		t.Error(err)
	}
	for address, want := range map[uint64]string{0x1000: "first", 0x3000: "last"} {
		if name, _, _ := m.find(address); name != want {
			t.Errorf("at %#x is %.40q, want %q", address, name, want)
		}
	}
	k, err := readKernel(strings.NewReader("ffffffff81000000 T first\nffffffff81001000 T " + long + "\nffffffff81002000 T last\n"))
	if fmt.Sprint(err) != "1 line is longer than 1048576 bytes, and left out" {
		t.Error(err)
	}
	for address, want := range map[uint64]string{0xffffffff81000000: "first", 0xffffffff81002000: "last"} {
		if name, _, _ := k.find(address); name != want {
			t.Errorf("at %#x is %.40q, want %q", address, name, want)
		}
	}
	// Both count the records left out.
	folder := t.TempDir()
	write(t, []byte("1000 10 first\n2000 10 "+long+"\n"), folder, "perf-5.map")
	d := testio.Open(t, Open, folder)
	n, ok := d.Jitted(5, 0x1004)
	if faults := fmt.Sprint(d.Faults()); !ok || n != symbols.Jitted("first", 4) || !strings.Contains(faults, "1 line is longer than") || !strings.Contains(faults, filepath.Join(folder, "perf-5.map")) {
		t.Errorf("%+v, %s", n, faults)
	}
}
