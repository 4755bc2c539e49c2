package ecma335test

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
)

// A PDB is a small portable PDB, of an assembly whose code is all of one source file.
type PDB struct {
	ID       [20]byte
	Folder   string // of the source file
	Name     string
	Hash     []byte   // by SHA-256
	Text     string   // of the source file; "" if it is not inside
	Links    string   // where source files are, in JSON
	Methods  [][]byte // the points of each
	Assembly int      // how many methods it has; 0 is as many as there are
	// Machines are methods, counted from 1, that move the state machines of others.
	Machines [][2]int
}

// The GUIDs that a PDB refers to: that of SHA-256, those of texts that are inside of it and of
// where others are.
var pdbGUIDs = []byte{
	0x0f, 0xd0, 0x29, 0x88, 0xb8, 0x11, 0x13, 0x42, 0x87, 0x8b, 0x77, 0x0e, 0x85, 0x97, 0xac, 0x16,
	0x71, 0x8b, 0x57, 0x0e, 0x6e, 0x92, 0x6e, 0x46, 0xb4, 0xad, 0x8a, 0xb0, 0x46, 0x11, 0xf5, 0xfe,
	0x56, 0x05, 0x11, 0xcc, 0x91, 0xa0, 0x38, 0x4d, 0x9f, 0xec, 0x25, 0xab, 0x9a, 0x35, 0x1a, 0x6a,
}

// Bytes returns the file.
func (p *PDB) Bytes() []byte {
	var h pdbHeap
	name := h.blob(append([]byte{'/'}, byte(h.blob(nil)), byte(h.blob([]byte(p.Folder))), byte(h.blob([]byte(p.Name)))))
	rows := appendLE(nil, name, uint16(1), h.blob(p.Hash), uint16(0))
	for _, points := range p.Methods {
		rows = appendLE(rows, uint16(1), h.blob(points))
	}
	for _, m := range p.Machines {
		rows = appendLE(rows, uint16(m[0]), uint16(m[1]))
	}
	const ofModule, ofDocument = 1<<5 | 7, 1<<5 | 22 // the first ones, by the tags of their tables
	infos := uint32(0)
	if p.Links != "" {
		infos++
		rows = appendLE(rows, uint16(ofModule), uint16(3), h.blob([]byte(p.Links)))
	}
	if p.Text != "" {
		infos++
		rows = appendLE(rows, uint16(ofDocument), uint16(2), h.blob(append(appendLE(nil, uint32(len(p.Text))), deflated(p.Text)...)))
	}
	const present = 1<<0x30 | 1<<0x31 | 1<<0x36 | 1<<0x37
	tables := appendLE(nil, uint32(0), uint8(2), uint8(0), uint8(0), uint8(1), uint64(present), uint64(0))
	tables = append(appendLE(tables, uint32(1), uint32(len(p.Methods)), uint32(len(p.Machines)), infos), rows...)
	methods := p.Assembly
	if methods == 0 {
		methods = len(p.Methods)
	}
	own := append(p.ID[:], appendLE(nil, uint32(0), uint64(1<<6), uint32(methods))...)
	return Root(Stream{"#Pdb", own}, Stream{"#~", tables}, Stream{"#Strings", []byte{0}}, Stream{"#GUID", pdbGUIDs}, Stream{"#Blob", h.Bytes()})
}

// A pdbHeap is the heap of blobs.
type pdbHeap struct{ bytes.Buffer }

// blob adds bytes, and returns where they are.
func (h *pdbHeap) blob(b []byte) uint16 {
	if h.Len() == 0 {
		h.WriteByte(0)
	}
	if len(b) == 0 {
		return 0
	}
	at := uint16(h.Len())
	h.Write(appendSize(nil, len(b)))
	h.Write(b)
	return at
}

func deflated(s string) []byte {
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestCompression)
	if err != nil {
		panic(err)
	}
	w.Write([]byte(s)) // into memory
	w.Close()
	return b.Bytes()
}

func appendLE(b []byte, values ...any) []byte {
	for _, v := range values {
		var err error
		if b, err = binary.Append(b, binary.LittleEndian, v); err != nil {
			panic(err)
		}
	}
	return b
}

// A Stream is a part of metadata.
type Stream struct {
	Name string
	Data []byte
}

// Root puts streams together, as metadata has them.
func Root(streams ...Stream) []byte {
	b := appendLE(nil, uint32(0x424a5342), uint16(1), uint16(1), uint32(0), uint32(12))
	b = appendLE(append(b, "PDB v1.0\x00\x00\x00\x00"...), uint16(0), uint16(len(streams)))
	size := len(b)
	for _, s := range streams {
		size += 8 + (len(s.Name)+4)/4*4
	}
	var data []byte
	for _, s := range streams {
		b = appendLE(b, uint32(size+len(data)), uint32(len(s.Data)))
		b = append(append(b, s.Name...), make([]byte, 4-len(s.Name)%4)...)
		data = append(data, s.Data...)
		data = append(data, make([]byte, -len(data)&3)...)
	}
	return append(b, data...)
}
