package nettrace

import (
	"encoding/binary"

	"github.com/etwgen/etwgen/runtime/etw"
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

// The kinds of labels. The last label of a list has labelLast set.
const (
	labelActivity  = 1
	labelRelated   = 2
	labelTraceID   = 3
	labelSpanID    = 4
	labelText      = 5
	labelInt       = 6
	labelOpcode    = 7
	labelKeywords  = 8
	labelLevel     = 9
	labelVersion   = 10
	labelLast      = 0x80
	labelOverrides = 1<<labelOpcode | 1<<labelKeywords | 1<<labelLevel | 1<<labelVersion
)

// A labelList is what version 6 attaches to an event: ids, texts, and values
// that take the place of those of the metadata.
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
	c := cursor{b: b}
	first, n := c.u32(), c.u32()
	for i := range n {
		list, err := readLabels(&c)
		if err == nil && c.bad {
			err = damaged("it does not fit")
		}
		if err != nil {
			return damaged("label list %d of %d: %v", i, n, err)
		}
		if l.items += 1 + len(list.items); l.items > maxItems {
			return damaged("there are more labels than the reader keeps")
		}
		number := uint64(first) + uint64(i)
		l.at.put(number, list)
		l.next = max(l.next, number+1)
	}
	if c.left() > 0 {
		return damaged("%d bytes follow the last label list", c.left())
	}
	return nil
}

func readLabels(c *cursor) (*labelList, error) {
	l := new(labelList)
	for {
		kind := etw.Opcode(c.u8())
		if c.bad {
			return l, nil
		}
		k := kind &^ labelLast
		switch k {
		case labelActivity:
			l.activity = c.guid()
		case labelRelated:
			l.related = c.guid()
		case labelTraceID:
			l.item(ExtTraceID, c.bytes(16))
		case labelSpanID:
			l.item(ExtSpanID, c.bytes(8))
		case labelText:
			key, value := c.vstr(), c.vstr()
			l.item(ExtLabel, appendLabel(nil, key, value))
		case labelInt:
			key, value := c.vstr(), c.svar()
			l.item(ExtLabelInt, binary.LittleEndian.AppendUint64(appendLabel(nil, key, ""), uint64(value)))
		case labelOpcode:
			l.opcode = etw.Opcode(c.u8())
		case labelKeywords:
			l.keywords = c.u64()
		case labelLevel:
			l.level = etw.Level(c.u8())
		case labelVersion:
			l.version = c.u8()
		default:
			// An unknown label has no length, so nothing after it can be read.
			return nil, damaged("label kind %d", k)
		}
		l.overrides |= 1 << k & labelOverrides
		if kind&labelLast != 0 {
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

// apply sets what a label list says in a record.
func (l *labelList) apply(rec *etw.Record) {
	rec.ActivityID, rec.RelatedActivityID, rec.Extended = l.activity, l.related, l.items
	if l.overrides == 0 {
		return
	}
	if l.overrides&(1<<labelOpcode) != 0 {
		rec.Opcode = l.opcode
	}
	if l.overrides&(1<<labelKeywords) != 0 {
		rec.Keywords = l.keywords
	}
	if l.overrides&(1<<labelLevel) != 0 {
		rec.Level = l.level
	}
	if l.overrides&(1<<labelVersion) != 0 {
		rec.Version = l.version
	}
}
