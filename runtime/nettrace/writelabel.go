package nettrace

import (
	"encoding/binary"
	"fmt"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace/internal/layout"
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

// of returns the number of the list with the facts of a record beyond the metadata of its
// kind k. That of none is 0.
func (t *labelTable) of(rec *etw.Record, k *writtenKind) (uint32, error) {
	t.list, t.at, t.n = t.list[:0], -1, 0
	if !rec.ActivityID.IsZero() {
		t.label(layout.LabelActivity, rec.ActivityID[:])
	}
	if !rec.RelatedActivityID.IsZero() {
		t.label(layout.LabelRelated, rec.RelatedActivityID[:])
	}
	for _, item := range rec.Extended {
		t.item(item)
	}
	b := &k.base
	if rec.Opcode != b.Opcode {
		t.label(layout.LabelOpcode, []byte{byte(rec.Opcode)})
	}
	if rec.Keywords != b.Keywords {
		t.label(layout.LabelKeywords, binary.LittleEndian.AppendUint64(nil, rec.Keywords))
	}
	if rec.Level != b.Level {
		t.label(layout.LabelLevel, []byte{byte(rec.Level)})
	}
	if rec.Version != b.Version {
		t.label(layout.LabelVersion, []byte{rec.Version})
	}
	switch {
	case t.n == 0:
		return 0, nil
	case len(t.list) > maxPayload:
		return 0, fmt.Errorf("nettrace: labels of %d bytes are longer than %d: %w", len(t.list), maxPayload, ErrTooLong)
	}
	t.list[t.at] |= layout.LabelLast
	number, ok := t.numbers[string(t.list)]
	if !ok {
		number = t.first + t.count
		t.numbers[string(t.list)] = number
		t.pending = append(t.pending, t.list...)
		t.count++
		t.items += 1 + t.n
	}
	return number, nil
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
		t.label(layout.LabelTraceID, item.Data)
	case item.Type == ExtSpanID && len(item.Data) == 8:
		t.label(layout.LabelSpanID, item.Data)
	case item.Type == ExtLabel || item.Type == ExtLabelInt:
		name, value, ok := ParseLabel(item)
		if !ok {
			return
		}
		b := layout.AppendText(nil, name)
		switch v := value.(type) {
		case string:
			t.label(layout.LabelText, layout.AppendText(b, v))
		case int64:
			t.label(layout.LabelInt, binary.AppendVarint(b, v))
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
	w.writeBlock(layout.KindLabels, append(b, t.pending...))
	t.first += t.count
	t.count, t.pending = 0, t.pending[:0]
}
