package nettrace

import (
	"bytes"
	"cmp"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace/internal/layout"
	"github.com/etwgen/etwgen/runtime/schema"
)

// addRow takes in a metadata row. A row that makes no sense is counted and
// costs its events their meaning, not the trace.
func (r *Reader) addRow(b []byte, v6 bool) error {
	c := layout.Cursor{B: b}
	var m layout.Row
	if v6 {
		m = layout.ReadRow6(&c)
	} else {
		m = layout.ReadRow(&c)
	}
	if c.Bad || m.Key == 0 {
		r.stats.BadMetadata++
		return layout.Damaged("a metadata row of %d bytes cannot be read", len(b))
	}
	if m.FieldsErr != nil {
		r.stats.BadFields++
	}
	if r.described += cost(&m, len(b)); r.described > fairLimit+2*r.src.off {
		r.stats.BadMetadata++
		return layout.Damaged("there is more metadata than the reader keeps")
	}
	k := &kindOf{id: uint32(m.Key), record: r.unknown.record, rare: true}
	setRecord(&m, &k.record, r.providers)
	if d := k.record.Schema; !v6 && d != nil {
		k.widths = schema.WidthsOf(d.Fields)
	}
	base := k.record
	r.kinds.put(m.Key, k)
	r.rows.put(m.Key, &Metadata{row: bytes.Clone(b), v6: v6, base: &base})
	r.kind = nil // it may be another one now
	return nil
}

// What a row and a field take in memory, in bytes.
const (
	rowCost   = 1000
	fieldCost = 256
)

// cost returns how many bytes the row m of so many bytes takes in memory, roughly.
func cost(m *layout.Row, size int) int64 {
	fields := int64(countFields(m.Fields))
	if schema.WidthsOf(m.Fields) != nil {
		fields *= 2 // once more with other types
	}
	return rowCost + 3*int64(size) + fieldCost*fields
}

func countFields(fields []etw.FieldDesc) int {
	n := len(fields)
	for i := range fields {
		n += countFields(fields[i].Fields)
	}
	return n
}

// addMetadata takes in a block of metadata rows. Before version 6 rows are the
// payloads of events.
func (r *Reader) addMetadata(data []byte) error {
	var bad error
	if r.v6 {
		c := layout.Cursor{B: data}
		c.Bytes(int(c.U16()))
		for c.Left() > 0 && !c.Bad {
			row := c.Bytes(int(c.U16()))
			if !c.Bad {
				bad = cmp.Or(bad, r.addRow(row, true))
			}
		}
		if c.Bad {
			return layout.Damaged("a row does not fit")
		}
		return bad
	}
	b := eventBlock{block: block{data: data}}
	if err := b.readHeader(false); err != nil {
		return err
	}
	for b.at < len(data) {
		at := b.at
		payload, ok := b.next()
		if !ok {
			return layout.Damaged("the row at %d does not fit", at)
		}
		bad = cmp.Or(bad, r.addRow(data[payload:payload+int(b.h.Size)], false))
	}
	return bad
}
