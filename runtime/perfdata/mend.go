package perfdata

import (
	"fmt"
	"io"
	"time"

	"github.com/etwgen/etwgen/runtime/internal/perfevent"
)

// The types that records can be of: those of the kernel, of perf itself and of its like for
// Android, with room for what newer ones add.
const (
	lastOfKernel   = 47
	firstOfPerf    = 64
	lastOfPerf     = 111
	firstOfAndroid = 1 << 15
	lastOfAndroid  = firstOfAndroid + 255
)

// plausible returns the size of the record that begins with head, or why none can begin so.
func (r *Reader) plausible(head []byte) (size int, why error) {
	kind, size := r.order.Uint32(head), int(r.order.Uint16(head[6:]))
	switch {
	case size < perfevent.HeaderSize:
		return 0, fmt.Errorf("it says that it has %d bytes", size)
	case kind == 0 || kind > lastOfKernel && kind < firstOfPerf || kind > lastOfPerf && kind < firstOfAndroid || kind > lastOfAndroid:
		return size, fmt.Errorf("it says that it is of type %d, which there is not", kind)
	}
	return size, nil
}

// The last types that there are yet, of the kernel, of perf, and of its like for Android.
const (
	newestOfKernel  = 22
	newestOfPerf    = 84
	newestOfAndroid = firstOfAndroid + 8
)

// isStrange reports whether a record that has nothing for a Reader is of a type that nobody knows,
// or not as its type is: it may have been one of another type, before a bit of that was lost.
func (r *Reader) isStrange(b []byte) bool {
	const numbers, fault, threads, processors = 69, 72, 73, 74
	kind, p := r.order.Uint32(b), parts{order: r.order, b: b[perfevent.HeaderSize:]}
	switch kind {
	case numbers: // as many as it says, of one size or a larger one
		n := p.u64()
		return p.bad || n*32 != uint64(len(p.b)) && n*48 != uint64(len(p.b))
	case fault:
		return p.u32() > 8 || p.bad // its kind
	case threads:
		return p.u64()*24 != uint64(len(p.b)) || p.bad
	case processors:
		return p.order.Uint16(p.take(8)) > 2 || p.bad // the form of the list
	}
	return kind > newestOfKernel && kind <= lastOfKernel || kind > newestOfPerf && kind <= lastOfPerf || kind > newestOfAndroid
}

// row is how many records in a row, or at the end of the data less, are no accident.
const row = 3

// mend says that there is no record where one should be, and goes on at the next place that has
// a row of them. The record before may be to blame, by its size: so the search begins within it,
// for as long as what is read twice is no more than the data.
func (r *Reader) mend(why error) error {
	r.doubt()
	from := r.at + 1
	if back := r.at - r.before; r.before > 0 && r.again+back <= r.data.size {
		from = r.before + perfevent.HeaderSize
		r.again += back
	}
	at, err := r.search(from)
	if err != nil {
		return r.broken(err)
	}
	if at < 0 {
		r.damaged(why.Error() + ", and there is no record behind it: nothing is read from here on")
		return r.finish()
	}
	r.damaged(fmt.Sprintf("%v: the next one that is found is at byte %d", why, at))
	return r.seek(at)
}

// settle takes that the last record is one, as another follows.
func (r *Reader) settle() {
	if n := r.waits; n > 0 {
		r.waits = 0
		r.rounds.add(r.waiting, n, r.flush)
	}
}

// doubt takes that none follows the last record. If bytes of others are in it, its time tells: such
// a record is left out, as one of it would move all that has the time of the first, or of the last.
func (r *Reader) doubt() {
	if t := r.waiting.Time; r.waits > 0 && (t == 0 && r.rounds.first > 0 || !r.isTimely(t)) {
		r.waits = 0
		r.damaged(fmt.Sprintf("the one before has a time that is none of the recording, %d", t))
	}
	r.settle()
}

// isTimely reports whether a record beside damage can be of a time: by the samples that the header
// tells of, or else by the records before.
func (r *Reader) isTimely(t int64) bool {
	switch {
	case t == 0:
		return true // perf itself wrote it
	case r.firstSample > 0 && r.lastSample >= r.firstSample:
		return t > r.firstSample-int64(time.Minute) && t-int64(time.Minute) < r.lastSample
	case r.rounds.last > 0:
		return t > r.rounds.last-int64(time.Hour) && t-int64(time.Hour) < r.rounds.last
	}
	return t > 0
}

// seek goes on reading at an offset.
func (r *Reader) seek(at int64) error {
	r.at, r.before = at, 0
	r.in.Reset(io.NewSectionReader(r.src, at, r.data.offset+r.data.size-at))
	return nil
}

// search returns where the next row of records begins, -1 if nowhere.
func (r *Reader) search(from int64) (int64, error) {
	const most = 1 << 16
	end := r.data.offset + r.data.size
	window := make([]byte, 4*most) // of it the last three quarters are room for a row
	for at := from; at < end; {
		n, err := r.src.ReadAt(window[:min(int64(len(window)), end-at)], at)
		if err != nil && err != io.EOF {
			return -1, err
		}
		last := at+int64(n) >= end || n < len(window)
		for i := int64(0); i < int64(n) && (i < most || last); i++ { // bytes that came in or went leave nothing aligned
			if r.isRow(window[i:n], last) {
				return at + i, nil
			}
		}
		if last {
			break
		}
		at += most
	}
	return -1, nil
}

// isRow reports whether b begins with a row of records, each as long as its type needs. At the end
// of the data, two suffice.
func (r *Reader) isRow(b []byte, last bool) bool {
	for n := 0; n < row; n++ {
		if len(b) == 0 && last {
			return n == row-1
		}
		if len(b) < perfevent.HeaderSize {
			return false
		}
		size, why := r.plausible(b)
		isKernel := r.order.Uint32(b) <= lastOfKernel // which writes a multiple of 8
		if why != nil || size > len(b) || isKernel && size%8 != 0 {
			return false
		}
		if isKernel && len(r.events) > 0 {
			if h, ok := r.parse(b[:size]); !ok || h.Extra > 0 || !r.isTimely(h.Time) {
				return false
			}
		}
		b = b[size:]
	}
	return true
}
