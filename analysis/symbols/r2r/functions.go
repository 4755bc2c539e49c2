package r2r

import (
	"encoding/binary"
	"fmt"

	"github.com/etwgen/etwgen/internal/ecma335"
)

// functions is the table of functions, in the order of addresses. A method has one, and
// one more for each handler of exceptions, right behind it.
type functions struct {
	file *ecma335.Image
	b    []byte
	arch uint16
	n    uint32
}

// The processors, as a PE file numbers them.
const (
	archX86   = 0x014c
	archARM   = 0x01c4
	archX64   = 0x8664
	archARM64 = 0xaa64
)

// systems has the number that is mixed with that of the processor by exclusive or, for each
// system that code is compiled for.
var systems = []uint16{0 /* Windows */, 0x7b79 /* Linux */, 0x4644 /* macOS */, 0xadc4 /* FreeBSD */, 0x1993 /* NetBSD */, 0x1992 /* SunOS */}

// archOf returns the processor. Of those that are not known only that they have the
// common kind of table is taken for granted.
func archOf(machine uint16) uint16 {
	for _, s := range systems {
		switch a := machine ^ s; a {
		case archX86, archARM, archX64, archARM64:
			return a
		}
	}
	return 0
}

// readFunctions finds the end of the table, and checks its order.
func readFunctions(file *ecma335.Image, b []byte) (functions, error) {
	f := functions{file: file, b: b, arch: archOf(file.Machine)}
	f.n = uint32(len(b) / f.size())
	for i := range f.n {
		begin := f.begin(i)
		if binary.LittleEndian.Uint32(b[int(i)*f.size():]) == 0xffffffff {
			f.n = i
			break
		}
		if i > 0 && begin < f.begin(i-1) {
			return f, fmt.Errorf("r2r: function %d at %#x is before the one in front of it, at %#x", i, begin, f.begin(i-1))
		}
	}
	return f, nil
}

// size returns how many bytes an entry has.
func (f *functions) size() int {
	if f.arch == archX64 {
		return 12
	}
	return 8
}

// word returns a word of an entry.
func (f *functions) word(i uint32, word int) uint32 {
	return binary.LittleEndian.Uint32(f.b[int(i)*f.size()+4*word:])
}

// begin returns where a function begins.
func (f *functions) begin(i uint32) uint32 {
	begin := f.word(i, 0)
	if f.arch == archARM {
		begin &^= 1 // says that the code is Thumb
	}
	return begin
}

// end returns where a function ends. Most processors say that with how to unwind it.
func (f *functions) end(i uint32) uint32 {
	begin, word := f.begin(i), f.word(i, 1)
	switch f.arch {
	case archX64:
		return word
	case archX86:
		if b := f.file.From(word); len(b) >= 4 {
			return begin + binary.LittleEndian.Uint32(b)
		}
		return begin
	case archARM64:
		return begin + 4*f.unwound(word)
	case archARM:
		return begin + 2*f.unwound(word)
	}
	if i+1 < f.n {
		return f.begin(i + 1)
	}
	return begin
}

// unwound returns the length of a function on ARM, in units of its smallest instruction.
func (f *functions) unwound(word uint32) uint32 {
	if word&3 != 0 { // all in the word
		return word >> 2 & 0x7ff
	}
	if b := f.file.From(word); len(b) >= 4 {
		return binary.LittleEndian.Uint32(b) & 0x3ffff
	}
	return 0
}
