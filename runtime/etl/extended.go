package etl

import (
	"encoding/binary"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/internal/extended"
)

// An extended item begins with 8 bytes: a reserved uint16, its type, flags of
// which the lowest says that another item follows, and the size of its data.
const (
	itemHeaderSize = 8
	itemLinked     = 1
)

// fillExtended takes the extended items off the start of p. The payload follows them. Those
// with a place of their own in rec go there. If the items do not fit the record, those that
// do are kept and the rest is the payload.
func (f *filler) fillExtended(rec *etw.Record, p []byte) {
	for len(p) >= itemHeaderSize {
		typ := etw.ExtendedType(binary.LittleEndian.Uint16(p[2:]))
		linked := p[4]&itemLinked != 0
		size := int(binary.LittleEndian.Uint16(p[6:]))
		if size > len(p)-itemHeaderSize {
			break
		}
		data := p[itemHeaderSize : itemHeaderSize+size : itemHeaderSize+size]
		if keep := extended.Take(rec, typ, data); keep {
			f.items = append(f.items, etw.ExtendedItem{Type: typ, Data: data})
		}
		p = p[min((itemHeaderSize+size+7)&^7, len(p)):]
		if !linked {
			break
		}
	}
	rec.Payload = p
	if len(f.items) > 0 {
		rec.Extended = f.items
	}
}
