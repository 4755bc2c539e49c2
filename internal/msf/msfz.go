package msf

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"io"
	"slices"

	"github.com/etwgen/etwgen/internal/quota"
	"github.com/etwgen/etwgen/internal/unzstd"
)

// packedMagic is the begin of MSFZ files, which have the streams of a PDB in pieces, as they are
// or in chunks that are packed. Caches of debuggers have such files.
const packedMagic = "Microsoft MSFZ Container\r\n\x1aALD\x00\x00"

// A packedFile is the container of an MSFZ file.
type packedFile struct {
	size    int64
	streams [][]fragment
	chunks  []chunk
	left    quota.Quota
}

// A fragment is a part of a stream: at is where it is in the file or, if the highest bit is
// set, a chunk and where it begins there. It may go on in the chunks behind that.
type fragment struct {
	size uint32
	at   uint64
}

// A chunk is bytes of several streams, packed in one of the ways below.
type chunk struct {
	at                 uint64
	way, packed, whole uint32
	plain              []byte // nil until it is asked for
}

const (
	wayNone = iota
	wayZstd
	wayDeflate
)

const (
	packedHead = 80
	chunkEntry = 20
	noStream   = 0xffffffff
	inChunk    = 1 << 63
)

// maxUnpacked bounds the bytes that a file unpacks to: some times as many as compilers' files do,
// and a part of the memory of any machine.
func maxUnpacked(size int64) quota.Quota { return quota.Quota(min(1<<20+32*size, 1<<30)) }

// openPacked reads the lists of an MSFZ file.
func openPacked(r io.ReaderAt, size int64) (*File, error) {
	head := make([]byte, packedHead)
	if _, err := r.ReadAt(head, 0); err != nil {
		return nil, ErrPDB
	}
	word, long := func(at int) uint32 { return binary.LittleEndian.Uint32(head[at:]) }, func(at int) uint64 { return binary.LittleEndian.Uint64(head[at:]) }
	m := &File{r: r, packed: &packedFile{size: size, left: maxUnpacked(size)}}
	p := m.packed
	if long(32) != 0 {
		return nil, ErrVersion
	}
	streams, chunks := word(56), word(72)
	if uint64(chunks)*chunkEntry != uint64(word(76)) {
		return nil, ErrPDB
	}
	var table []byte
	var err error
	if chunks > 0 { // where there are none, the table may be said to be behind the file
		if table, err = m.unpack(chunk{at: long(48), packed: word(76), whole: word(76)}); err != nil {
			return nil, err
		}
	}
	for b := range slices.Chunk(table, chunkEntry) {
		u32 := func(at int) uint32 { return binary.LittleEndian.Uint32(b[at:]) }
		c := chunk{at: binary.LittleEndian.Uint64(b), way: u32(8), packed: u32(12), whole: u32(16)}
		if c.whole == 0 {
			return nil, ErrPDB
		}
		p.chunks = append(p.chunks, c)
	}
	directory, err := m.unpack(chunk{at: long(40), way: word(60), packed: word(64), whole: word(68)})
	if err != nil {
		return nil, err
	}
	return m, p.read(directory, streams)
}

// read reads the fragments of streams.
func (p *packedFile) read(b []byte, streams uint32) error {
	for range streams {
		var list []fragment
		for {
			if len(b) < 4 {
				return ErrPDB
			}
			size := binary.LittleEndian.Uint32(b)
			if b = b[4:]; size == 0 || size == noStream && list == nil {
				break
			}
			if len(b) < 8 {
				return ErrPDB
			}
			list = append(list, fragment{size, binary.LittleEndian.Uint64(b)})
			b = b[8:]
		}
		p.streams = append(p.streams, list)
	}
	return nil
}

// unpack returns the bytes of a chunk, or of a list that is packed like one.
func (m *File) unpack(c chunk) ([]byte, error) {
	if c.at > uint64(m.packed.size) || uint64(c.packed) > uint64(m.packed.size)-c.at {
		return nil, ErrPDB
	}
	if err := m.packed.left.Take(uint64(c.whole)); err != nil {
		return nil, err
	}
	in := io.NewSectionReader(m.r, int64(c.at), int64(c.packed))
	var plain bytes.Buffer
	var err error
	switch c.way {
	case wayNone:
		_, err = io.Copy(&plain, in)
	case wayZstd:
		err = inflateZstd(&plain, in, int(c.whole))
	case wayDeflate:
		_, err = io.Copy(&plain, io.LimitReader(flate.NewReader(in), int64(c.whole)+1))
	default:
		return nil, ErrVersion
	}
	if err != nil || plain.Len() != int(c.whole) {
		return nil, ErrPDB
	}
	return plain.Bytes(), nil
}

// inflateZstd unpacks a stream of zstd, in parts, to notice one without end.
func inflateZstd(plain *bytes.Buffer, in io.Reader, whole int) error {
	u, err := unzstd.New()
	if err != nil {
		return err
	}
	part := make([]byte, 1<<10)
	for {
		n, err := in.Read(part)
		if err == io.EOF && u.Done() {
			return nil
		} else if err != nil {
			return err
		}
		long := false
		if err := u.Unpack(part[:n], func(b []byte) {
			if long = long || plain.Len()+len(b) > whole; !long {
				plain.Write(b)
			}
		}); err != nil || long {
			return ErrPDB
		}
	}
}

// stream returns a stream of an MSFZ file.
func (m *File) stream(i int) ([]byte, error) {
	p := m.packed
	var b []byte
	for _, f := range p.streams[i] {
		if err := p.left.Take(uint64(f.size)); err != nil {
			return nil, err
		}
		if f.at&inChunk == 0 {
			part, err := m.unpack(chunk{at: f.at, packed: f.size, whole: f.size})
			if err != nil {
				return nil, err
			}
			b = append(b, part...)
			continue
		}
		left, at := f.size, uint32(f.at)
		for k := f.at &^ inChunk >> 32; left > 0; k++ {
			if k >= uint64(len(p.chunks)) {
				return nil, ErrPDB
			}
			c := &p.chunks[k]
			if at >= c.whole {
				return nil, ErrPDB
			}
			if c.plain == nil {
				var err error
				if c.plain, err = m.unpack(*c); err != nil {
					return nil, err
				}
			}
			n := min(left, c.whole-at)
			b = append(b, c.plain[at:at+n]...)
			left, at = left-n, 0
		}
	}
	return b, nil
}
