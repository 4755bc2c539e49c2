package native

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/etwgen/etwgen/internal/quota"
)

// An elfFile is where the parts of an ELF file are. Parts are read when they are asked
// for, and none has more memory than the file has bytes.
type elfFile struct {
	r        io.ReaderAt
	size     int64
	order    binary.ByteOrder
	wide     bool // 64 bits
	machine  uint16
	sections []elfSection
	segments []elfSegment
	left     quota.Quota
}

type elfSection struct {
	name                        string
	kind, link                  uint32
	flags, address, at, n, each uint64
}

type elfSegment struct {
	kind, flags    uint32
	at, address, n uint64
}

// Numbers of ELF files, as far as they are looked at.
const (
	elfMagic = "\x7fELF"

	segmentLoad    = 1
	segmentNote    = 4
	segmentFrames  = 0x6474e550
	segmentExecute = 1

	sectionSymbols = 2
	sectionRela    = 4
	sectionNote    = 7
	sectionNoBits  = 8
	sectionDynamic = 11
	sectionExecute = 4
	sectionPacked  = 0x800

	machineX64   = 62
	machineARM64 = 183
)

// Bounds of reading an ELF file.
const (
	maxSections = 1 << 16
	maxSegments = 1 << 12
	maxPart     = 1 << 30
	longestName = 1 << 14
)

var errNoELF = errors.New("native: it is no ELF file")

// openELF reads where the parts of a file are.
func openELF(r io.ReaderAt, size int64) (*elfFile, error) {
	head := make([]byte, 64)
	if n, err := r.ReadAt(head, 0); n < 52 || string(head[:4]) != elfMagic {
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		return nil, errNoELF
	}
	x := &elfFile{r: r, size: size, order: binary.LittleEndian, wide: head[4] == 2, left: quota.Of(size)}
	if head[5] == 2 {
		x.order = binary.BigEndian
	}
	x.machine = x.order.Uint16(head[18:])
	// Where the tables are, and behind that how large their entries are, and how many.
	segments, sections, sizes := uint64(x.order.Uint32(head[28:])), uint64(x.order.Uint32(head[32:])), head[42:]
	if x.wide {
		segments, sections, sizes = x.order.Uint64(head[32:]), x.order.Uint64(head[40:]), head[54:]
	}
	word := func(i int) uint64 { return uint64(x.order.Uint16(sizes[2*i:])) }
	if err := x.readSegments(segments, word(0), word(1)); err != nil {
		return nil, err
	}
	return x, x.readSections(sections, word(2), word(3), word(4))
}

// at returns n bytes at a place in the file.
func (x *elfFile) bytes(at, n uint64) ([]byte, error) {
	if at > uint64(x.size) || n > uint64(x.size)-at || n > maxPart {
		return nil, fmt.Errorf("native: %d bytes at %#x are not all in the file", n, at)
	}
	if err := x.left.Take(n); err != nil {
		return nil, err
	}
	b := make([]byte, n)
	if _, err := x.r.ReadAt(b, int64(at)); err != nil && !(errors.Is(err, io.EOF) && n == 0) {
		return nil, err
	}
	return b, nil
}

// A fields reads numbers one after the other, the wide ones as wide as the file has them.
type fields struct {
	x *elfFile
	b []byte
}

func (f *fields) small() uint32 {
	v := f.x.order.Uint32(f.b)
	f.b = f.b[4:]
	return v
}

func (f *fields) large() uint64 {
	if !f.x.wide {
		return uint64(f.small())
	}
	v := f.x.order.Uint64(f.b)
	f.b = f.b[8:]
	return v
}

func (x *elfFile) readSegments(at, each, count uint64) error {
	least := uint64(32)
	if x.wide {
		least = 56
	}
	if count == 0 {
		return nil
	}
	if each < least || count > maxSegments {
		return fmt.Errorf("native: there are %d segments of %d bytes each", count, each)
	}
	b, err := x.bytes(at, each*count)
	if err != nil {
		return err
	}
	for i := range count {
		f := fields{x, b[i*each:]}
		s := elfSegment{kind: f.small()}
		if x.wide {
			s.flags = f.small()
		}
		s.at, s.address = f.large(), f.large()
		f.large() // the physical address
		s.n = f.large()
		f.large() // its size in memory
		if !x.wide {
			s.flags = f.small()
		}
		x.segments = append(x.segments, s)
	}
	return nil
}

// readSections reads the sections. The one with number names has their names.
func (x *elfFile) readSections(at, each, count, names uint64) error {
	least := uint64(40)
	if x.wide {
		least = 64
	}
	if at == 0 || count == 0 {
		return nil
	}
	if each < least || count > maxSections {
		return fmt.Errorf("native: there are %d sections of %d bytes each", count, each)
	}
	b, err := x.bytes(at, each*count)
	if err != nil {
		return err
	}
	called := make([]uint32, count)
	for i := range count {
		f := fields{x, b[i*each:]}
		called[i] = f.small()
		s := elfSection{kind: f.small(), flags: f.large(), address: f.large(), at: f.large(), n: f.large(), link: f.small()}
		f.small() // more about it
		f.large() // its alignment
		s.each = f.large()
		x.sections = append(x.sections, s)
	}
	if names >= count {
		return nil
	}
	text, err := x.data(&x.sections[names])
	if err != nil {
		return err
	}
	all := string(text)
	for i := range x.sections {
		if x.sections[i].name, err = x.textAt(all, called[i]); err != nil {
			return err
		}
	}
	return nil
}

// textAt is textAt for names of the file, of which many can be parts of one.
func (x *elfFile) textAt(all string, at uint32) (string, error) {
	name := textAt(all, at)
	return name, x.left.Take(uint64(len(name)))
}

// textAt returns the text at a place in others, which a zero byte ends. It shares their
// memory.
func textAt(all string, at uint32) string {
	if uint64(at) >= uint64(len(all)) {
		return ""
	}
	all = all[at:]
	all = all[:min(len(all), longestName)]
	text, _, _ := strings.Cut(all, "\x00")
	return text
}

// data returns the contents of a section.
func (x *elfFile) data(s *elfSection) ([]byte, error) {
	if s.kind == sectionNoBits {
		return nil, nil
	}
	if s.flags&sectionPacked != 0 {
		return nil, fmt.Errorf("native: section %s is compressed", s.name)
	}
	return x.bytes(s.at, s.n)
}

// section returns the section with a name that has bytes in the file, or nil.
func (x *elfFile) section(name string) *elfSection {
	for i := range x.sections {
		if s := &x.sections[i]; s.name == name && s.kind != sectionNoBits {
			return s
		}
	}
	return nil
}

// part returns the contents of the section with a name, or nothing where that cannot be read.
func (x *elfFile) part(name string) []byte {
	if s := x.section(name); s != nil {
		b, _ := x.data(s) // a damaged one names nothing
		return b
	}
	return nil
}

// hasCode reports whether the file has the code that it describes. Files of symbols alone
// do not.
func (x *elfFile) hasCode() bool {
	described := false
	for i := range x.sections {
		if s := &x.sections[i]; s.flags&sectionExecute != 0 {
			if s.kind != sectionNoBits {
				return true
			}
			described = true
		}
	}
	return !described
}
