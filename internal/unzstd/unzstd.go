// Package unzstd unpacks streams of zstd by the standard library alone.
package unzstd

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"io"
	"math"
)

// An Unpacker unpacks a stream of zstd whose parts come one by one. The standard library
// unpacks such streams where they are sections of ELF files, and nowhere else: so this is an
// ELF file of one section without end, whose bytes are those that have come so far.
type Unpacker struct {
	stream  io.Reader
	given   []byte // what the stream may read
	took    int64  // how much it has read
	starved bool   // it asked for more
	rest    []byte // not yet a whole block

	inFrame  bool
	checksum bool
	block    []byte
}

// maxBlock is how many bytes a block of zstd unpacks to at most.
const maxBlock = 128 << 10

// Where the parts of the ELF file lie.
const (
	sectionsAt = 64
	namesAt    = sectionsAt + 3*64
	packedAt   = namesAt + 1
)

// elfHead makes the bytes before the stream: a header, three sections, of which the first
// has to be empty, the names of these, which are none, and the header that tells how the
// last is packed.
func elfHead() []byte {
	const endless = uint64(1) << 62
	var b bytes.Buffer
	put := func(v any) { _ = binary.Write(&b, binary.LittleEndian, v) } // a Buffer takes all
	ident := [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)}
	put(elf.Header64{Ident: ident, Type: uint16(elf.ET_REL), Machine: uint16(elf.EM_X86_64), Version: uint32(elf.EV_CURRENT), Shoff: sectionsAt, Ehsize: 64, Shentsize: 64, Shnum: 3, Shstrndx: 1})
	put(elf.Section64{})
	put(elf.Section64{Type: uint32(elf.SHT_STRTAB), Off: namesAt, Size: 1})
	put(elf.Section64{Type: uint32(elf.SHT_PROGBITS), Flags: uint64(elf.SHF_COMPRESSED), Off: packedAt, Size: endless})
	put(byte(0))
	put(elf.Chdr64{Type: uint32(elf.COMPRESS_ZSTD), Size: math.MaxInt64, Addralign: 1})
	return b.Bytes()
}

// New returns an unpacker of a stream that begins with a frame.
func New() (*Unpacker, error) {
	u := &Unpacker{block: make([]byte, maxBlock)}
	f, err := elf.NewFile(sectionOf{u, elfHead()})
	if err != nil {
		return nil, err
	}
	u.stream = f.Sections[2].Open()
	return u, nil
}

// A sectionOf is the ELF file of an Unpacker.
type sectionOf struct {
	*Unpacker
	head []byte
}

// ReadAt reads the head, or the next bytes of the stream.
func (s sectionOf) ReadAt(p []byte, at int64) (n int, err error) {
	if at < int64(len(s.head)) {
		n = copy(p, s.head[at:])
	} else if at == int64(len(s.head))+s.took {
		n = copy(p, s.given)
		s.starved = s.starved || len(s.given) == 0
		s.given, s.took = s.given[n:], s.took+int64(n)
	}
	if n < len(p) {
		err = io.EOF
	}
	return n, err
}

// Unpack takes the next bytes of the stream, and gives take the unpacked bytes, in parts.
func (u *Unpacker) Unpack(b []byte, take func([]byte)) error {
	u.rest = append(u.rest, b...)
	used := 0
	defer func() { u.rest = u.rest[:copy(u.rest, u.rest[used:])] }()
	for {
		n, err := u.next(u.rest[used:])
		if err != nil || n == 0 {
			return err
		}
		u.given, u.starved = u.rest[used:used+n], false
		used += n
		m, err := u.stream.Read(u.block)
		if err != nil && !u.starved { // a block may have nothing in it
			return err
		}
		if len(u.given) > 0 {
			return errBlock
		}
		take(u.block[:m])
	}
}

// Done reports whether all that has come is unpacked, to the end of a frame.
func (u *Unpacker) Done() bool { return !u.inFrame && len(u.rest) == 0 }

var errBlock = errors.New("zstd: not a frame of blocks")

// next returns the size of the next block of a stream, with the bytes before and behind it
// in its frame, or 0 if it has not come whole yet. The parts have to be told apart since the
// stream cannot go on in the middle of one.
func (u *Unpacker) next(b []byte) (n int, err error) {
	const magic, least, blockHead = 0xfd2fb528, 5, 3
	checksum := u.checksum
	if !u.inFrame {
		if len(b) < least {
			return 0, nil
		}
		flags := b[4]
		if binary.LittleEndian.Uint32(b) != magic {
			return 0, errBlock
		}
		checksum = flags&4 != 0
		single := flags&0x20 != 0
		n = least + [4]int{0, 1, 2, 4}[flags&3] + [4]int{0, 2, 4, 8}[flags>>6]
		if !single || flags>>6 == 0 {
			n++ // the size of the window, or of a small frame
		}
	}
	if len(b) < n+blockHead {
		return 0, nil
	}
	head := int(b[n]) | int(b[n+1])<<8 | int(b[n+2])<<16
	last, kind, size := head&1 != 0, head>>1&3, head>>3
	switch n += blockHead; {
	case size > maxBlock || kind == 3:
		return 0, errBlock
	case kind == 1:
		n++ // a byte that is repeated
	default:
		n += size
	}
	if last && checksum {
		n += 4
	}
	if len(b) < n {
		return 0, nil
	}
	u.inFrame, u.checksum = !last, checksum
	return n, nil
}
