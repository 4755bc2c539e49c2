package nettrace

import (
	"encoding/binary"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace/internal/layout"
)

// The types of extended items that records of version 6 may have.
const (
	// ExtTraceID is the trace id of W3C trace context: 16 bytes in the order in
	// which it is printed.
	ExtTraceID etw.ExtendedType = 0x100 + iota
	// ExtSpanID is the span id of W3C trace context, 8 bytes.
	ExtSpanID
	// ExtLabel is a name and a text: see [ParseLabel].
	ExtLabel
	// ExtLabelInt is a name and an integer: see [ParseLabel].
	ExtLabelInt
)

// A labelList is the values that version 6 attaches to an event: ids, texts, and values that
// take the place of those of the metadata.
type labelList struct {
	activity, related etw.GUID
	items             []etw.ExtendedItem

	overrides uint16 // a bit for each kind of label that there is
	opcode    etw.Opcode
	level     etw.Level
	version   uint8
	keywords  uint64
}

// labels holds the lists that events refer to by number. A sequence point
// forgets them.
type labels struct {
	at    table[*labelList]
	items int    // lists and labels
	next  uint64 // the number after the highest one
}

func (l *labels) reset() {
	l.at.reset()
	l.items, l.next = 0, 0
}

// add reads a label block: the number of the first list, the number of lists,
// and the lists.
func (l *labels) add(b []byte) error {
	c := layout.Cursor{B: b}
	first, n := c.U32(), c.U32()
	for i := range n {
		list, err := readLabels(&c)
		if err == nil && c.Bad {
			err = layout.Damaged("it does not fit")
		}
		if err != nil {
			return layout.Damaged("label list %d of %d: %v", i, n, err)
		}
		if l.items += 1 + len(list.items); l.items > maxItems {
			return layout.Damaged("there are more labels than the reader keeps")
		}
		number := uint64(first) + uint64(i)
		l.at.put(number, list)
		l.next = max(l.next, number+1)
	}
	if c.Left() > 0 {
		return layout.Damaged("%d bytes follow the last label list", c.Left())
	}
	return nil
}

func readLabels(c *layout.Cursor) (*labelList, error) {
	l := new(labelList)
	for {
		kind := etw.Opcode(c.U8())
		if c.Bad {
			return l, nil
		}
		k := kind &^ layout.LabelLast
		switch k {
		case layout.LabelActivity:
			l.activity = c.GUID()
		case layout.LabelRelated:
			l.related = c.GUID()
		case layout.LabelTraceID:
			l.item(ExtTraceID, c.Bytes(16))
		case layout.LabelSpanID:
			l.item(ExtSpanID, c.Bytes(8))
		case layout.LabelText:
			key, value := c.Vstr(), c.Vstr()
			l.item(ExtLabel, appendLabel(nil, key, value))
		case layout.LabelInt:
			key, value := c.Vstr(), c.Svar()
			l.item(ExtLabelInt, binary.LittleEndian.AppendUint64(appendLabel(nil, key, ""), uint64(value)))
		case layout.LabelOpcode:
			l.opcode = etw.Opcode(c.U8())
		case layout.LabelKeywords:
			l.keywords = c.U64()
		case layout.LabelLevel:
			l.level = etw.Level(c.U8())
		case layout.LabelVersion:
			l.version = c.U8()
		default:
			// An unknown label has no length, so nothing after it can be read.
			return nil, layout.Damaged("label kind %d", k)
		}
		l.overrides |= 1 << k & layout.LabelOverrides
		if kind&layout.LabelLast != 0 {
			return l, nil
		}
	}
}

// item adds an item, unless there are more than any list needs.
func (l *labelList) item(t etw.ExtendedType, data []byte) {
	if len(l.items) == maxKeys {
		return
	}
	l.items = append(l.items, etw.ExtendedItem{Type: t, Data: append([]byte(nil), data...)})
}

// appendLabel appends the bytes of an [ExtLabel]: the length of the name, the
// name and the text.
func appendLabel(b []byte, key, value string) []byte {
	b = binary.AppendUvarint(b, uint64(len(key)))
	b = append(b, key...)
	return append(b, value...)
}

// ParseLabel returns the name and the value, a string or an int64, of an
// extended item of type [ExtLabel] or [ExtLabelInt].
func ParseLabel(item etw.ExtendedItem) (name string, value any, ok bool) {
	n, size := binary.Uvarint(item.Data)
	if size <= 0 || n > uint64(len(item.Data)-size) {
		return "", nil, false
	}
	name, rest := string(item.Data[size:size+int(n)]), item.Data[size+int(n):]
	switch {
	case item.Type == ExtLabel:
		return name, string(rest), true
	case item.Type == ExtLabelInt && len(rest) == 8:
		return name, int64(binary.LittleEndian.Uint64(rest)), true
	}
	return "", nil, false
}

// apply sets the values of a label list in a record.
func (l *labelList) apply(rec *etw.Record) {
	rec.ActivityID, rec.RelatedActivityID, rec.Extended = l.activity, l.related, l.items
	if l.overrides == 0 {
		return
	}
	if l.overrides&(1<<layout.LabelOpcode) != 0 {
		rec.Opcode = l.opcode
	}
	if l.overrides&(1<<layout.LabelKeywords) != 0 {
		rec.Keywords = l.keywords
	}
	if l.overrides&(1<<layout.LabelLevel) != 0 {
		rec.Level = l.level
	}
	if l.overrides&(1<<layout.LabelVersion) != 0 {
		rec.Version = l.version
	}
}
