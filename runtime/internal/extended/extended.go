// Package extended knows which extended items of a record have a place of their own in
// [etw.Record].
package extended

import (
	"encoding/binary"

	"github.com/etwgen/etwgen/runtime/etw"
)

// Take puts an item in its own place in rec, and reports whether it is to be kept as an
// item: the related activity and the call stack have places. A stack of which the item
// holds only a part, to be matched with another, stays an item as well.
func Take(rec *etw.Record, typ etw.ExtendedType, data []byte) (keep bool) {
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
