package perfdata

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"
)

// near reports whether b is a text, of which one byte may be another.
func near(b []byte, text string) bool {
	wrong := 0
	for i := range text {
		if b[i] != text[i] {
			wrong++
		}
	}
	return wrong <= 1
}

// sections are what the header of a file says of it.
type sections struct {
	each        int64 // bytes of an entry of the table of events
	attrs, data section
	features    int64 // how many there are
}

func (r *Reader) sections(head []byte) sections {
	at := func(i int) section {
		return section{int64(r.order.Uint64(head[i:])), int64(r.order.Uint64(head[i+8:]))}
	}
	s := sections{each: int64(r.order.Uint64(head[16:])), attrs: at(24), data: at(40)}
	for i := bitmapAt; i < headerSize; i += 8 {
		s.features += int64(bits.OnesCount64(r.order.Uint64(head[i:])))
	}
	return s
}

// table is where the places of features are.
func (s *sections) table() int64 { return s.data.offset + s.data.size }

// isSound reports whether the parts of the header fit each other as perf writes them: the table of
// events lies before the data, each event with its own size, and those of features behind them.
func (r *Reader) isSound(s sections) bool {
	if s.each < attrLeast+idsSize || s.attrs.size < s.each || s.attrs.offset < headerSize || s.attrs.offset > r.size || s.attrs.size%s.each != 0 ||
		s.attrs.offset+s.attrs.size != s.data.offset || s.data.size < 0 || s.data.size > r.size-s.data.offset {
		return false
	}
	var size [4]byte
	if _, err := r.src.ReadAt(size[:], s.attrs.offset+4); err != nil || int64(r.order.Uint32(size[:])) != s.each-idsSize {
		return false
	}
	return s.features == 0 || r.tableEnd(s, s.table()) >= 0
}

// fills reports whether the parts are sound, and the last of them ends with the file: bytes that
// came into the data look like a wrong bit of their size, but for that.
func (r *Reader) fills(s sections) bool {
	return r.isSound(s) && (s.features == 0 || r.tableEnd(s, s.table()) == r.size)
}

// spare is how many features more there is room for, at most: perf leaves out those that it cannot
// write.
const spare = 16

// tableEnd returns where by the places of features, if they are at an offset, the file ends, and -1 if
// they are not: they follow one another, from behind the table that the header tells of.
func (r *Reader) tableEnd(s sections, at int64) int64 {
	b := make([]byte, 16*s.features)
	if _, err := r.src.ReadAt(b, at); err != nil {
		return -1
	}
	first := int64(r.order.Uint64(b))
	if room := first - s.table() - int64(len(b)); room < 0 || room > 16*spare || room%16 != 0 {
		return -1
	}
	next := first
	for ; len(b) > 0; b = b[16:] {
		if int64(r.order.Uint64(b)) != next {
			return -1
		}
		next += int64(r.order.Uint64(b[8:]))
	}
	return next
}

// repair undoes damage to the header, if only one bit of it makes it sound again. Else it sets how
// far the part behind the data was moved by bytes that came into them or went, if it was.
func (r *Reader) repair(head []byte) {
	s := r.sections(head)
	if !r.fills(s) && r.repairBitmap(head) {
		s = r.sections(head)
	}
	if r.isSound(s) {
		if s.features > 0 {
			if end := r.tableEnd(s, s.table()); end >= 0 {
				r.endsAt(end)
			}
		}
		return
	}
	found := -1
	for bit := 16 * 8; bit < bitmapAt*8; bit++ {
		head[bit/8] ^= 1 << (bit % 8)
		if r.fills(r.sections(head)) {
			if found >= 0 {
				found = -2
			} else if found == -1 {
				found = bit
			}
		}
		head[bit/8] ^= 1 << (bit % 8)
	}
	if found >= 0 {
		head[found/8] ^= 1 << (found % 8)
		r.damage(int64(found/8), "header", fmt.Errorf("bit %d is not as the rest of the header needs it", found%8))
		return
	}
	if s.data.size <= 0 || s.data.offset < headerSize || s.table() < 0 || s.features == 0 {
		return
	}
	const far = 1 << 20
	from := max(s.data.offset, s.table()-far)
	window := make([]byte, max(0, min(2*far, r.size-from)))
	if _, err := r.src.ReadAt(window, from); err != nil && err != io.EOF {
		return
	}
	want := make([]byte, 8)
	for room := range int64(spare + 1) {
		r.order.PutUint64(want, uint64(s.table()+16*(s.features+room)))
		if i := bytes.LastIndex(window, want); i >= 0 && r.tableEnd(s, from+int64(i)) >= 0 {
			r.movesTo(&s, from+int64(i))
			return
		}
	}
}

// repairBitmap puts a bit right of those that say which features there are, and reports whether it did.
// There are as many as places then, and those that are known by their content have it: of several such
// bits it is the one by which most have, and the last, since those before stay as they are.
func (r *Reader) repairBitmap(head []byte) bool {
	best, most := 0, -1
	for bit := headerSize*8 - 1; bit >= bitmapAt*8; bit-- {
		head[bit/8] ^= 1 << (bit % 8)
		if s := r.sections(head); r.fills(s) {
			if n := r.fitting(s, head[bitmapAt:headerSize]); n > most {
				best, most = bit, n
			}
		}
		head[bit/8] ^= 1 << (bit % 8)
	}
	if most < 0 {
		return false
	}
	head[best/8] ^= 1 << (best % 8)
	r.damage(int64(best/8), "header", fmt.Errorf("bit %d is not as the features behind the data need it", best%8))
	return true
}

// sized are the features of a fixed size.
var sized = map[int]int64{featureProcessors: 8, 10: 8, featureTimes: 16, 23: 8, 24: 8, featurePacked: 20, featureClock: 24}

// fitting counts the features of a bitmap that have the content which they need. It is -1 if one has not.
func (r *Reader) fitting(s sections, bitmap []byte) (fit int) {
	table, begin := make([]byte, 16*s.features), make([]byte, 12)
	if _, err := r.src.ReadAt(table, s.table()); err != nil {
		return -1
	}
	for n := range features {
		if r.order.Uint64(bitmap[n/64*8:])>>(n%64)&1 == 0 {
			continue
		}
		if _, err := r.src.ReadAt(begin, int64(r.order.Uint64(table))); err != nil && err != io.EOF {
			return -1
		}
		size := int64(r.order.Uint64(table[8:]))
		table = table[16:]
		has := true
		switch n {
		case featureTracing:
			has = string(begin[:10]) == "\x17\x08\x44tracing"
		case featureHost, featureRelease, featurePerf, featureArch, featureCPU: // a text, behind its length
			has = int64(r.order.Uint32(begin))+4 == size
		case featureEvents:
			has = int64(r.order.Uint32(begin[4:])) == s.each-idsSize
		default:
			want, ok := sized[n]
			if !ok {
				continue
			}
			has = size == want
		}
		if !has {
			return -1
		}
		fit++
	}
	return fit
}

// movesTo takes that the places of features are at another offset. Bytes that came into the data, or
// went from them, moved the end of the file as well; else the table alone stands elsewhere.
func (r *Reader) movesTo(s *sections, at int64) {
	r.movedEnd = r.size - r.tableEnd(*s, at)
	switch moved := at - s.table(); {
	case moved == 0:
	case moved == r.movedEnd:
		r.moved = moved
		r.damage(s.data.offset, "data", fmt.Errorf("they have %d bytes more than the header says", moved))
	default:
		r.displaced = moved
		r.damage(at, "header", fmt.Errorf("the places of its parts are %d bytes behind the data", moved))
	}
}

// endsAt says if the file ends elsewhere than behind the last of its parts.
func (r *Reader) endsAt(end int64) {
	if r.movedEnd = r.size - end; r.movedEnd != 0 {
		r.damage(end, "header", fmt.Errorf("the file has %d bytes more than its parts", r.movedEnd))
	}
}

// magicOf returns the byte order of a file that begins with head, of which one byte of the magic
// number may be wrong.
func magicOf(head []byte) (order binary.ByteOrder, exact bool) {
	switch {
	case len(head) < 8:
	case near(head, magicLittle):
		return binary.LittleEndian, string(head[:8]) == magicLittle
	case near(head, magicBig):
		return binary.BigEndian, string(head[:8]) == magicBig
	}
	return nil, false
}
