package native

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"strings"
)

// An elfFile is functions of an ELF file, by virtual address.
type elfFile struct {
	table
	loads []elf.ProgHeader
}

// buildID returns the build id of an ELF file in hexadecimal, or "".
func buildID(f *elf.File) string {
	for _, s := range f.Sections {
		if s.Type != elf.SHT_NOTE || s.Size > 1<<16 {
			continue
		}
		if id := noteID(f.ByteOrder, io.LimitReader(s.Open(), 1<<16)); id != "" {
			return id
		}
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_NOTE && p.Filesz <= 1<<16 {
			if id := noteID(f.ByteOrder, io.LimitReader(p.Open(), 1<<16)); id != "" {
				return id
			}
		}
	}
	return ""
}

// noteID finds the build id among notes: three numbers, a name and a value, padded to 4
// bytes each.
func noteID(order binary.ByteOrder, r io.Reader) string {
	b, err := io.ReadAll(r)
	if err != nil {
		return ""
	}
	const gnuBuildID = 3
	for len(b) >= 12 {
		name, desc, kind := uint64(order.Uint32(b)), uint64(order.Uint32(b[4:])), order.Uint32(b[8:])
		at := 12 + (name+3)&^3
		end := at + (desc+3)&^3
		if at+desc > uint64(len(b)) {
			return ""
		}
		if kind == gnuBuildID && bytes.Equal(b[12:12+name], []byte("GNU\x00")) {
			return hex.EncodeToString(b[at : at+desc])
		}
		b = b[min(end, uint64(len(b))):]
	}
	return ""
}

// readELF reads the functions of an ELF file: those of its symbol table, or, where it has
// none, those that it offers to others.
func readELF(f *elf.File) (*elfFile, error) {
	x := new(elfFile)
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 {
			x.loads = append(x.loads, p.ProgHeader)
		}
	}
	for _, s := range f.Sections {
		if s.Flags&elf.SHF_EXECINSTR != 0 {
			x.bound(s.Addr + s.Size)
		}
	}
	list, err := f.Symbols()
	if len(list) == 0 {
		list, err = f.DynamicSymbols()
	}
	if err != nil && !errors.Is(err, elf.ErrNoSymbols) {
		return nil, err
	}
	const indirect = 10 // STT_GNU_IFUNC
	for _, s := range list {
		if t := elf.ST_TYPE(s.Info); (t == elf.STT_FUNC || t == indirect) && s.Section != elf.SHN_UNDEF {
			name, _, _ := strings.Cut(s.Name, "@") // the version
			x.add(s.Value, s.Size, name)
		}
	}
	x.sort()
	return x, nil
}

// address returns the virtual address of a place in the file, if it is loaded as code.
func (x *elfFile) address(offset uint64) (uint64, bool) {
	for _, p := range x.loads {
		if begin := p.Off &^ 0xfff; offset >= begin && offset < p.Off+p.Filesz {
			return offset - p.Off + p.Vaddr, true
		}
	}
	return 0, false
}
