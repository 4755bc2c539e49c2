package native

import (
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/internal/ecma335"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/tests/corpus"
)

// packed is a stream of xz that has data as it is.
func packed(data []byte) []byte {
	withSum := func(b []byte) []byte { return binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(b)) }
	b := append([]byte("\xfd7zXZ\x00"), withSum([]byte{0, 0})...)
	b = append(b, withSum([]byte{2, 0, 0x21, 1, 0, 0, 0, 0})...)
	for control := byte(1); len(data) > 0; control = 2 {
		n := min(len(data), 1<<16)
		b = append(binary.BigEndian.AppendUint16(append(b, control), uint16(n-1)), data[:n]...)
		data = data[n:]
	}
	b = append(b, 0)
	for len(b)%4 != 0 {
		b = append(b, 0)
	}
	return append(b, 0) // the index begins
}

// TestPacked names code by the symbols that a stripped file has inside, packed.
func TestPacked(t *testing.T) {
	text := part{name: ".text", kind: elf.SHT_PROGBITS, flags: elf.SHF_ALLOC | elf.SHF_EXECINSTR, address: 0x1000, data: make([]byte, 0x80)}
	inside := packed(debugOf(false))
	_, c := parseELF(t, makeELF(elf.EM_X86_64, text, part{name: ".gnu_debugdata", kind: elf.SHT_PROGBITS, data: inside}))
	if got, _, _ := c.find(0x1004); got != "_ZN4Oven4bakeEi" {
		t.Errorf("it is %q", got)
	}
	inside[40] ^= 0xff
	_, c = parseELF(t, makeELF(elf.EM_X86_64, text, part{name: ".gnu_debugdata", kind: elf.SHT_PROGBITS, data: inside[:50]}))
	if got, _, ok := c.find(0x1004); ok {
		t.Errorf("what is damaged says %q", got)
	}
}

// TestKernel names the kernel's code by a list of its symbols.
func TestKernel(t *testing.T) {
	const list = `0000000000000000 A fixed_percpu_data
ffffffff81000000 T _text
ffffffff81000000 T startup_64
ffffffff81000040 t bake.isra.0
ffffffff81000080 D oven_table
rubbish
ffffffffc0000010 t heat	[ovens]
`
	folder := t.TempDir()
	write(t, []byte(list), folder, "kallsyms")
	d := testio.Open(t, Open, folder)
	for address, want := range map[uint64]string{0xffffffff81000004: "vmlinux!startup_64+0x4", 0xffffffff81000041: "vmlinux!bake.isra.0+0x1", 0xffffffff81000080: "",
		0xffffffffc0000014: "ovens!heat+0x4", 0xffffffffd0000000: "", 0x1000: ""} {
		n, ok := d.Kernel(address)
		if ok != (want != "") || ok && n.Text(0) != want {
			t.Errorf("at %#x is %s, want %s", address, n.Text(0), want)
		}
	}
	write(t, []byte("0000000000000000 T _text\n0000000000000000 t bake\n"), folder, "kallsyms")
	d = testio.Open(t, Open, folder)
	if _, ok := d.Kernel(0xffffffff81000004); ok || len(d.Faults()) != 1 || !errors.Is(d.Faults()[0], errHidden) {
		t.Errorf("a list without addresses: %v", d.Faults())
	}
}

// TestVDSO names the kernel's code in processes by a file that is as large.
func TestVDSO(t *testing.T) {
	folder := t.TempDir()
	names, at := stringTable("__vdso_gettimeofday")
	write(t, makeELF(elf.EM_X86_64,
		part{name: ".text", kind: elf.SHT_PROGBITS, flags: elf.SHF_ALLOC | elf.SHF_EXECINSTR, address: 0x1000, data: make([]byte, 0x80)},
		part{name: ".dynsym", kind: elf.SHT_DYNSYM, link: ".dynstr", data: []elf.Sym64{{}, codeSymbol(at["__vdso_gettimeofday"], elf.STB_GLOBAL, elf.STT_FUNC, 1, 0x1000, 0x20)}},
		part{name: ".dynstr", kind: elf.SHT_STRTAB, data: names}), folder, "vdso64.so")
	n := symbols.Native{Module: "[vdso]", Offset: 0x1008, InFile: true, MapSize: 0x2000}
	if got, from := name(t, folder, n); got != "[vdso]!__vdso_gettimeofday" || from != FromELF {
		t.Errorf("%s from %v", got, from)
	}
	n.MapSize = 0x3000
	if got, from := name(t, folder, n); from != FromNothing {
		t.Errorf("of another size: %s from %v", got, from)
	}
}

// bundleOf puts an image into a program, and returns where it is.
func bundleOf(image []byte) (program []byte, at uint64) {
	mark, err := hex.DecodeString("8b1202b96a612038727b930214d7a03213f5b9e6efae3318ee3b2dce24b36aae")
	if err != nil {
		panic(err)
	}
	const place = 0x1000
	program = makeELF(elf.EM_X86_64, part{name: ".data", kind: elf.SHT_PROGBITS, address: place, data: append(make([]byte, 8), mark...)},
		part{name: ".text", kind: elf.SHT_PROGBITS, flags: elf.SHF_ALLOC | elf.SHF_EXECINSTR, address: 0x1100, data: make([]byte, 0x80)}, idPart)
	at = uint64(len(program)+63) &^ 63
	program = append(append(program, make([]byte, int(at)-len(program))...), image...)
	binary.LittleEndian.PutUint64(program[place:], uint64(len(program)))
	put := func(list ...any) {
		for _, v := range list {
			switch v := v.(type) {
			case string:
				program = append(append(program, byte(len(v))), v...)
			case uint32:
				program = binary.LittleEndian.AppendUint32(program, v)
			case uint64:
				program = binary.LittleEndian.AppendUint64(program, v)
			}
		}
	}
	put(uint32(6), uint32(0), uint32(1), "id", uint64(0), uint64(0), uint64(0), uint64(0), uint64(0), at, uint64(len(image)), uint64(0))
	program = append(program, 1)
	put("Shapes.dll")
	return program, at
}

// TestBundled names code of an image inside of a program, if the program has its name, and
// the image is where the trace says that it was mapped from.
func TestBundled(t *testing.T) {
	data, err := readFile(corpus.File(t, "r2r", "small", "linux-x64", "Shapes.dll"))
	if err != nil {
		t.Fatal(err)
	}
	x, err := readImage(corpus.File(t, "r2r", "small", "linux-x64", "Shapes.dll"))
	if err != nil {
		t.Fatal(err)
	}
	program, at := bundleOf(data)
	folder := t.TempDir()
	write(t, program, folder, "shapes")
	file, err := ecma335.ParseImage(data)
	if err != nil {
		t.Fatal(err)
	}
	text := file.Sections[0]
	begin := at + uint64(text.Offset)
	n := symbols.Native{Module: "/srv/shapes", BuildID: "abcd", InFile: true, Offset: begin + start(x, "Funclets") - uint64(text.VirtualAddress) + 2}
	n.MapOffset = begin &^ 0xfff
	n.MapSize = (begin+uint64(text.Size)+0xfff)&^0xfff - n.MapOffset
	if got, from := name(t, folder, n); !strings.HasPrefix(got, "Shapes!Shapes.Kinds.Funclets(") || from != FromBundle {
		t.Errorf("%s from %v", got, from)
	}
	for what, other := range map[string]func(n *symbols.Native){
		"another name":     func(n *symbols.Native) { n.Module = "/srv/bread" },
		"another build id": func(n *symbols.Native) { n.BuildID = "abce" },
		"another mapping":  func(n *symbols.Native) { n.MapOffset += 0x1000 },
		"another size":     func(n *symbols.Native) { n.MapSize += 0x1000 },
	} {
		n := n
		other(&n)
		if got, from := name(t, folder, n); from != FromNothing {
			t.Errorf("%s: %s from %v", what, got, from)
		}
	}
}
