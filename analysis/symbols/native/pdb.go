package native

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/etwgen/etwgen/runtime/etw"
)

// pdbMagic is the begin of a PDB file.
const pdbMagic = "Microsoft C/C++ MSF 7.00\r\n\x1aDS\x00\x00\x00"

// The numbers of streams that are the same in every PDB.
const (
	streamInfo = 1
	streamDBI  = 3
)

// The places of streams in the list of those of the debugger.
const (
	debugOmapFromSource   = 4
	debugSections         = 5
	debugOriginalSections = 10
)

// The kinds of symbol records that name code.
const (
	symbolPublic       = 0x110e
	symbolLocalProc    = 0x110f
	symbolGlobalProc   = 0x1110
	symbolLocalProcID  = 0x1146
	symbolGlobalProcID = 0x1147
)

var errPDB = errors.New("native: it is no whole PDB file")

// A msf is the container: streams, each of which is in blocks anywhere in the file.
type msf struct {
	r         io.ReaderAt
	blockSize uint32
	blocks    uint32 // in the file
	sizes     []uint32
	lists     [][]byte // numbers of blocks, by stream
	left      budget
}

func openMSF(r io.ReaderAt, size int64) (*msf, error) {
	head := make([]byte, len(pdbMagic)+6*4)
	if _, err := r.ReadAt(head[:4], 0); err == nil && string(head[:4]) == "BSJB" {
		return nil, errOther // a portable one, which knows of no native code
	}
	if _, err := r.ReadAt(head, 0); err != nil || string(head[:len(pdbMagic)]) != pdbMagic {
		return nil, errPDB
	}
	word := func(i int) uint32 { return binary.LittleEndian.Uint32(head[len(pdbMagic)+4*i:]) }
	m := &msf{r: r, blockSize: word(0), left: budgetOf(size)}
	if m.blockSize < 512 || m.blockSize > 1<<16 || m.blockSize&(m.blockSize-1) != 0 {
		return nil, errPDB
	}
	m.blocks = uint32(min(size/int64(m.blockSize), 1<<31))
	directory := word(3)
	if int64(directory) > size {
		return nil, errPDB
	}
	list, err := m.read(binary.LittleEndian.AppendUint32(nil, word(5)), min(m.blockSize, 4*m.blocksOf(directory)))
	if err != nil || uint32(len(list)) < 4*m.blocksOf(directory) {
		return nil, errPDB
	}
	dir, err := m.read(list, directory)
	if err != nil {
		return nil, err
	}
	return m, m.streams(dir)
}

func (m *msf) blocksOf(size uint32) uint32 {
	return uint32((uint64(size) + uint64(m.blockSize) - 1) / uint64(m.blockSize))
}

// streams reads the directory: how many streams there are, their sizes, their blocks.
func (m *msf) streams(dir []byte) error {
	if len(dir) < 4 {
		return errPDB
	}
	n := binary.LittleEndian.Uint32(dir)
	dir = dir[4:]
	if uint64(n)*4 > uint64(len(dir)) {
		return errPDB
	}
	lists := dir[4*n:]
	for i := range n {
		size := binary.LittleEndian.Uint32(dir[4*i:])
		if size == 0xffffffff { // there is none
			size = 0
		}
		use := uint64(m.blocksOf(size)) * 4
		if use > uint64(len(lists)) {
			return errPDB
		}
		m.sizes = append(m.sizes, size)
		m.lists = append(m.lists, lists[:use])
		lists = lists[use:]
	}
	return nil
}

// read reads the contents of blocks.
func (m *msf) read(list []byte, size uint32) ([]byte, error) {
	if uint64(size) > uint64(m.blocks)*uint64(m.blockSize) {
		return nil, errPDB
	}
	if err := m.left.take(uint64(size)); err != nil {
		return nil, err
	}
	b := make([]byte, 0, size)
	for uint32(len(b)) < size {
		n := binary.LittleEndian.Uint32(list)
		list = list[4:]
		part := b[len(b) : len(b)+int(min(m.blockSize, size-uint32(len(b))))]
		if _, err := m.r.ReadAt(part, int64(n)*int64(m.blockSize)); err != nil {
			return nil, errPDB
		}
		b = b[:len(b)+len(part)]
	}
	return b, nil
}

// stream returns a stream, which is empty if there is none with the number.
func (m *msf) stream(i int) ([]byte, error) {
	if i < 0 || i >= len(m.sizes) {
		return nil, nil
	}
	return m.read(m.lists[i], m.sizes[i])
}

// A pdb is the header of a PDB file.
type pdb struct {
	*msf
	guid etw.GUID
	ages [2]uint32 // of the file, and of what its image has
	dbi  []byte
}

func openPDB(r io.ReaderAt, size int64) (*pdb, error) {
	m, err := openMSF(r, size)
	if err != nil {
		return nil, err
	}
	info, err := m.stream(streamInfo)
	if err != nil || len(info) < 28 {
		return nil, errPDB
	}
	p := &pdb{msf: m}
	if p.dbi, err = m.stream(streamDBI); err != nil || len(p.dbi) < 64 {
		return nil, errPDB
	}
	p.ages = [2]uint32{binary.LittleEndian.Uint32(info[8:]), binary.LittleEndian.Uint32(p.dbi[8:])}
	p.guid = etw.GUID(info[12:28])
	return p, nil
}

// is reports whether the file is of an image that says this of its symbols.
func (p *pdb) is(guid etw.GUID, age uint32) bool {
	return p.guid == guid && (p.ages[0] == age || p.ages[1] == age)
}

// functions returns the functions.
func (p *pdb) functions() (*table, error) {
	var parts [7][]byte // modules, contributions, sections, files, types, EC, debug streams
	rest := p.dbi[64:]
	for i, at := range []int{24, 28, 32, 36, 40, 52, 48} {
		n := binary.LittleEndian.Uint32(p.dbi[at:])
		if uint64(n) > uint64(len(rest)) {
			return nil, errPDB
		}
		parts[i], rest = rest[:n], rest[n:]
	}
	places, err := p.places(parts[6])
	if err != nil {
		return nil, err
	}
	t := new(table)
	if err := p.modules(t, places, parts[0]); err != nil {
		return nil, err
	}
	publics, err := p.stream(int(binary.LittleEndian.Uint16(p.dbi[20:])))
	if err != nil {
		return nil, err
	}
	records(publics, func(kind uint16, b []byte) {
		const code, function = 1, 2
		if kind == symbolPublic && len(b) > 10 && binary.LittleEndian.Uint32(b)&(code|function) != 0 {
			if at, ok := places.rva(binary.LittleEndian.Uint32(b[4:]), binary.LittleEndian.Uint16(b[8:])); ok {
				t.add(uint64(at), 0, undecorated(text(b[10:])))
			}
		}
	})
	for _, s := range places.sections {
		t.bound(uint64(s.at) + uint64(s.size))
	}
	t.sort()
	return t, nil
}

// modules adds the functions that modules tell of, with their sizes.
func (p *pdb) modules(t *table, places *places, list []byte) error {
	for len(list) >= 64 {
		stream, size := int(binary.LittleEndian.Uint16(list[34:])), binary.LittleEndian.Uint32(list[36:])
		n := 64
		for range 2 { // names of the module and of its file
			i := bytes.IndexByte(list[n:], 0)
			if i < 0 {
				return errPDB
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
		b, err := p.stream(stream)
		if err != nil {
			return err
		}
		records(b[min(4, len(b)):min(int(size), len(b))], func(kind uint16, b []byte) {
			switch kind {
			case symbolLocalProc, symbolGlobalProc, symbolLocalProcID, symbolGlobalProcID:
				if len(b) <= 35 {
					return
				}
				if at, ok := places.rva(binary.LittleEndian.Uint32(b[28:]), binary.LittleEndian.Uint16(b[32:])); ok {
					t.add(uint64(at), uint64(binary.LittleEndian.Uint32(b[12:])), text(b[35:]))
				}
			}
		})
	}
	return nil
}

// records calls fn for each record of symbols: its kind, and the bytes after it.
func records(b []byte, fn func(kind uint16, b []byte)) {
	for len(b) >= 4 {
		n := int(binary.LittleEndian.Uint16(b))
		if n < 2 || n+2 > len(b) {
			return
		}
		fn(binary.LittleEndian.Uint16(b[2:]), b[4:n+2])
		b = b[n+2:]
	}
}

// text returns the text at the begin of b, to its NUL.
func text(b []byte) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return string(b)
}

// places say where sections are, and where code is that was moved when the image was
// optimized.
type places struct {
	sections []section
	moved    []byte // pairs of addresses
}

type section struct{ at, size uint32 }

func (p *pdb) places(debug []byte) (*places, error) {
	find := func(i int) ([]byte, error) {
		if 2*i+2 > len(debug) {
			return nil, nil
		}
		n := binary.LittleEndian.Uint16(debug[2*i:])
		if n == 0xffff {
			return nil, nil
		}
		return p.stream(int(n))
	}
	moved, err := find(debugOmapFromSource)
	if err != nil {
		return nil, err
	}
	which := debugSections
	if len(moved) > 0 {
		which = debugOriginalSections
	}
	headers, err := find(which)
	if err != nil {
		return nil, err
	}
	x := &places{moved: moved}
	for ; len(headers) >= 40; headers = headers[40:] {
		x.sections = append(x.sections, section{binary.LittleEndian.Uint32(headers[12:]), binary.LittleEndian.Uint32(headers[8:])})
	}
	if len(x.sections) == 0 {
		return nil, fmt.Errorf("%w: it does not tell where sections are", errPDB)
	}
	return x, nil
}

// rva returns where in the image a place of a section is.
func (x *places) rva(offset uint32, number uint16) (uint32, bool) {
	if number == 0 || int(number) > len(x.sections) {
		return 0, false
	}
	at := x.sections[number-1].at + offset
	if len(x.moved) < 8 {
		return at, true
	}
	low, high := 0, len(x.moved)/8 // the last that is not after it
	for low < high {
		if mid := (low + high) / 2; binary.LittleEndian.Uint32(x.moved[8*mid:]) <= at {
			low = mid + 1
		} else {
			high = mid
		}
	}
	if low == 0 {
		return 0, false
	}
	from, to := binary.LittleEndian.Uint32(x.moved[8*(low-1):]), binary.LittleEndian.Uint32(x.moved[8*(low-1)+4:])
	return to + at - from, to != 0
}
