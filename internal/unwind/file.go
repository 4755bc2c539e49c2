package unwind

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"io"
	"slices"

	"github.com/etwgen/etwgen/internal/order"
)

// A File is how the code of an ELF file is unwound.
type File struct {
	entries  []Entry // by their begins
	segments []segment
}

// A segment is a part of a file that is mapped.
type segment struct{ offset, address, size uint64 }

// Bounds of a file.
const (
	maxSection  = 256 << 20
	maxSections = 1 << 16
	maxSegments = 1 << 10
)

var errELF = errors.New("unwind: it is no whole ELF file of a machine that is known")

// Open reads an ELF file of 64 bits, little-endian as the machines that are known are.
func Open(r io.ReaderAt) (*File, error) {
	const headSize, segmentSize, sectionSize, load = 64, 56, 64, 1
	head := make([]byte, headSize)
	if _, err := r.ReadAt(head, 0); err != nil || !bytes.HasPrefix(head, []byte("\x7fELF\x02\x01")) {
		return nil, errELF
	}
	le := binary.LittleEndian
	f := new(File)
	for b := range table(r, le.Uint64(head[32:]), segmentSize, min(int(le.Uint16(head[56:])), maxSegments)) {
		if le.Uint32(b) == load {
			f.segments = append(f.segments, segment{le.Uint64(b[8:]), le.Uint64(b[16:]), le.Uint64(b[32:])})
		}
	}
	count, names := int(le.Uint16(head[60:])), int(le.Uint16(head[62:]))
	var sections [][]byte
	for b := range table(r, le.Uint64(head[40:]), sectionSize, min(count, maxSections)) {
		sections = append(sections, b)
	}
	if names >= len(sections) {
		return f, nil
	}
	text := part(r, sections[names])
	for _, s := range sections {
		name, _, _ := bytes.Cut(text[min(uint64(le.Uint32(s)), uint64(len(text))):], []byte{0})
		const packed = 1 << 11
		debug := string(name) == ".debug_frame"
		if !debug && string(name) != ".eh_frame" || le.Uint64(s[8:])&packed != 0 {
			continue
		}
		all := Section{Bytes: part(r, s), Address: le.Uint64(s[16:]), Order: le, Wide: true, Debug: debug}
		f.entries = append(f.entries, all.Entries()...)
	}
	order.ByKey(f.entries, func(e *Entry) uint64 { return e.Begin })
	return f, nil
}

// table iterates over the rows of a table that are in the file.
func table(r io.ReaderAt, at uint64, size, count int) func(func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for i := range count {
			b := make([]byte, size)
			if _, err := r.ReadAt(b, int64(min(at, 1<<62))+int64(i*size)); err != nil || !yield(b) {
				return
			}
		}
	}
}

// part returns the bytes of a section, as far as the file has them.
func part(r io.ReaderAt, section []byte) []byte {
	const inMemory = 8 // only
	le := binary.LittleEndian
	if at, n := le.Uint64(section[24:]), le.Uint64(section[32:]); at < 1<<62 && n <= maxSection && le.Uint32(section[4:]) != inMemory {
		b, err := io.ReadAll(io.NewSectionReader(r, int64(at), int64(n)))
		if err == nil {
			return b
		}
	}
	return nil
}

// Address returns the address that the file gives a place in it.
func (f *File) Address(offset uint64) (uint64, bool) {
	for _, s := range f.segments {
		const page = 0xfff
		if begin := s.offset &^ page; offset >= begin && offset-begin < s.size+s.offset-begin {
			return offset - s.offset + s.address, true
		}
	}
	return 0, false
}

// entry returns the entry that has an address, or nil.
func (f *File) entry(address uint64) *Entry {
	i, found := slices.BinarySearchFunc(f.entries, address, func(e Entry, a uint64) int { return cmp.Compare(e.Begin, a) })
	if !found {
		i--
	}
	if i < 0 || address-f.entries[i].Begin >= f.entries[i].Size {
		return nil
	}
	return &f.entries[i]
}
