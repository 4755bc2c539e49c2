package wpp

import (
	"encoding/binary"
	"io"

	"github.com/etwgen/etwgen/internal/msf"
	"github.com/etwgen/etwgen/runtime/etw"
)

// streamDBI is the stream of the debugger.
const streamDBI = 3

// The kinds of symbol records that tell of formats, and of the functions that they are in.
const (
	symbolAnnotation   = 0x1019
	symbolLocalProc    = 0x110f
	symbolGlobalProc   = 0x1110
	symbolLocalProcID  = 0x1146
	symbolGlobalProcID = 0x1147
)

// ReadPDB reads the formats in a PDB of a size: the messages of its program, and the providers
// that are enabled for it, which have the flags of messages as keywords and no events.
func ReadPDB(file io.ReaderAt, size int64) ([]*etw.Provider, error) {
	m, err := msf.Open(file, size)
	if err != nil {
		return nil, err
	}
	dbi, err := m.Stream(streamDBI)
	if err != nil || len(dbi) < 64 {
		return nil, msf.ErrPDB
	}
	modules := dbi[64:]
	n := binary.LittleEndian.Uint32(dbi[24:])
	if uint64(n) > uint64(len(modules)) {
		return nil, msf.ErrPDB
	}
	p := pdb{reader: newReader()}
	err = m.Modules(modules[:n], p.module)
	all := append(p.controls, p.result()...)
	if err == nil && len(all) == 0 {
		err = ErrNone
	}
	return all, err
}

// A pdb reads the modules of a file.
type pdb struct {
	*reader
	controls []*etw.Provider
}

// module reads the records of a module.
func (p *pdb) module(records []byte) {
	function, end := "", 0
	at := 4 // in the stream, from which functions tell where they end
	msf.Records(records, func(kind uint16, b []byte) {
		switch kind {
		case symbolLocalProc, symbolGlobalProc, symbolLocalProcID, symbolGlobalProcID:
			if len(b) > 35 {
				function, end = msf.Text(b[35:]), int(binary.LittleEndian.Uint32(b[4:]))
			}
		case symbolAnnotation:
			if at >= end {
				function = ""
			}
			if len(b) > 8 {
				p.annotation(b[8:], int(binary.LittleEndian.Uint16(b[6:])), function)
			}
		}
		at += len(b) + 4
	})
}

// annotation reads the n texts of an annotation. Others than those of messages are passed over.
func (p *pdb) annotation(b []byte, n int, function string) {
	var texts []string
	for ; n > 0 && len(b) > 0; n-- {
		text := msf.Text(b)
		texts, b = append(texts, text), b[min(len(text)+1, len(b)):]
	}
	switch {
	case len(texts) < 3:
	case texts[0] == "TMF:":
		p.file, p.inside = nil, false
		for _, text := range texts[1:] {
			if p.line(text, function) != nil {
				return
			}
		}
	case texts[0] == "TMC:":
		p.control(texts[1], texts[2], texts[3:])
	}
}

// control reads the provider that a program is enabled by. The flags are bits in their order.
func (p *pdb) control(guid, name string, flags []string) {
	id, err := etw.ParseGUID(guid)
	if err != nil {
		return
	}
	c := &etw.Provider{Desc: &etw.ProviderDesc{Name: name, GUID: id}}
	for i, flag := range flags[:min(len(flags), 32)] {
		c.Keywords = append(c.Keywords, etw.KeywordDesc{Name: flag, Mask: 1 << i})
		p.keywords[flag] |= 1 << i
	}
	for _, known := range p.controls {
		if known.Desc.GUID == id {
			return
		}
	}
	p.controls = append(p.controls, c)
}
