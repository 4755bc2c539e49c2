package file

import (
	"encoding/binary"
	"slices"
)

// A Leaf is a column with the values of the rows that are not written yet.
//
// A value comes with two levels. The repetition level is 0 for the first value of a
// row, and otherwise the number of the list, counted from the outside, that it goes
// on. The definition level says how far the path to the value is there: it is that
// of the column for a value, and less for a null.
type Leaf struct {
	typ    Type
	path   []string
	maxDef uint8
	maxRep uint8

	n     int      // levels
	nums  []uint64 // the values, of numbers
	texts []uint32 // the values, of bytes: their numbers in dict
	dict  dictionary
	defs  []uint8 // empty as long as there is no null
	reps  []uint8
}

// level adds the levels of a value.
func (l *Leaf) level(rep, def uint8) {
	if l.maxRep > 0 {
		l.reps = append(l.reps, rep)
		l.defs = append(l.defs, def)
	} else if def != l.maxDef || len(l.defs) > 0 {
		l.levelAfterNull(def)
	}
	l.n++
}

func (l *Leaf) levelAfterNull(def uint8) {
	for len(l.defs) < l.n {
		l.defs = append(l.defs, l.maxDef)
	}
	l.defs = append(l.defs, def)
}

// Number adds a number.
func (l *Leaf) Number(v uint64, rep uint8) {
	l.level(rep, l.maxDef)
	l.nums = append(l.nums, v)
}

// Text adds bytes, of which it makes a copy.
func (l *Leaf) Text(p []byte, rep uint8) {
	l.level(rep, l.maxDef)
	if n := len(l.texts); n > 0 { // most often it is that of the row before
		if last := l.texts[n-1]; string(l.dict.at(last)) == string(p) {
			l.texts = append(l.texts, last)
			return
		}
	}
	l.texts = append(l.texts, l.dict.number(p))
}

// Repeat adds the same bytes n times to a column that is in no list.
func (l *Leaf) Repeat(p []byte, n int64) {
	l.texts = slices.Grow(l.texts, int(n))
	for range n {
		l.Text(p, 0)
	}
}

// RepeatNull adds n nulls that stand in nothing else.
func (l *Leaf) RepeatNull(n int64) {
	l.defs = slices.Grow(l.defs, int(n)+l.n-len(l.defs))
	if l.maxRep > 0 {
		l.reps = slices.Grow(l.reps, int(n))
	}
	for range n {
		l.Null(0, 0)
	}
}

// Null adds a null, that goes so far.
func (l *Leaf) Null(rep, def uint8) { l.level(rep, def) }

// memory returns how many bytes the column holds.
func (l *Leaf) memory() int {
	return 8*cap(l.nums) + 4*cap(l.texts) + cap(l.defs) + cap(l.reps) + l.dict.memory()
}

// reset forgets all values. It keeps the memory, or not.
func (l *Leaf) reset(keep bool) {
	l.n = 0
	if !keep {
		l.nums, l.texts, l.defs, l.reps, l.dict = nil, nil, nil, nil, dictionary{}
		return
	}
	l.nums, l.texts, l.defs, l.reps = l.nums[:0], l.texts[:0], l.defs[:0], l.reps[:0]
	l.dict.reset()
}

// values returns how many values the column has.
func (l *Leaf) values() int { return len(l.nums) + len(l.texts) }

// appendPlain appends number v as the format has it without an encoding.
func (l *Leaf) appendPlain(b []byte, v uint64) []byte {
	switch l.typ.physical() {
	case physicalInt32, physicalFloat:
		return binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	return binary.LittleEndian.AppendUint64(b, v)
}

// appendPlainText appends bytes as the format has them without an encoding.
func (l *Leaf) appendPlainText(b, p []byte) []byte {
	if l.typ != UUID {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(p)))
	}
	return append(b, p...)
}
