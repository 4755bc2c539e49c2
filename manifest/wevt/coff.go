package wevt

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"github.com/etwgen/etwgen/runtime/etw"
)

// machines has the numbers of the architectures that Go builds for on Windows, and
// of the relocation by which each says an address within the image.
var machines = map[string]struct{ machine, relocation uint16 }{
	"386":   {0x014c, 7},
	"amd64": {0x8664, 3},
	"arm64": {0xaa64, 2},
}

// The parts of an object file.
const (
	coffHeader     = 20
	coffSection    = 40
	coffRelocation = 10
	readOnlyData   = 0x40000040
	staticClass    = 3
)

// Object returns an object file with resources for an architecture as Go names it.
// Under a name such as rsrc_windows_amd64.syso beside the main package, go build
// links it into the program. A program can have only one such file.
func (r Resources) Object(arch string) ([]byte, error) {
	m, ok := machines[arch]
	if !ok {
		return nil, fmt.Errorf("architecture %q is not one of 386, amd64 and arm64", arch)
	}
	section, addresses := r.section()
	b := binary.LittleEndian.AppendUint16(nil, m.machine)
	b = binary.LittleEndian.AppendUint16(b, 1)
	b = append(b, make([]byte, coffHeader-len(b))...) // no time, so that it is the same each time
	data := coffHeader + coffSection
	relocations := data + len(section)
	symbols := relocations + coffRelocation*len(addresses)
	binary.LittleEndian.PutUint32(b[8:], uint32(symbols))
	binary.LittleEndian.PutUint32(b[12:], 1)

	b = append(b, ".rsrc\x00\x00\x00"...)
	for _, v := range []uint32{0, 0, uint32(len(section)), uint32(data), uint32(relocations), 0} {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	b = binary.LittleEndian.AppendUint16(b, uint16(len(addresses)))
	b = binary.LittleEndian.AppendUint16(b, 0)
	b = binary.LittleEndian.AppendUint32(b, readOnlyData)

	b = append(b, section...)
	for _, at := range addresses {
		b = binary.LittleEndian.AppendUint32(b, at)
		b = binary.LittleEndian.AppendUint32(b, 0) // symbol 0, the section
		b = binary.LittleEndian.AppendUint16(b, m.relocation)
	}
	b = append(b, ".rsrc\x00\x00\x00"...)
	b = append(b, 0, 0, 0, 0, 1, 0, 0, 0, staticClass, 0)
	return binary.LittleEndian.AppendUint32(b, 4), nil // a string table of its size alone
}

// A leaf is a resource in the directory of a program.
type leaf struct {
	kind     resourceID
	language Language
	data     []byte
}

// leaves returns the resources in the order of a directory: types with a name
// first, then those with a number, and then languages.
func (r Resources) leaves() []leaf {
	list := []leaf{{resourceID{name: typeTemplates}, English, r.Templates}}
	for _, l := range slices.Sorted(maps.Keys(r.Messages)) {
		list = append(list, leaf{resourceID{number: typeMessageTable}, l, r.Messages[l]})
	}
	return list
}

// section returns the directory with the resources, and where it has their
// addresses, which are relative to the section.
func (r Resources) section() (b []byte, addresses []uint32) {
	leaves := r.leaves()
	tables := leaves[1:]
	types := 1 + min(1, len(tables))
	dir := func(named, numbered int) {
		b = append(b, make([]byte, 12)...)
		b = binary.LittleEndian.AppendUint16(b, uint16(named))
		b = binary.LittleEndian.AppendUint16(b, uint16(numbered))
	}
	slot := func(id, to uint32) {
		b = binary.LittleEndian.AppendUint32(b, id)
		b = binary.LittleEndian.AppendUint32(b, to)
	}
	// Three levels: the types, their names, of which each has one, and languages.
	names := uint32(directoryHeader + types*resourceSlot)
	one := uint32(directoryHeader + resourceSlot)
	languages := names + uint32(types)*one
	entries := languages + uint32(types*directoryHeader+len(leaves)*resourceSlot)
	text := entries + uint32(len(leaves))*dataEntry

	dir(1, types-1)
	slot(text|highBit, names|highBit)
	if len(tables) > 0 {
		slot(typeMessageTable, (names+one)|highBit)
	}
	dir(0, 1)
	slot(1, languages|highBit)
	if len(tables) > 0 {
		dir(0, 1)
		slot(1, (languages+one)|highBit)
	}
	dir(0, 1)
	slot(uint32(leaves[0].language), entries)
	if len(tables) > 0 {
		dir(0, len(tables))
		for i, l := range tables {
			slot(uint32(l.language), entries+uint32(i+1)*dataEntry)
		}
	}
	name := binary.LittleEndian.AppendUint16(nil, uint16(len(typeTemplates)))
	name = etw.AppendUTF16(name, typeTemplates)
	data := uint32(align(int(text)+len(name), 8))
	for _, l := range leaves {
		addresses = append(addresses, uint32(len(b)))
		for _, v := range []uint32{data, uint32(len(l.data)), 0, 0} {
			b = binary.LittleEndian.AppendUint32(b, v)
		}
		data += uint32(align(len(l.data), 8))
	}
	b = append(b, name...)
	for _, l := range leaves {
		b = append(b, make([]byte, align(len(b), 8)-len(b))...)
		b = append(b, l.data...)
	}
	return append(b, make([]byte, align(len(b), 8)-len(b))...), addresses
}
