package native

import (
	"encoding/binary"
	"strings"
)

// Files call functions of others by stubs, which jump to where a slot of memory says. A
// relocation says which function the address of goes there.

// maxSlots bounds the relocations that are read.
const maxSlots = 1 << 22

// addStubs names the stubs of a file after the functions that they call. A damaged table has
// none.
func (c *codeFile) addStubs(x *elfFile) {
	var slots map[uint64]string
	for i := range x.sections {
		s := &x.sections[i]
		if s.flags&sectionExecute == 0 || s.kind == sectionNoBits || s.name != ".plt" && !strings.HasPrefix(s.name, ".plt.") {
			continue
		}
		code, err := x.data(s)
		if err != nil {
			continue
		}
		if slots == nil {
			slots = x.slots()
		}
		add := func(at, size, slot uint64) {
			if name := slots[slot]; name != "" {
				c.addRanked(s.address+at, size, name+"@plt", ofStub)
			}
		}
		switch x.machine {
		case machineX64:
			stubsX64(s, code, add)
		case machineARM64:
			stubsARM64(s, code, add)
		}
	}
}

// slots returns the names of the functions whose addresses go into memory, by where.
func (x *elfFile) slots() map[uint64]string {
	slots := make(map[uint64]string)
	for i := range x.sections {
		s := &x.sections[i]
		const size = 24
		if s.kind != sectionRela || !x.wide || uint64(s.link) >= uint64(len(x.sections)) || x.sections[s.link].kind != sectionDynamic {
			continue
		}
		b, err := x.data(s)
		if err != nil {
			continue
		}
		entries, names, err := x.symbols(&x.sections[s.link])
		if err != nil {
			continue
		}
		for ; len(b) >= size && len(slots) < maxSlots; b = b[size:] {
			at := x.order.Uint64(b[8:]) >> 32 * wideSymbol
			if at == 0 || at+wideSymbol > uint64(len(entries)) {
				continue
			}
			sym := x.symbol(entries[at:])
			name, err := x.textAt(names, sym.name)
			if err != nil {
				return slots
			}
			if name, _, _ = strings.Cut(name, "@"); name != "" {
				slots[x.order.Uint64(b)] = name
			}
		}
	}
	return slots
}

// stubsX64 finds the stubs of a section: each has a jump through a slot, whose place is
// relative to the next instruction.
func stubsX64(s *elfSection, code []byte, add func(at, size, slot uint64)) {
	each := s.each
	if each < 8 || each > 64 {
		each = 16
		if s.name == ".plt.got" {
			each = 8
		}
	}
	const jump = 6 // bytes
	for at := uint64(0); at+each <= uint64(len(code)); at += each {
		stub := code[at : at+each]
		for i := 0; i+jump <= len(stub); i++ {
			if stub[i] == 0xff && stub[i+1] == 0x25 {
				far := int64(int32(binary.LittleEndian.Uint32(stub[i+2:])))
				add(at, each, s.address+at+uint64(i)+jump+uint64(far))
				break
			}
		}
	}
}

// stubsARM64 finds the stubs of a section: each takes the page of a slot, and loads from
// there.
func stubsARM64(s *elfSection, code []byte, add func(at, size, slot uint64)) {
	const size = 16
	for at := uint64(0); at+8 <= uint64(len(code)); at += 4 {
		page, load := binary.LittleEndian.Uint32(code[at:]), binary.LittleEndian.Uint32(code[at+4:])
		if page&0x9f00001f != 0x90000010 || load&0xffc003ff != 0xf9400211 { // adrp x16, and ldr x17, [x16, #n]
			continue
		}
		far := uint64(page>>5&0x7ffff)<<2 | uint64(page>>29&3)
		far = uint64(int64(far<<43) >> 43) // it may be behind
		add(at, size, (s.address+at)&^0xfff+far<<12+uint64(load>>10&0xfff)*8)
	}
}
