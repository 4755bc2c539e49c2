package r2r_test

import (
	"encoding/binary"

	"github.com/etwgen/etwgen/internal/ecma335"
	"github.com/etwgen/etwgen/internal/ecma335/ecma335test"
)

// The image of tests has one section, at another address than in the file.
const (
	testOffset = 0x200
	testRVA    = 0x10200
	testCode   = 0x11000 // where functions are
)

// A section of the test image is at the end of the image when it is added.
type builder struct{ b []byte }

func (x *builder) add(data ...byte) (rva uint32) {
	for len(x.b)%4 != 0 {
		x.b = append(x.b, 0)
	}
	rva = testRVA + uint32(len(x.b))
	x.b = append(x.b, data...)
	return rva
}

func words(all ...uint32) []byte {
	var b []byte
	for _, w := range all {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	return b
}

// metadata has the type Bakery.Oven`1+Ra,ck with the methods Bake and Sell, and
// Bakery.Oven`1 with Heat.
func metadata() []byte {
	b := ecma335test.NewBuilder()
	b.Row(ecma335.Module, uint16(0), "Bakery.dll", uint16(1), uint16(0), uint16(0))
	b.Row(ecma335.TypeRef, uint16(0), "Bread", "Flour")
	b.Row(ecma335.TypeDef, uint32(0), "Oven`1", "Bakery", uint16(0), uint16(1), uint16(1))
	b.Row(ecma335.TypeDef, uint32(ecma335.TypeNestedPublic), "Ra,ck", "", uint16(0), uint16(1), uint16(2))
	instance := []byte{ecma335.SigHasThis, 2, byte(ecma335.Void), byte(ecma335.I4), byte(ecma335.Class), 1<<2 | 1}
	static := []byte{0, 1, byte(ecma335.SZArray), byte(ecma335.String), byte(ecma335.Var), 0}
	b.Row(ecma335.MethodDef, uint32(0), uint16(0), uint16(0), "Heat", static, uint16(1))
	b.Row(ecma335.MethodDef, uint32(0), uint16(0), uint16(0), "Bake", instance, uint16(1))
	b.Row(ecma335.MethodDef, uint32(0), uint16(0), uint16(0), "Sell", instance, uint16(1))
	b.Row(ecma335.NestedClass, uint16(2), uint16(1))
	return b.Metadata()
}

// image returns an image for x64 on Linux with three methods: Bake, of two functions,
// Sell, and Heat of Oven`1[System.Int32,System.__Canon].
func image() []byte {
	x := &builder{b: make([]byte, 72)} // the CLI header
	meta := metadata()
	at := x.add(meta...)
	functions := words(
		testCode, testCode+0x20, 0, // Bake
		testCode+0x20, testCode+0x31, 0,
		testCode+0x40, testCode+0x48, 0, // Sell
		testCode+0x50, testCode+0x60, 0, // Heat
		0xffffffff, 0, 0)
	functionsAt := x.add(functions...)
	// The rows count from 0 in the array: 1 is Bake, 2 is Sell.
	rows := []byte{
		4 << 2 << 1, 1, // count and width; where the tree is
		1 << 1, 1 << 1, // the lower half follows, and again
		(1 | 2 | 3<<2) << 1,      // so it does, and the upper half is three bytes further behind
		1 << 2 << 1, 0 << 1 << 1, // only 1: function 0
		2 << 2 << 1, 2 << 1 << 1, // only 2: function 2
	}
	rowsAt := x.add(rows...)
	instances := []byte{
		0, 2, 4, // one bucket
		0x77, 1 << 1, // a part of the hash; the entry is a byte further behind
		0x40, byte(ecma335.GenericInst), byte(ecma335.Class), 1 << 2, 2, byte(ecma335.I4), 0x3e, 1,
		(3<<2 | 1) << 1, // function 3, with something to do before
	}
	instancesAt := x.add(instances...)
	header := words(0x00525452, 9|1<<16, 0, 4,
		102, functionsAt, uint32(len(functions)),
		103, rowsAt, uint32(len(rows)),
		106, testCode+0x70, 0x10,
		109, instancesAt, uint32(len(instances)))
	headerAt := x.add(header...)
	copy(x.b[8:], words(at, uint32(len(meta))))
	copy(x.b[64:], words(headerAt, uint32(len(header))))
	return pe(x.b)
}

// pe returns a file with one section, whose first part is the CLI header.
func pe(section []byte) []byte {
	file := make([]byte, testOffset, testOffset+len(section))
	copy(file, "MZ")
	file[0x3c] = 0x40
	copy(file[0x40:], "PE\x00\x00")
	coff := file[0x44:]
	binary.LittleEndian.PutUint16(coff, 0x8664^0x7b79)
	binary.LittleEndian.PutUint16(coff[2:], 1)
	binary.LittleEndian.PutUint32(coff[4:], 0x12345678)
	binary.LittleEndian.PutUint16(coff[16:], 240)
	optional := coff[20:]
	binary.LittleEndian.PutUint16(optional, 0x20b)
	binary.LittleEndian.PutUint32(optional[108:], 16)
	copy(optional[112+14*8:], words(testRVA, 72))
	header := optional[240:]
	copy(header, ".text")
	copy(header[8:], words(uint32(len(section)), testRVA, uint32(len(section)), testOffset))
	return append(file, section...)
}
