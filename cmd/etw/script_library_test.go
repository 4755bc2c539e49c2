package main

import (
	"encoding/binary"
	"os"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/etwgen/etwgen/manifest"
	"github.com/etwgen/etwgen/manifest/wevt"
)

// scriptLibrary writes a library of Windows that has nothing but a manifest, as resources.
func scriptLibrary(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: library MANIFEST FILE")
	}
	m, _, err := manifest.ParseFile(ts.MkAbs(args[0]), manifest.Options{})
	ts.Check(err)
	res, err := wevt.Encode(m, wevt.EncodeOptions{})
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), library(res), 0o600))
}

// Where the parts of a library of one section lie.
const (
	peAt, optionalSize = 0x40, 240
	sectionAt          = 0x200
	sectionRVA         = 0x1000
	resourceDirectory  = 2
)

// library returns the library of some resources.
func library(res wevt.Resources) []byte {
	section := resourceTree(res)
	b := make([]byte, sectionAt)
	copy(b, "MZ")
	binary.LittleEndian.PutUint32(b[0x3c:], peAt)
	copy(b[peAt:], "PE\x00\x00")
	coff := b[peAt+4:]
	binary.LittleEndian.PutUint16(coff, 0x8664)
	binary.LittleEndian.PutUint16(coff[2:], 1)
	binary.LittleEndian.PutUint16(coff[16:], optionalSize)
	optional := coff[20:]
	binary.LittleEndian.PutUint16(optional, 0x20b)
	binary.LittleEndian.PutUint32(optional[108:], 16)
	binary.LittleEndian.PutUint32(optional[112+8*resourceDirectory:], sectionRVA)
	binary.LittleEndian.PutUint32(optional[112+8*resourceDirectory+4:], uint32(len(section)))
	header := optional[optionalSize:]
	copy(header, ".rsrc")
	for i, v := range []uint32{uint32(len(section)), sectionRVA, uint32(len(section)), sectionAt} {
		binary.LittleEndian.PutUint32(header[8+4*i:], v)
	}
	return append(b, section...)
}

// resourceTree returns a section of resources: directories by type, name and language, entries
// of data, the name of a type, and then the data.
func resourceTree(res wevt.Resources) []byte {
	type resource struct {
		kind, name, language uint32
		data                 []byte
	}
	const named, messageTable = 1 << 31, 11
	list := []resource{{named, 1, 0x409, res.Templates}}
	for language, data := range res.Messages {
		list = append(list, resource{messageTable, 1, uint32(language), data})
	}
	const directory, slot, entry = 16, 8, 16
	each := uint32(2*(directory+slot) + entry) // what a resource has of its own
	typeName := etwName("WEVT_TEMPLATE")
	root := uint32(directory + len(list)*slot)
	nameAt := root + uint32(len(list))*each
	dataAt := (nameAt + uint32(len(typeName)) + 7) &^ 7
	b := make([]byte, dataAt)
	copy(b[nameAt:], typeName)
	for i, r := range list {
		at := root + uint32(i)*each
		kind := r.kind
		if kind == named {
			kind |= nameAt
			binary.LittleEndian.PutUint16(b[12:], 1)
		} else {
			binary.LittleEndian.PutUint16(b[14:], uint16(len(list)-1))
		}
		put := func(at uint32, values ...uint32) {
			for i, v := range values {
				binary.LittleEndian.PutUint32(b[at+uint32(4*i):], v)
			}
		}
		put(directory+uint32(i)*slot, kind, named|at)
		binary.LittleEndian.PutUint16(b[at+14:], 1)
		put(at+directory, r.name, named|(at+directory+slot))
		at += directory + slot
		binary.LittleEndian.PutUint16(b[at+14:], 1)
		put(at+directory, r.language, at+directory+slot)
		put(at+directory+slot, sectionRVA+uint32(len(b)), uint32(len(r.data)))
		b = append(b, r.data...)
		b = append(b, make([]byte, -len(b)&7)...)
	}
	return b
}

// etwName returns a name of the tree: its length, and its letters in UTF-16.
func etwName(s string) []byte {
	b := binary.LittleEndian.AppendUint16(nil, uint16(len(s)))
	for _, c := range s {
		b = binary.LittleEndian.AppendUint16(b, uint16(c))
	}
	return b
}
