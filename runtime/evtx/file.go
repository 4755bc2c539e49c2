package evtx

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// The layout of a file: a header in a block of its own, then chunks, each with its own names
// and templates.
const (
	fileMagic   = "ElfFile\x00"
	chunkMagic  = "ElfChnk\x00"
	headerSize  = 128
	headerBlock = 4096
	chunkSize   = 1 << 16
	chunkHead   = 512 // of it the bytes before the first record
)

// ErrFormat says that a file is no event log.
var ErrFormat = errors.New("not an event log of Windows")

// Recognizes reports whether a file that begins with head is an event log.
func Recognizes(head []byte) bool { return bytes.HasPrefix(head, []byte(fileMagic)) }

// A Header is the head of a file. Chunks is often wrong where the log was in use, and no reader
// goes by it.
type Header struct {
	Major, Minor uint16
	FirstChunk   uint64
	LastChunk    uint64
	NextRecord   uint64 // the id of the record that would have come next
	Chunks       uint16
	Dirty        bool // the log was in use, or not closed
	Full         bool // the log had reached its greatest size
	NoChecksums  bool // the file has none
	ChecksumOK   bool // of the header
}

func parseHeader(b []byte) (h Header, err error) {
	if len(b) < headerSize || !Recognizes(b) {
		return h, ErrFormat
	}
	le := binary.LittleEndian
	flags := le.Uint32(b[120:])
	h = Header{
		FirstChunk: le.Uint64(b[8:]), LastChunk: le.Uint64(b[16:]), NextRecord: le.Uint64(b[24:]),
		Minor: le.Uint16(b[36:]), Major: le.Uint16(b[38:]), Chunks: le.Uint16(b[42:]),
		Dirty: flags&1 != 0, Full: flags&2 != 0, NoChecksums: flags&4 != 0,
		ChecksumOK: flags&4 != 0 || crc32.ChecksumIEEE(b[:120]) == le.Uint32(b[124:]),
	}
	if h.Major != 3 {
		return h, fmt.Errorf("version %d.%d of event logs is not supported", h.Major, h.Minor)
	}
	return h, nil
}

// checksums reports whether those of a whole chunk are right. free is the end of its records.
func checksums(b []byte, free int) bool {
	le := binary.LittleEndian
	head := crc32.Update(crc32.ChecksumIEEE(b[:120]), crc32.IEEETable, b[128:chunkHead])
	return head == le.Uint32(b[124:]) && crc32.ChecksumIEEE(b[chunkHead:free]) == le.Uint32(b[52:])
}
