// Package msf reads the container of PDB files, and lists their records of symbols. Formats of
// trace messages and names of native code are there.
package msf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"

	"github.com/etwgen/etwgen/internal/quota"
)

// magic is the begin of a PDB file.
const magic = "Microsoft C/C++ MSF 7.00\r\n\x1aDS\x00\x00\x00"

// The faults of files.
var (
	ErrPDB      = errors.New("it is no whole PDB file")
	ErrVersion  = errors.New("it is an MSFZ file of another version or packed in another way than are known")
	ErrPortable = errors.New("it is a portable PDB, which knows of no native code")
)

// A File is the container: streams, each of which is in blocks anywhere in the file.
type File struct {
	r         io.ReaderAt
	blockSize uint32
	blocks    uint32 // in the file
	sizes     []uint32
	lists     [][]byte // numbers of blocks, by stream
	left      quota.Quota
	packed    *packedFile // nil if it is no MSFZ file
}

// Open reads the directory of a file of a size.
func Open(r io.ReaderAt, size int64) (*File, error) {
	head := make([]byte, len(magic)+6*4)
	if _, err := r.ReadAt(head[:4], 0); err == nil && string(head[:4]) == "BSJB" {
		return nil, ErrPortable
	}
	if _, err := r.ReadAt(head[:len(packedMagic)], 0); err == nil && string(head[:len(packedMagic)]) == packedMagic {
		return openPacked(r, size)
	}
	if _, err := r.ReadAt(head, 0); err != nil || string(head[:len(magic)]) != magic {
		return nil, ErrPDB
	}
	word := func(i int) uint32 { return binary.LittleEndian.Uint32(head[len(magic)+4*i:]) }
	m := &File{r: r, blockSize: word(0), left: quota.Of(size)}
	if m.blockSize < 512 || m.blockSize > 1<<16 || m.blockSize&(m.blockSize-1) != 0 {
		return nil, ErrPDB
	}
	m.blocks = uint32(min(size/int64(m.blockSize), 1<<31))
	directory := word(3)
	if int64(directory) > size {
		return nil, ErrPDB
	}
	list, err := m.read(binary.LittleEndian.AppendUint32(nil, word(5)), min(m.blockSize, 4*m.blocksOf(directory)))
	if err != nil || uint32(len(list)) < 4*m.blocksOf(directory) {
		return nil, ErrPDB
	}
	dir, err := m.read(list, directory)
	if err != nil {
		return nil, err
	}
	return m, m.streams(dir)
}

func (m *File) blocksOf(size uint32) uint32 {
	return uint32((uint64(size) + uint64(m.blockSize) - 1) / uint64(m.blockSize))
}

// streams reads the directory: how many streams there are, their sizes, their blocks.
func (m *File) streams(dir []byte) error {
	if len(dir) < 4 {
		return ErrPDB
	}
	n := binary.LittleEndian.Uint32(dir)
	dir = dir[4:]
	if uint64(n)*4 > uint64(len(dir)) {
		return ErrPDB
	}
	lists := dir[4*n:]
	for i := range n {
		size := binary.LittleEndian.Uint32(dir[4*i:])
		if size == 0xffffffff { // there is none
			size = 0
		}
		use := uint64(m.blocksOf(size)) * 4
		if use > uint64(len(lists)) {
			return ErrPDB
		}
		m.sizes = append(m.sizes, size)
		m.lists = append(m.lists, lists[:use])
		lists = lists[use:]
	}
	return nil
}

// read reads the contents of blocks.
func (m *File) read(list []byte, size uint32) ([]byte, error) {
	if uint64(size) > uint64(m.blocks)*uint64(m.blockSize) {
		return nil, ErrPDB
	}
	if err := m.left.Take(uint64(size)); err != nil {
		return nil, err
	}
	b := make([]byte, 0, size)
	for uint32(len(b)) < size {
		n := binary.LittleEndian.Uint32(list)
		list = list[4:]
		part := b[len(b) : len(b)+int(min(m.blockSize, size-uint32(len(b))))]
		if _, err := m.r.ReadAt(part, int64(n)*int64(m.blockSize)); err != nil {
			return nil, ErrPDB
		}
		b = b[:len(b)+len(part)]
	}
	return b, nil
}

// Stream returns a stream, which is empty if there is none with the number.
func (m *File) Stream(i int) ([]byte, error) {
	if m.packed != nil && i >= 0 && i < len(m.packed.streams) {
		return m.stream(i)
	}
	if i < 0 || i >= len(m.sizes) {
		return nil, nil
	}
	return m.read(m.lists[i], m.sizes[i])
}

// Modules calls fn with the records of symbols of each module of a list, which is that of the
// stream of the debugger.
func (m *File) Modules(list []byte, fn func(records []byte)) error {
	for len(list) >= 64 {
		stream, size := int(binary.LittleEndian.Uint16(list[34:])), binary.LittleEndian.Uint32(list[36:])
		n := 64
		for range 2 { // names of the module and of its file
			i := bytes.IndexByte(list[n:], 0)
			if i < 0 {
				return ErrPDB
			}
			n += i + 1
		}
		if n = (n + 3) &^ 3; n > len(list) {
			n = len(list)
		}
		list = list[n:]
		if stream == 0xffff || size < 4 {
			continue
		}
		b, err := m.Stream(stream)
		if err != nil {
			return err
		}
		fn(b[min(4, len(b)):min(int(size), len(b))])
	}
	return nil
}

// Records calls fn for each record of symbols: its kind, and the bytes after it.
func Records(b []byte, fn func(kind uint16, b []byte)) {
	for len(b) >= 4 {
		n := int(binary.LittleEndian.Uint16(b))
		if n < 2 || n+2 > len(b) {
			return
		}
		fn(binary.LittleEndian.Uint16(b[2:]), b[4:n+2])
		b = b[n+2:]
	}
}

// Text returns the text at the begin of b, to its NUL.
func Text(b []byte) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return string(b)
}
