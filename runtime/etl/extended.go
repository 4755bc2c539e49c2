package etl

import (
	"encoding/binary"

	"github.com/etwgen/etwgen/runtime/etw"
)

// An extended item begins with 8 bytes: a reserved uint16, its type, flags of
// which the lowest says that another item follows, and the size of its data.
const (
	itemHeaderSize = 8
	itemLinked     = 1
)

// fillExtended takes the extended items off the start of p. What follows them is
// the payload. The related activity and the call stack have their own places in
// rec; a stack of which the item holds only a part, to be matched with another,
// stays an item as well. If the items do not fit the record, those that do are
// kept and the rest is the payload.
func (f *filler) fillExtended(rec *etw.Record, p []byte) {
	for len(p) >= itemHeaderSize {
		typ := etw.ExtendedType(binary.LittleEndian.Uint16(p[2:]))
		linked := p[4]&itemLinked != 0
		size := int(binary.LittleEndian.Uint16(p[6:]))
		if size > len(p)-itemHeaderSize {
			break
		}
		data := p[itemHeaderSize : itemHeaderSize+size : itemHeaderSize+size]
		if keep := takeItem(rec, typ, data); keep {
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

// takeItem puts an item in its own place in rec, and reports whether it is to
// be kept as an item.
func takeItem(rec *etw.Record, typ etw.ExtendedType, data []byte) (keep bool) {
	switch typ {
	case etw.ExtRelatedActivityID:
		if len(data) >= 16 {
			rec.RelatedActivityID = etw.GUID(data[:16])
			return false
		}
	case etw.ExtStack32, etw.ExtStack64:
		if len(data) < 8 || rec.Stack.Addresses != nil {
			return true
		}
		rec.Stack = etw.Stack{Addresses: data[8:], PtrSize: etw.Ptr64}
		if typ == etw.ExtStack32 {
			rec.Stack.PtrSize = etw.Ptr32
		}
		return binary.LittleEndian.Uint64(data) != 0
	}
	return true
}
