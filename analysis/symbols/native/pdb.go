package native

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/etwgen/etwgen/internal/msf"
	"github.com/etwgen/etwgen/runtime/etw"
)

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

// A pdb is the header of a PDB file.
type pdb struct {
	*msf.File
	guid etw.GUID
	ages [2]uint32 // of the file, and that its image has
	dbi  []byte
}

func openPDB(r io.ReaderAt, size int64) (*pdb, error) {
	m, err := msf.Open(r, size)
	if errors.Is(err, msf.ErrPortable) {
		return nil, errOther
	} else if err != nil {
		return nil, err
	}
	info, err := m.Stream(streamInfo)
	if err != nil || len(info) < 28 {
		return nil, msf.ErrPDB
	}
	p := &pdb{File: m}
	if p.dbi, err = m.Stream(streamDBI); err != nil || len(p.dbi) < 64 {
		return nil, msf.ErrPDB
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
			return nil, msf.ErrPDB
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
	publics, err := p.Stream(int(binary.LittleEndian.Uint16(p.dbi[20:])))
	if err != nil {
		return nil, err
	}
	msf.Records(publics, func(kind uint16, b []byte) {
		const code, function = 1, 2
		if kind == symbolPublic && len(b) > 10 && binary.LittleEndian.Uint32(b)&(code|function) != 0 {
			if at, ok := places.rva(binary.LittleEndian.Uint32(b[4:]), binary.LittleEndian.Uint16(b[8:])); ok {
				t.add(uint64(at), 0, undecorated(msf.Text(b[10:])))
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
	return p.Modules(list, func(b []byte) {
		msf.Records(b, func(kind uint16, b []byte) {
			switch kind {
			case symbolLocalProc, symbolGlobalProc, symbolLocalProcID, symbolGlobalProcID:
				if len(b) <= 35 {
					return
				}
				if at, ok := places.rva(binary.LittleEndian.Uint32(b[28:]), binary.LittleEndian.Uint16(b[32:])); ok {
					t.add(uint64(at), uint64(binary.LittleEndian.Uint32(b[12:])), msf.Text(b[35:]))
				}
			}
		})
	})
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
		return p.Stream(int(n))
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
		return nil, fmt.Errorf("%w: it does not tell where sections are", msf.ErrPDB)
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
