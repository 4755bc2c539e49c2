package etl

import (
	"cmp"
	"math"

	"github.com/etwgen/etwgen/internal/order"
)

// A bufferRef is where a buffer lies, and its key among the others.
type bufferRef struct {
	pos       int64
	first     int64 // key of its first record
	sequence  int64
	size      uint32 // bytes in the file, with the header
	extent    uint32 // bytes without compression, with the header
	least     uint32 // what the extent may be as well, if it is not 0
	file      uint16
	processor uint16

	compressed bool
	doubtful   bool // buffers of its type have no records
	cut        bool // the end of the file cuts it off
	hasFirst   bool // first is known
}

// compareStream orders buffers by file, processor and sequence: those of one
// stream as they were filled.
func compareStream(a, b *bufferRef) int {
	return cmp.Or(
		cmp.Compare(a.file, b.file),
		cmp.Compare(a.processor, b.processor),
		cmp.Compare(a.sequence, b.sequence),
		cmp.Compare(a.pos, b.pos))
}

// plan puts the buffers of all files in the order in which a merge by time needs them.
// declared is the size of one buffer for each processor.
func plan(files []*file) (all []bufferRef, declared int64) {
	for i, f := range files {
		for j := range f.buffers {
			ref := &f.buffers[j]
			ref.file = uint16(i)
			if ref.hasFirst {
				ref.first = f.key(ref.first)
			}
		}
		if len(files) == 1 {
			all = f.buffers
		} else {
			all = append(all, f.buffers...)
		}
		f.buffers = nil
	}
	order.Sort(all, func(a, b bufferRef) int { return compareStream(&a, &b) })
	inherit(all)
	for i := range all {
		if i == 0 || all[i].file != all[i-1].file || all[i].processor != all[i-1].processor {
			declared += int64(files[all[i].file].limit)
		}
	}
	order.Stable(all, func(a, b bufferRef) int { return cmp.Compare(a.first, b.first) })
	return all, declared
}

// inherit gives a buffer whose first record has no time that of the buffer
// before it in its stream. Without one, the buffer comes before all others.
func inherit(all []bufferRef) {
	for i := range all {
		b := &all[i]
		switch {
		case b.hasFirst:
		case i > 0 && all[i-1].file == b.file && all[i-1].processor == b.processor:
			b.first = all[i-1].first
		default:
			b.first = math.MinInt64
		}
	}
}
