package native

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"hash/crc32"
	"os"
	"path/filepath"
	"testing"

	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/internal/testio"
)

// A part is a section of an ELF file that tests make.
type part struct {
	name    string
	kind    elf.SectionType
	flags   elf.SectionFlag
	address uint64
	link    string // the name of the section that it refers to
	each    uint64
	data    any
}

// makeELF makes an ELF file of 64 bits with sections, which are all loaded at their places
// in the file, which are their addresses.
func makeELF(machine elf.Machine, parts ...part) []byte {
	const first = 0x1000
	names := []byte{0}
	parts = append([]part{{}}, append(parts, part{name: ".shstrtab", kind: elf.SHT_STRTAB})...)
	index := make(map[string]uint32)
	for i, p := range parts {
		index[p.name] = uint32(i)
	}
	sections := make([]elf.Section64, len(parts))
	for i, p := range parts[1:] {
		sections[i+1] = elf.Section64{Name: uint32(len(names)), Type: uint32(p.kind), Flags: uint64(p.flags), Addr: p.address, Off: p.address, Link: index[p.link], Entsize: p.each}
		names = append(append(names, p.name...), 0)
	}
	file := make([]byte, first)
	for i, p := range parts[1:] {
		data := p.data
		if p.name == ".shstrtab" {
			data = names
		}
		var b bytes.Buffer
		_ = binary.Write(&b, binary.LittleEndian, data)
		s := &sections[i+1]
		s.Size = uint64(b.Len())
		if p.kind == elf.SHT_NOBITS {
			continue
		}
		if s.Off == 0 {
			s.Off = uint64(len(file))
		}
		file = append(file, make([]byte, max(0, int(s.Off)+b.Len()-len(file)))...)
		copy(file[s.Off:], b.Bytes())
	}
	h := elf.Header64{Type: uint16(elf.ET_DYN), Machine: uint16(machine), Version: 1, Phoff: 64, Shoff: uint64(len(file)), Ehsize: 64, Phentsize: 56, Phnum: 1,
		Shentsize: 64, Shnum: uint16(len(parts)), Shstrndx: uint16(len(parts) - 1)}
	copy(h.Ident[:], elf.ELFMAG+"\x02\x01\x01")
	var head bytes.Buffer
	_ = binary.Write(&head, binary.LittleEndian, h)
	_ = binary.Write(&head, binary.LittleEndian, elf.Prog64{Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_X | elf.PF_R), Filesz: uint64(len(file)), Memsz: uint64(len(file))})
	copy(file, head.Bytes())
	var table bytes.Buffer
	_ = binary.Write(&table, binary.LittleEndian, sections)
	return append(file, table.Bytes()...)
}

// names returns names as ELF files have them, each behind a zero, and where each is.
func stringTable(names ...string) (table []byte, at map[string]uint32) {
	table, at = []byte{0}, make(map[string]uint32)
	for _, n := range names {
		at[n] = uint32(len(table))
		table = append(append(table, n...), 0)
	}
	return table, at
}

func codeSymbol(name uint32, bind elf.SymBind, kind elf.SymType, section uint16, value, size uint64) elf.Sym64 {
	return elf.Sym64{Name: name, Info: elf.ST_INFO(bind, kind), Shndx: section, Value: value, Size: size}
}

// TestAliases holds which of several names of a place is shown, how far those without a
// size go, and that functions may be inside of others.
func TestAliases(t *testing.T) {
	names, at := stringTable("__bake", "bake", "bake_all", "_bake", "local", "chooser", "label", "$x", "outer", "inner")
	sym := func(name string, bind elf.SymBind, kind elf.SymType, value, size uint64) elf.Sym64 {
		return codeSymbol(at[name], bind, kind, 1, value, size)
	}
	symbols := []elf.Sym64{{},
		sym("label", elf.STB_GLOBAL, elf.STT_NOTYPE, 0x1000, 0), sym("local", elf.STB_LOCAL, elf.STT_FUNC, 0x1000, 16),
		sym("bake_all", elf.STB_WEAK, elf.STT_FUNC, 0x1000, 16), sym("__bake", elf.STB_GLOBAL, elf.STT_FUNC, 0x1000, 16),
		sym("_bake", elf.STB_GLOBAL, elf.STT_FUNC, 0x1000, 16), sym("bake", elf.STB_GLOBAL, elf.STT_FUNC, 0x1000, 0),
		sym("chooser", elf.STB_GLOBAL, elf.STT_LOOS, 0x1020, 8), sym("local", elf.STB_LOCAL, elf.STT_FUNC, 0x1020, 8),
		sym("$x", elf.STB_LOCAL, elf.STT_NOTYPE, 0x1028, 0), sym("label", elf.STB_GLOBAL, elf.STT_NOTYPE, 0x1030, 0),
		sym("outer", elf.STB_GLOBAL, elf.STT_FUNC, 0x1040, 0x30), sym("inner", elf.STB_GLOBAL, elf.STT_FUNC, 0x1048, 8),
		codeSymbol(at["bake"], elf.STB_GLOBAL, elf.STT_FUNC, 0, 0x1078, 8),
	}
	_, c := parseELF(t, makeELF(elf.EM_AARCH64,
		part{name: ".text", kind: elf.SHT_PROGBITS, flags: elf.SHF_ALLOC | elf.SHF_EXECINSTR, address: 0x1000, data: make([]byte, 0x80)},
		part{name: ".symtab", kind: elf.SHT_SYMTAB, link: ".strtab", data: symbols}, part{name: ".strtab", kind: elf.SHT_STRTAB, data: names}))
	for address, want := range map[uint64]string{0x1000: "_bake", 0x100f: "_bake", 0x1010: "", 0x1020: "local", 0x1028: "", 0x1030: "label", 0x103f: "label",
		0x1047: "outer", 0x1048: "inner", 0x1050: "outer", 0x1070: "", 0x1078: ""} {
		if got, _, _ := c.find(address); got != want {
			t.Errorf("at %#x is %q, want %q", address, got, want)
		}
	}
}

// TestStubs names the stubs that call functions of other files.
func TestStubs(t *testing.T) {
	names, at := stringTable("bake", "sell")
	dynamic := []elf.Sym64{{}, codeSymbol(at["bake"], elf.STB_GLOBAL, elf.STT_FUNC, 0, 0, 0), codeSymbol(at["sell"], elf.STB_GLOBAL, elf.STT_FUNC, 0, 0, 0)}
	slots := []elf.Rela64{{Off: 0x3018, Info: elf.R_INFO(1, 7)}, {Off: 0x3020, Info: elf.R_INFO(2, 6)}, {Off: 0x3028, Info: elf.R_INFO(9, 6)}}
	code := elf.SHF_ALLOC | elf.SHF_EXECINSTR
	tables := []part{
		{name: ".dynsym", kind: elf.SHT_DYNSYM, link: ".dynstr", data: dynamic}, {name: ".dynstr", kind: elf.SHT_STRTAB, data: names},
		{name: ".rela.plt", kind: elf.SHT_RELA, link: ".dynsym", data: slots},
	}
	x64 := []byte{ // the first jumps to where the loader is, the second has a prefix
		0xff, 0x35, 2, 0, 0, 0, 0xff, 0x25, 0, 0, 0, 0, 0x90, 0x90, 0x90, 0x90,
		0xff, 0x25, 0x02, 0x20, 0, 0, 0x68, 0, 0, 0, 0, 0xe9, 0, 0, 0, 0,
		0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25, 0xf5, 0x1f, 0, 0, 0x90, 0x90, 0x90, 0x90, 0x90}
	arm64 := []uint32{0xd503245f, // bti c
		0xd0000010, 0xf9400e11, 0x91006210, 0xd61f0220, // adrp x16, 2 pages on; ldr x17, [x16, #24]
		0xd0000010, 0xf9401211, 0x91008210, 0xd61f0220, // ldr x17, [x16, #32]
	}
	for _, test := range []struct {
		machine elf.Machine
		code    any
		want    map[uint64]string
	}{
		{elf.EM_X86_64, x64, map[uint64]string{0x1000: "", 0x1010: "bake@plt", 0x101f: "bake@plt", 0x1020: "sell@plt", 0x1030: ""}},
		{elf.EM_AARCH64, arm64, map[uint64]string{0x1000: "", 0x1004: "bake@plt", 0x1010: "bake@plt", 0x1014: "sell@plt", 0x1024: ""}},
	} {
		_, c := parseELF(t, makeELF(test.machine, append([]part{{name: ".plt", kind: elf.SHT_PROGBITS, flags: code, address: 0x1000, data: test.code}}, tables...)...))
		for address, want := range test.want {
			if got, _, _ := c.find(address); got != want {
				t.Errorf("%v: at %#x is %q, want %q", test.machine, address, got, want)
			}
		}
	}
}

// unwound is the unwinding data of two functions: a common entry, whose addresses are
// relative, and one for each.
func unwound(section uint64) []byte {
	var b bytes.Buffer
	put := func(list ...any) {
		for _, v := range list {
			_ = binary.Write(&b, binary.LittleEndian, v)
		}
	}
	put(uint32(20), uint32(0), []byte{1}, []byte("zR\x00"), []byte{1, 0x78, 16, 1, 0x1b}, make([]byte, 7))
	for _, f := range [][2]uint64{{0x1000, 0x18}, {0x1020, 0x10}} {
		at := uint64(b.Len())
		put(uint32(16), uint32(at+4), int32(f[0]-section-at-8), uint32(f[1]), make([]byte, 4))
	}
	put(uint32(0))
	return b.Bytes()
}

// stripped is a file with code, an id, and how its code is unwound, but no symbols.
func stripped(link string, sum uint32) []byte {
	const frames = 0x2000
	parts := []part{
		{name: ".text", kind: elf.SHT_PROGBITS, flags: elf.SHF_ALLOC | elf.SHF_EXECINSTR, address: 0x1000, data: make([]byte, 0x80)},
		{name: ".eh_frame", kind: elf.SHT_PROGBITS, flags: elf.SHF_ALLOC, address: frames, data: unwound(frames)},
		idPart}
	if link != "" {
		name := append([]byte(link), make([]byte, 4-len(link)%4)...)
		parts = append(parts, part{name: ".gnu_debuglink", kind: elf.SHT_PROGBITS, data: binary.LittleEndian.AppendUint32(name, sum)})
	}
	return makeELF(elf.EM_X86_64, parts...)
}

var idPart = part{name: ".note.gnu.build-id", kind: elf.SHT_NOTE, data: []byte("\x04\x00\x00\x00\x02\x00\x00\x00\x03\x00\x00\x00GNU\x00\xab\xcd\x00\x00")}

// debugOf is a file of symbols for stripped, with its id or without.
func debugOf(withID bool) []byte {
	names, at := stringTable("_ZN4Oven4bakeEi")
	parts := []part{
		{name: ".text", kind: elf.SHT_NOBITS, flags: elf.SHF_ALLOC | elf.SHF_EXECINSTR, address: 0x1000, data: make([]byte, 0x80)},
		{name: ".symtab", kind: elf.SHT_SYMTAB, link: ".strtab", data: []elf.Sym64{{}, codeSymbol(at["_ZN4Oven4bakeEi"], elf.STB_GLOBAL, elf.STT_FUNC, 1, 0x1000, 0x18)}},
		{name: ".strtab", kind: elf.SHT_STRTAB, data: names}}
	if withID {
		parts = append(parts, idPart)
	}
	return makeELF(elf.EM_X86_64, parts...)
}

func write(t *testing.T, data []byte, parts ...string) {
	t.Helper()
	path := filepath.Join(parts...)
	testio.Write(t, path, data)
}

// name opens a folder and names a place in the code of the tests by its contents.
func name(t *testing.T, folder string, n symbols.Native, options ...Option) (string, Source) {
	t.Helper()
	d := testio.Open(t, Open, folder, options...)
	from := d.Name(&n)
	if len(d.Faults()) > 0 {
		t.Error(d.Faults())
	}
	return n.Full(), from
}

// TestDebugFiles names a stripped file by nothing but itself, by a debug file with its
// build id, by one that it names, and by a debug file alone.
func TestDebugFiles(t *testing.T) {
	demangle := Demangle(func(s string) string { return "demangled " + s })
	const bake = "oven.so!demangled _ZN4Oven4bakeEi"
	place := symbols.Native{Module: "/srv/oven.so", BuildID: "ABCD", Offset: 0x1004, InFile: true}
	anonymous := debugOf(false)
	for _, test := range []struct {
		what   string
		files  map[string][]byte
		place  func(n symbols.Native) symbols.Native
		want   string
		source Source
	}{
		{"itself", map[string][]byte{"oven.so": stripped("", 0)}, nil, "oven.so!sub_1000", FromFrames},
		{"build id", map[string][]byte{"a": stripped("", 0), "b/c.debug": debugOf(true)}, nil, bake, FromELF},
		{"link", map[string][]byte{"a": stripped("oven.debug", crc32.ChecksumIEEE(anonymous)), "x/oven.debug": anonymous}, nil, bake, FromELF},
		{"wrong link", map[string][]byte{"a": stripped("oven.debug", 1), "x/oven.debug": anonymous}, nil, "oven.so!sub_1000", FromFrames},
		{"debug file alone", map[string][]byte{"b": debugOf(true)}, nil, "oven.so!?", FromNothing},
		{"with an address", map[string][]byte{"b": debugOf(true)}, func(n symbols.Native) symbols.Native { n.VirtualAddress = 0x1004; return n }, bake, FromELF},
		{"no code there", map[string][]byte{"a": stripped("", 0)}, func(n symbols.Native) symbols.Native { n.Offset = 0x1019; return n }, "oven.so!?", FromNothing},
		{"second function", map[string][]byte{"a": stripped("", 0)}, func(n symbols.Native) symbols.Native { n.Offset = 0x1021; return n }, "oven.so!sub_1020", FromFrames},
	} {
		folder := t.TempDir()
		for path, data := range test.files {
			write(t, data, folder, path)
		}
		n := place
		if test.place != nil {
			n = test.place(n)
		}
		if got, from := name(t, folder, n, demangle); got != test.want || from != test.source {
			t.Errorf("%s: %s from %v, want %s from %v", test.what, got, from, test.want, test.source)
		}
	}
}

// TestUsual names a file that a trace has a path of: only in the folders that are said,
// only if it is regular and has the identity, and by the debug files there.
func TestUsual(t *testing.T) {
	root := t.TempDir()
	usual := Usual(Places{Libraries: []string{filepath.Join(root, "lib")}, DotNet: []string{filepath.Join(root, "dotnet")}, Debug: []string{filepath.Join(root, "debug")}})
	write(t, stripped("", 0), root, "lib", "oven.so")
	write(t, stripped("", 0), root, "home", "oven.so")
	write(t, stripped("", 0), root, "dotnet", "shared", "Bakery", "1.0", "libbake.so")
	place := func(path ...string) symbols.Native {
		return symbols.Native{Module: filepath.Join(path...), BuildID: "abcd", Offset: 0x1004, InFile: true}
	}
	other := place(root, "lib", "oven.so")
	other.BuildID = "abce"
	links := os.Symlink(filepath.Join(root, "lib", "oven.so"), filepath.Join(root, "lib", "in.so")) == nil &&
		os.Symlink(filepath.Join(root, "home", "oven.so"), filepath.Join(root, "lib", "out.so")) == nil
	for _, test := range []struct {
		place symbols.Native
		want  Source
	}{
		{place(root, "lib", "oven.so"), FromFrames},
		{other, FromNothing},
		{place(root, "home", "oven.so"), FromNothing},
		{symbols.Native{Module: root + "/lib/../home/oven.so", BuildID: "abcd", Offset: 0x1004, InFile: true}, FromNothing},
		{place(root, "lib"), FromNothing},
		{place(root, "lib", "none.so"), FromNothing},
		{place("elsewhere", "libbake.so"), FromFrames},
		{place(root, "lib", "in.so"), FromFrames},
		{place(root, "lib", "out.so"), FromNothing},
	} {
		if base := filepath.Base(test.place.Module); !links && (base == "in.so" || base == "out.so") {
			continue
		}
		if _, from := name(t, "", test.place, usual); from != test.want {
			t.Errorf("%s: named from %v, want %v", test.place.Module, from, test.want)
		}
		if _, from := name(t, "", test.place); from != FromNothing {
			t.Errorf("%s: without permission named from %v", test.place.Module, from)
		}
	}
	write(t, debugOf(true), root, "debug", ".build-id", "ab", "cd.debug")
	if got, from := name(t, "", place(root, "lib", "oven.so"), usual); got != "oven.so!_ZN4Oven4bakeEi" || from != FromELF {
		t.Errorf("with the debug file: %s from %v", got, from)
	}
}
