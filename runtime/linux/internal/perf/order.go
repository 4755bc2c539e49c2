package perf

import sorting "github.com/etwgen/etwgen/internal/order"

// An order puts the records of several rings in the order of time. When the rings are read
// a second time, all that was written before the first time is there.
type order struct {
	held  []Record
	begun int64 // when the rings were read last
}

// round delivers, in their order, the records that nothing can come before any more. Now is
// when the reading of the rings began.
func (o *order) round(now int64, deliver func(*Record)) {
	limit := o.begun
	o.begun = now
	o.deliver(limit, deliver)
}

// rest delivers all that is held.
func (o *order) rest(deliver func(*Record)) { o.deliver(1<<63-1, deliver) }

func (o *order) deliver(limit int64, deliver func(*Record)) {
	sorting.ByKey(o.held, func(r *Record) uint64 { return uint64(max(r.Time, 0)) })
	n := 0
	for n < len(o.held) && o.held[n].Time < limit {
		deliver(&o.held[n])
		n++
	}
	left := copy(o.held, o.held[n:])
	clear(o.held[left:])
	o.held = o.held[:left]
}
