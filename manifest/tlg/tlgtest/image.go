// Package tlgtest makes programs with events of TraceLogging, for tests. Use it to test readers of
// such programs without having one.
package tlgtest

import (
	"bytes"
	"encoding/binary"

	"github.com/etwgen/etwgen/runtime/etw"
)

// An Image is a program under construction. Its sections lie in the file where they lie in
// memory, so that an address is an offset.
type Image struct {
	Machine uint16
	Code    []byte // from CodeAt
	Data    []byte // from DataAt: the region
	Vars    []byte // from VarsAt: handles
	Unwind  []byte // from UnwindAt
	Table   int    // bytes of unwind that are the table
}

// Where the sections of an image lie, and the machines that it can be for.
const (
	base     = 0x140000000
	CodeAt   = 0x1000
	DataAt   = 0x2000
	VarsAt   = 0x4000
	UnwindAt = 0x5000
	endAt    = 0x6000

	X64, ARM64 = 0x8664, 0xaa64
)

var le = binary.LittleEndian

// Bytes returns the program as a file.
func (im *Image) Bytes() []byte {
	b := make([]byte, endAt)
	copy(b, "MZ")
	le.PutUint32(b[0x3c:], 0x80)
	copy(b[0x80:], "PE\x00\x00")
	h := b[0x84:]
	le.PutUint16(h, im.Machine)
	le.PutUint16(h[2:], 4)
	le.PutUint16(h[16:], 112+16*8)
	o := h[20:]
	le.PutUint16(o, 0x20b)
	le.PutUint64(o[24:], base)
	le.PutUint32(o[108:], 16)
	le.PutUint32(o[112+3*8:], UnwindAt)
	le.PutUint32(o[112+3*8+4:], uint32(im.Table))
	s := o[112+16*8:]
	for i, part := range []struct {
		name  string
		at    int
		data  []byte
		flags uint32
	}{{".text", CodeAt, im.Code, 0x60000020}, {".rdata", DataAt, im.Data, 0x40000040}, {".data", VarsAt, im.Vars, 0xc0000040}, {".pdata", UnwindAt, im.Unwind, 0x40000040}} {
		h := s[40*i:]
		copy(h, part.name)
		le.PutUint32(h[8:], uint32(len(part.data)))
		le.PutUint32(h[12:], uint32(part.at))
		le.PutUint32(h[16:], uint32(len(part.data)))
		le.PutUint32(h[20:], uint32(part.at))
		le.PutUint32(h[36:], part.flags)
		copy(b[part.at:], part.data)
	}
	return b
}

// Sized returns b with its size before it, as metadata have it.
func Sized(b []byte) []byte { return append(le.AppendUint16(nil, uint16(len(b)+2)), b...) }

// Head returns the header of a region.
func Head() []byte { return le.AppendUint64([]byte("ETW0\x10\x00\x00\x01"), 0xBB8A052B88040E86) }

// Event returns the metadata of an event with one field, a number.
func Event(name string, level byte, keywords uint64) []byte {
	b := le.AppendUint64([]byte{6, 11, level, 0}, keywords)
	return append(b, Sized([]byte("\x00"+name+"\x00Count\x00\x08"))...)
}

// Provider returns the metadata of a provider.
func Provider(name string, guid, group etw.GUID) []byte {
	b := append([]byte{4}, guid[:]...)
	traits := []byte(name + "\x00")
	if !group.IsZero() {
		traits = append(traits, Sized(append([]byte{1}, group[:]...))...)
	}
	return append(b, Sized(traits)...)
}

// Program returns an Image with two providers, whose handles are at VarsAt and VarsAt+64, and a
// pointer to the second at VarsAt+128, and the places of events a, b and c.
func Program(machine uint16) (im *Image, a, b, c uint32) {
	one, two := Provider("Shop", etw.GUID{1}, etw.GUID{}), Provider("Kitchen", etw.GUID{2}, etw.GUID{9})
	r := Head()
	place := func(blob []byte) uint32 {
		at := DataAt + len(r)
		r = append(r, blob...)
		return uint32(at)
	}
	a, b, c = place(Event("Sold", 4, 1)), place(Event("Cooked", 5, 2)), place(Event("Opened", 3, 4))
	r = append(r, 0, 0)
	p, q := place(one), place(two)
	r = append(r, 1)
	vars := make([]byte, 192)
	le.PutUint64(vars[8:], base+uint64(p)+17)
	le.PutUint64(vars[64+8:], base+uint64(q)+17)
	le.PutUint64(vars[128:], base+VarsAt+64)
	return &Image{Machine: machine, Data: r, Vars: vars}, a, b, c
}

// Sample returns a program with an event of each of two providers, and one of which its code does
// not tell whose it is.
func Sample() []byte {
	im, sold, cooked, _ := Program(X64)
	a, b := im.Function(VarsAt, sold+1)
	c, d := im.Function(VarsAt+64, cooked+1)
	im.Unwinding([2]uint32{a, b}, [2]uint32{c, d})
	return im.Bytes()
}

// LEA returns the instruction of X64 that loads an address, at another one.
func LEA(at, to uint32) []byte { return le.AppendUint32([]byte{0x48, 0x8d, 0x05}, to-at-7) }

// ADR returns the instructions of ARM64 that load an address, at another one.
func ADR(at, to uint32) []byte {
	pages := to>>12 - at>>12
	b := le.AppendUint32(nil, 0x90000000|pages&3<<29|pages>>2&0x7ffff<<5)
	return le.AppendUint32(b, 0x91000000|to&0xfff<<10)
}

// Function appends a function that loads some addresses, and returns where it begins and ends.
func (im *Image) Function(to ...uint32) (begin, end uint32) {
	im.Code = append(im.Code, bytes.Repeat([]byte{0xcc}, -len(im.Code)&15)...)
	begin = CodeAt + uint32(len(im.Code))
	for _, t := range to {
		at := CodeAt + uint32(len(im.Code))
		if im.Machine == X64 {
			im.Code = append(im.Code, LEA(at, t)...)
		} else {
			im.Code = append(im.Code, ADR(at, t)...)
		}
	}
	return begin, CodeAt + uint32(len(im.Code))
}

// Unwinding makes the table of functions: each is one of X64 or, packed, of ARM64.
func (im *Image) Unwinding(functions ...[2]uint32) {
	im.Unwind = nil
	for _, f := range functions {
		im.Unwind = le.AppendUint32(im.Unwind, f[0])
		if im.Machine == X64 {
			im.Unwind = le.AppendUint32(le.AppendUint32(im.Unwind, f[1]), 0)
		} else {
			im.Unwind = le.AppendUint32(im.Unwind, (f[1]-f[0])/4<<2|1)
		}
	}
	im.Table = len(im.Unwind)
}
