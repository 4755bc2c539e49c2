package symbols

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/etwgen/etwgen/analysis/internal/hear"
	"github.com/etwgen/etwgen/analysis/internal/when"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/clr/rundown"
	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A mapKey identifies a compiled method. Its parts have one map each.
type mapKey struct {
	id     uint64
	rejit  uint32
	extent uint8
}

// A mapStore keeps maps from native offsets to IL offsets, as differences in few
// bytes: most of them are never asked for. Of several maps of a key, which tiers of
// compilation write, all are kept, the last first.
type mapStore struct {
	last map[mapKey]uint32 // from 1 on
	all  []storedMap
}

type storedMap struct {
	data []byte
	at   int64
	next uint32 // the one before, of the same key
}

// A mapEntry says from which native offset on the code is of an IL offset. Negative ones are
// of no IL: the prologue, the epilogue, and code without a mapping of its own.
type mapEntry struct {
	native uint32
	il     int32
}

// maxMapEntries is far more than compiled methods have.
const maxMapEntries = 1 << 16

func (a *Analysis) handleMaps(mux *etw.Mux) {
	hear.On(mux, func(r *etw.Record, e *clr.AnyMethodILToNativeMap) {
		a.learnMap(r, mapKey{e.MethodID, uint32(e.ReJITID), uint8(e.MethodExtent)}, e.ILOffsets, e.NativeOffsets)
	})
	hear.On(mux, func(r *etw.Record, e *rundown.AnyMethodDCEndILToNativeMap) {
		a.learnMap(r, mapKey{e.MethodID, uint32(e.ReJITID), uint8(e.MethodExtent)}, e.ILOffsets, e.NativeOffsets)
	})
	hear.On(mux, func(r *etw.Record, e *rundown.AnyMethodDCStartILToNativeMap) {
		a.learnMap(r, mapKey{e.MethodID, uint32(e.ReJITID), uint8(e.MethodExtent)}, e.ILOffsets, e.NativeOffsets)
	})
}

func (a *Analysis) learnMap(r *etw.Record, key mapKey, il, native etw.Uint32s) {
	n := min(il.Len(), native.Len(), maxMapEntries)
	if n == 0 {
		return
	}
	var data []byte
	var last mapEntry
	for i := range n {
		e := mapEntry{native.At(i), int32(il.At(i))}
		data = binary.AppendVarint(data, int64(e.native)-int64(last.native))
		data = binary.AppendVarint(data, int64(e.il)-int64(last.il))
		last = e
	}
	s := &a.process(r).maps
	if s.last == nil {
		s.last = make(map[mapKey]uint32)
	}
	s.all = append(s.all, storedMap{slices.Clip(data), when.Of(r), s.last[key]})
	s.last[key] = uint32(len(s.all))
}

// maxTiers bounds how many maps of one method are looked at.
const maxTiers = 64

// nearest returns the map of a key that was written nearest to a time: with the
// code that it is of.
func (s *mapStore) nearest(key mapKey, at int64) []mapEntry {
	var best *storedMap
	for i, n := s.last[key], 0; i != 0 && n < maxTiers; n++ {
		m := &s.all[i-1]
		if best == nil || distance(m.at, at) < distance(best.at, at) {
			best = m
		}
		i = m.next
	}
	if best == nil {
		return nil
	}
	var list []mapEntry
	var last mapEntry
	for data := best.data; len(data) > 0; {
		native, n := binary.Varint(data)
		il, k := binary.Varint(data[n:])
		data = data[n+k:]
		last = mapEntry{uint32(int64(last.native) + native), int32(int64(last.il) + il)}
		list = append(list, last)
	}
	order.Stable(list, func(a, b mapEntry) int { return cmp.Compare(a.native, b.native) })
	return list
}

// distance returns how far two times are apart.
func distance(a, b int64) uint64 {
	if a > b {
		a, b = b, a
	}
	return uint64(b) - uint64(a)
}

// offset returns the IL offset that a native offset is of: that of the last entry with
// IL at or before it, or the start of the method if there is none. It reports whether
// there is a map.
func offset(list []mapEntry, native uint32) (il int, ok bool) {
	for _, e := range list {
		if e.native > native {
			break
		}
		if e.il >= 0 {
			il = int(e.il)
		}
	}
	return il, len(list) > 0
}
