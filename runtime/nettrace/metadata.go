package nettrace

import (
	"bytes"
	"cmp"
	"errors"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/eventheader"
	"github.com/etwgen/etwgen/runtime/nettrace/internal/layout"
	"github.com/etwgen/etwgen/runtime/schema"
)

// Metadata is a stream's description of a kind of events.
type Metadata struct {
	row  []byte // as it stands in the stream
	v6   bool
	base *etw.Record // what it says
}

// Bytes returns the row of the metadata as it stands in the stream. It is not to be
// changed.
func (m *Metadata) Bytes() []byte { return m.row }

// A kindOf is the stream's description of a kind of events.
type kindOf struct {
	id      uint32
	record  etw.Record     // what all have in common
	unknown bool           // the stream says nothing
	widths  *schema.Widths // of its numbers, nil if they are known
	header  bool           // they are EventHeader, in a tracepoint of the kernel
	rare    bool           // there may be more to do for an event than for most
	cost    int64          // what it takes in memory
}

// kind returns the stream's description of the kind of an event.
func (k *known) kind(e *event) *kindOf {
	if of := k.last; of != nil && of.id == e.metadata {
		return of
	}
	return k.kindOf(e.metadata)
}

// kindOf looks up the stream's description of a kind of events.
func (k *known) kindOf(id uint32) *kindOf {
	of, ok := k.kinds.get(uint64(id))
	if !ok {
		of = &k.unknown
		of.id = id
	}
	k.last = of
	return of
}

// addRow takes in a metadata row, unless all of them then take more than limit. A row
// that makes no sense is counted and costs its events their meaning, not the trace.
func (k *known) addRow(b []byte, limit int64) error {
	c := layout.Cursor{B: b}
	var m layout.Row
	if k.v6 {
		m = layout.ReadRow6(&c)
	} else {
		m = layout.ReadRow(&c)
	}
	if c.Bad || m.Key == 0 {
		k.stats.BadMetadata++
		return layout.Damaged("a metadata row of %d bytes cannot be read", len(b))
	}
	if m.FieldsErr != nil {
		k.stats.BadFields++
	}
	of := &kindOf{id: uint32(m.Key), record: k.unknown.record, rare: true, cost: cost(&m, len(b))}
	before, _ := k.kinds.get(m.Key)
	if before != nil {
		k.described -= before.cost
	}
	if k.described+of.cost > limit {
		if before != nil {
			k.described += before.cost
		}
		k.stats.BadMetadata++
		return errManyKinds
	}
	k.described += of.cost
	setRecord(&m, &of.record, k.providers)
	if d := of.record.Schema; !k.v6 && d != nil {
		of.widths = schema.WidthsOf(d.Fields)
	}
	if d := of.record.Schema; k.v6 && d != nil && eventheader.Is(d.Fields) {
		_, of.header = eventheader.ParseName(d.Name)
	}
	k.kinds.put(m.Key, of)
	k.rows.put(m.Key, &Metadata{row: bytes.Clone(b), v6: k.v6, base: &of.record})
	k.last = nil // it may be another one now
	if m.Key < uint64(len(k.verdicts)) {
		k.verdicts[m.Key] = notAsked
	}
	return nil
}

// errManyKinds says that a row was left out, of which nothing is wrong.
var errManyKinds = errors.New("it describes more kinds of events than the reader keeps of a stream of this size")

// The memory of a row and of a field, in bytes.
const (
	rowCost   = 700
	fieldCost = 112
)

// describedLimit returns how many bytes the kinds may take of a stream of which so many
// were read. A short row takes some twenty times its bytes: up to a size that allows for
// all that programs have, and then less.
func describedLimit(read int64) int64 {
	const most = 1 << 30
	return fairLimit + min(32*read, most+2*read)
}

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
func (k *known) addMetadata(data []byte, limit int64) error {
	var bad error
	if k.v6 {
		c := layout.Cursor{B: data}
		c.Bytes(int(c.U16()))
		for c.Left() > 0 && !c.Bad {
			row := c.Bytes(int(c.U16()))
			if !c.Bad {
				bad = cmp.Or(bad, k.addRow(row, limit))
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
		bad = cmp.Or(bad, k.addRow(data[payload:payload+int(b.h.Size)], limit))
	}
	return bad
}
