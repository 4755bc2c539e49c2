package native

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"testing"

	"github.com/etwgen/etwgen/internal/quota"
)

// testELF makes an ELF file with code at 0x3000 in memory and 0x1000 in the file, a symbol
// table, and a build id.
func testELF() []byte {
	const names = "\x00.text\x00.symtab\x00.strtab\x00.note\x00bake\x00sell@@V1\x00"
	var symbols, note bytes.Buffer
	put := func(b *bytes.Buffer, v any) { _ = binary.Write(b, binary.LittleEndian, v) }
	function := uint8(elf.ST_INFO(elf.STB_GLOBAL, elf.STT_FUNC))
	put(&symbols, elf.Sym64{})
	put(&symbols, elf.Sym64{Name: 29, Info: function, Shndx: 1, Value: 0x3100, Size: 0x20})
	put(&symbols, elf.Sym64{Name: 34, Info: function, Shndx: 1, Value: 0x3200})
	put(&symbols, elf.Sym64{Name: 29, Info: function, Shndx: 0, Value: 0x3300})
	put(&note, []uint32{4, 4, 3})
	put(&note, []byte("GNU\x00\x0a\x0b\x0c\x0d"))
	file := make([]byte, 0x2000)
	place := func(at int, b []byte) { copy(file[at:], b) }
	place(0x200, note.Bytes())
	place(0x300, symbols.Bytes())
	place(0x600, []byte(names))
	var head bytes.Buffer
	h := elf.Header64{Type: uint16(elf.ET_DYN), Machine: uint16(elf.EM_X86_64), Version: 1, Phoff: 64, Shoff: 0x800, Ehsize: 64, Phentsize: 56, Phnum: 1, Shentsize: 64, Shnum: 5, Shstrndx: 3}
	copy(h.Ident[:], elf.ELFMAG+"\x02\x01\x01")
	put(&head, h)
	put(&head, elf.Prog64{Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_X | elf.PF_R), Off: 0x1000, Vaddr: 0x3000, Filesz: 0x1000, Memsz: 0x1000})
	place(0, head.Bytes())
	var sections bytes.Buffer
	put(&sections, elf.Section64{})
	put(&sections, elf.Section64{Name: 1, Type: uint32(elf.SHT_PROGBITS), Flags: uint64(elf.SHF_EXECINSTR | elf.SHF_ALLOC), Addr: 0x3000, Off: 0x1000, Size: 0x400})
	put(&sections, elf.Section64{Name: 7, Type: uint32(elf.SHT_SYMTAB), Off: 0x300, Size: 96, Link: 3, Entsize: 24})
	put(&sections, elf.Section64{Name: 15, Type: uint32(elf.SHT_STRTAB), Off: 0x600, Size: uint64(len(names))})
	put(&sections, elf.Section64{Name: 23, Type: uint32(elf.SHT_NOTE), Off: 0x200, Size: 20})
	place(0x800, sections.Bytes())
	return file
}

// parseELF reads a file that is in memory.
func parseELF(t *testing.T, b []byte) (*elfFile, *codeFile) {
	t.Helper()
	x, err := openELF(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	unpack := quota.Quota(unpackedOfDir)
	c, err := readCode(x, &unpack)
	if err != nil {
		t.Fatal(err)
	}
	c.finish()
	return x, c
}

func TestELF(t *testing.T) {
	x, c := parseELF(t, testELF())
	if id := x.buildID(); id != "0a0b0c0d" {
		t.Errorf("build id %q", id)
	}
	for _, test := range []struct {
		offset uint64
		name   string
	}{{0x10ff, ""}, {0x1100, "bake"}, {0x111f, "bake"}, {0x1120, ""}, {0x1200, "sell"}, {0x13ff, "sell"}, {0x1400, ""}} {
		at, ok := c.address(test.offset)
		name, _, _ := c.find(at)
		if !ok || name != test.name {
			t.Errorf("at %#x is %q, %v", test.offset, name, ok)
		}
	}
	if _, ok := c.address(0x500); ok {
		t.Error("what is not loaded has an address")
	}
}

func FuzzELF(f *testing.F) {
	f.Add(testELF())
	f.Add(stripped("oven.debug", 1))
	f.Add(makeELF(elf.EM_X86_64, part{name: ".gnu_debugdata", kind: elf.SHT_PROGBITS, data: packed(debugOf(true))}))
	f.Fuzz(func(t *testing.T, b []byte) {
		x, err := openELF(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		x.buildID()
		x.debugLink()
		unpack := quota.Quota(unpackedOfDir)
		c, err := readCode(x, &unpack)
		if err != nil {
			return
		}
		c.join(c)
		c.finish()
		c.address(0x1100)
		for _, f := range c.list {
			c.find(f.at)
			c.starts.find(f.at)
		}
	})
}
