package file

import (
	"bytes"
	"encoding/binary"
	"math"
	"unicode/utf8"
)

// maxBound is the length of texts that are kept as bounds; longer ones are cut.
const maxBound = 64

// A bound is the least or the greatest value of a column, in plain form. One that is not
// exact is less than all values, or greater.
type bound struct {
	value []byte
	exact bool
}

// bounds returns between which values those of a column lie, or false of one without values,
// or where no value is greater than the greatest and short enough.
func (l *Leaf) bounds() (low, high bound, ok bool) {
	switch {
	case l.values() == 0:
		return low, high, false
	case l.typ.isBytes():
		return l.textBounds()
	case l.typ == Float || l.typ == Double:
		return l.realBounds()
	}
	least, most := l.nums[0], l.nums[0]
	signed := l.typ != Bool && (l.typ > Uint64 || integers[l.typ].signed)
	for _, v := range l.nums {
		if signed {
			least, most = uint64(min(int64(least), int64(v))), uint64(max(int64(most), int64(v)))
		} else {
			least, most = min(least, v), max(most, v)
		}
	}
	if l.typ == Bool {
		return bound{[]byte{byte(least)}, true}, bound{[]byte{byte(most)}, true}, true
	}
	return bound{l.appendPlain(nil, least), true}, bound{l.appendPlain(nil, most), true}, true
}

// textBounds returns the bounds of texts and bytes.
func (l *Leaf) textBounds() (low, high bound, ok bool) {
	least, most := l.dict.at(0), l.dict.at(0)
	for i := range l.dict.ends {
		p := l.dict.at(uint32(i))
		if bytes.Compare(p, least) < 0 {
			least = p
		}
		if bytes.Compare(p, most) > 0 {
			most = p
		}
	}
	low, high = bound{least, true}, bound{most, true}
	if len(least) > maxBound {
		low = bound{cutText(least, l.typ), false}
	}
	if len(most) > maxBound {
		high = bound{after(cutText(most, l.typ), l.typ), false}
	}
	return low, high, high.exact || len(high.value) > 0
}

// cutText returns the begin of p, which text is in whole characters.
func cutText(p []byte, t Type) []byte {
	n := maxBound
	for t == Text && n > maxBound-utf8.UTFMax && !utf8.RuneStart(p[n]) {
		n--
	}
	return p[:n]
}

// after returns the least value that is no longer than p and greater than all that begin
// with p, or nothing.
func after(p []byte, t Type) []byte {
	for len(p) > 0 {
		last, size := rune(p[len(p)-1]), 1
		most := rune(0xff)
		if t == Text {
			last, size = utf8.DecodeLastRune(p)
			most = utf8.MaxRune
		}
		p = p[: len(p)-size : len(p)-size]
		if last++; last > most {
			continue
		}
		if t != Text {
			return append(p, byte(last))
		}
		if !utf8.ValidRune(last) { // the halves of pairs
			last = 0xe000
		}
		return utf8.AppendRune(p, last)
	}
	return nil
}

// realBounds returns the bounds of numbers with a fraction. NaN is left out, and zero is
// below and above itself, as the format has it.
func (l *Leaf) realBounds() (low, high bound, ok bool) {
	least, most := math.Inf(1), math.Inf(-1)
	for _, v := range l.nums {
		f := math.Float64frombits(v)
		if l.typ == Float {
			f = float64(math.Float32frombits(uint32(v)))
		}
		if math.IsNaN(f) {
			continue
		}
		least, most, ok = min(least, f), max(most, f), true
	}
	if least == 0 {
		least = math.Copysign(0, -1)
	}
	if most == 0 {
		most = 0
	}
	return bound{l.plainReal(least), true}, bound{l.plainReal(most), true}, ok
}

func (l *Leaf) plainReal(f float64) []byte {
	if l.typ == Float {
		return binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(f)))
	}
	return binary.LittleEndian.AppendUint64(nil, math.Float64bits(f))
}

// rises reports whether the values of a column are in order, and none is missing.
func (l *Leaf) rises() bool {
	if l.typ.isBytes() || l.values() < l.n {
		return false
	}
	for i := 1; i < len(l.nums); i++ {
		if int64(l.nums[i]) < int64(l.nums[i-1]) {
			return false
		}
	}
	return true
}
