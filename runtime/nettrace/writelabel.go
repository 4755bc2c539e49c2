package nettrace

import (
	"encoding/binary"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A labelTable numbers the lists of labels of version 6, each once between two
// sequence points.
type labelTable struct {
	numbers map[string]uint32
	items   int
	first   uint32 // number of the first list that is not in the stream yet
	count   uint32
	pending []byte
	list    []byte // room for one
	at      int    // where the last label of list begins
	n       int    // labels of list
}

func (t *labelTable) begin() {
	*t = labelTable{numbers: make(map[string]uint32), first: 1, pending: t.pending[:0], list: t.list}
}

// of returns the number of the list with what a record says beyond the metadata of
// its kind k. That of none is 0.
func (t *labelTable) of(rec *etw.Record, k *writtenKind) uint32 {
	t.list, t.at, t.n = t.list[:0], -1, 0
	if !rec.ActivityID.IsZero() {
		t.label(labelActivity, rec.ActivityID[:])
	}
	if !rec.RelatedActivityID.IsZero() {
		t.label(labelRelated, rec.RelatedActivityID[:])
	}
	for _, item := range rec.Extended {
		t.item(item)
	}
	b := &k.base
	if rec.Opcode != b.Opcode {
		t.label(labelOpcode, []byte{byte(rec.Opcode)})
	}
	if rec.Keywords != b.Keywords {
		t.label(labelKeywords, binary.LittleEndian.AppendUint64(nil, rec.Keywords))
	}
	if rec.Level != b.Level {
		t.label(labelLevel, []byte{byte(rec.Level)})
	}
	if rec.Version != b.Version {
		t.label(labelVersion, []byte{rec.Version})
	}
	if t.n == 0 {
		return 0
	}
	t.list[t.at] |= labelLast
	number, ok := t.numbers[string(t.list)]
	if !ok {
		number = t.first + t.count
		t.numbers[string(t.list)] = number
		t.pending = append(t.pending, t.list...)
		t.count++
		t.items += 1 + t.n
	}
	return number
}

// label appends a label.
func (t *labelTable) label(kind byte, data []byte) {
	t.at = len(t.list)
	t.list = append(append(t.list, kind), data...)
	t.n++
}

// item appends the label that an extended item is from, if it is from one.
func (t *labelTable) item(item etw.ExtendedItem) {
	switch {
	case item.Type == ExtTraceID && len(item.Data) == 16:
		t.label(labelTraceID, item.Data)
	case item.Type == ExtSpanID && len(item.Data) == 8:
		t.label(labelSpanID, item.Data)
	case item.Type == ExtLabel || item.Type == ExtLabelInt:
		name, value, ok := ParseLabel(item)
		if !ok {
			return
		}
		b := appendText(nil, name)
		switch v := value.(type) {
		case string:
			t.label(labelText, appendText(b, v))
		case int64:
			t.label(labelInt, binary.AppendVarint(b, v))
		}
	}
}

// flush writes the lists that are not in the stream yet.
func (t *labelTable) flush(w *Writer) {
	if t.count == 0 {
		return
	}
	b := binary.LittleEndian.AppendUint32(nil, t.first)
	b = binary.LittleEndian.AppendUint32(b, t.count)
	w.writeBlock(kindLabels, append(b, t.pending...))
	t.first += t.count
	t.count, t.pending = 0, t.pending[:0]
}
