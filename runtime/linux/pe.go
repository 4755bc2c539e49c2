package linux

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"io"
	"strings"
)

// A peIdentity is the form in which recorders write the identity of a PE file: its stamp,
// and the file of symbols that belongs to it.
type peIdentity struct {
	Type      string `json:"type"`
	Name      string `json:"name,omitempty"`
	Stamp     uint32 `json:"date_time"`
	Size      uint32 `json:"image_size,omitempty"` // in memory: with the stamp, what symbol servers know it by
	Age       uint32 `json:"age,omitempty"`
	Signature string `json:"signature,omitempty"` // the GUID, in the order of the file
}

// A peReader reads parts of a PE file. Package debug/pe knows only the machines that
// Windows runs on, and .NET's precompiled files for Linux name others.
type peReader struct {
	file     io.ReaderAt
	sections []byte
	stamp    uint32
	size     uint32
	debug    []byte // where the debug directory is in memory, and how long
}

const (
	peSectionSize = 40
	peDebugSize   = 28
	peMaxDebug    = 64 // entries
	peDirectories = 6  // before that of debug information
)

// readPE reads the identity of a PE file.
func readPE(file io.ReaderAt) any {
	r := peReader{file: file}
	if !r.header() || r.stamp == 0 {
		return nil
	}
	id := peIdentity{Type: "PE", Stamp: r.stamp, Size: r.size}
	r.symbols(&id)
	return id
}

// at returns bytes of the file, or nil if it is shorter.
func (r *peReader) at(offset int64, n int) []byte {
	b := make([]byte, n)
	if _, err := r.file.ReadAt(b, offset); err != nil {
		return nil
	}
	return b
}

// header reads the headers of the file, and reports whether there are any.
func (r *peReader) header() bool {
	dos := r.at(0, 64)
	if dos == nil {
		return false
	}
	start := int64(binary.LittleEndian.Uint32(dos[60:]))
	b := r.at(start, 24)
	if b == nil || string(b[:4]) != "PE\x00\x00" {
		return false
	}
	count, size := int(binary.LittleEndian.Uint16(b[6:])), int(binary.LittleEndian.Uint16(b[20:]))
	r.stamp = binary.LittleEndian.Uint32(b[8:])
	r.sections = r.at(start+24+int64(size), count*peSectionSize)
	optional := r.at(start+24, size)
	if len(optional) < 2 {
		return true
	}
	if len(optional) >= 60 {
		r.size = binary.LittleEndian.Uint32(optional[56:])
	}
	directories := 96
	if binary.LittleEndian.Uint16(optional) == 0x20b { // with addresses of 64 bits
		directories = 112
	}
	if at := directories + 8*peDirectories; at+8 <= len(optional) {
		r.debug = optional[at : at+8]
	}
	return true
}

// symbols reads which file of symbols belongs to the file: of several that with a portable
// PDB.
func (r *peReader) symbols(id *peIdentity) {
	const kindCodeView, portable = 2, 0x504d
	if r.debug == nil {
		return
	}
	at, ok := r.offset(binary.LittleEndian.Uint32(r.debug))
	n := min(binary.LittleEndian.Uint32(r.debug[4:])/peDebugSize, peMaxDebug)
	list := r.at(at, int(n)*peDebugSize)
	if !ok || list == nil {
		return
	}
	for ; len(list) >= peDebugSize; list = list[peDebugSize:] {
		isPortable := binary.LittleEndian.Uint16(list[10:]) == portable
		if binary.LittleEndian.Uint32(list[12:]) != kindCodeView || id.Signature != "" && !isPortable {
			continue
		}
		const header, most = 24, 1 << 10
		size := binary.LittleEndian.Uint32(list[16:])
		b := r.at(int64(binary.LittleEndian.Uint32(list[24:])), int(min(size, most)))
		if len(b) < header || string(b[:4]) != "RSDS" {
			continue
		}
		name, _, _ := bytes.Cut(b[header:], []byte{0})
		id.Name = string(name[strings.LastIndexAny(string(name), `/\`)+1:])
		id.Signature, id.Age = hex.EncodeToString(b[4:20]), binary.LittleEndian.Uint32(b[20:])
	}
}

// offset returns the place in the file of the data at an address of the image.
func (r *peReader) offset(address uint32) (int64, bool) {
	for s := r.sections; len(s) >= peSectionSize; s = s[peSectionSize:] {
		start, size := binary.LittleEndian.Uint32(s[12:]), binary.LittleEndian.Uint32(s[16:])
		if address >= start && address-start < size {
			return int64(binary.LittleEndian.Uint32(s[20:])) + int64(address-start), true
		}
	}
	return 0, false
}
