package nettrace

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace/internal/layout"
)

// A kindTable numbers the kinds of events and describes each once.
type kindTable struct {
	copied   map[copiedKind]*writtenKind
	made     map[kindKey]*writtenKind
	contents map[string]*writtenKind // by their rows, without numbers
	next     uint32
	pending  []byte // rows that are not in the stream yet
	rows     int

	lastCopied copiedKind
	last       *writtenKind
}

// A copiedKind is a row of another stream. In another version the description of the
// fields is that which the Reader found to be right.
type copiedKind struct {
	*Metadata
	schema *etw.EventDesc
}

// A writtenKind is a kind of events that the stream knows.
type writtenKind struct {
	id   uint32
	base etw.Record // what its row says of all of them
}

// A kindKey is the source of a row.
type kindKey struct {
	provider string
	guid     etw.GUID
	id       uint16
	version  uint8
	level    etw.Level
	opcode   etw.Opcode
	keywords uint64
	schema   *etw.EventDesc
}

func (t *kindTable) begin() {
	*t = kindTable{copied: make(map[copiedKind]*writtenKind), made: make(map[kindKey]*writtenKind), contents: make(map[string]*writtenKind)}
}

// of returns the kind of a record, of which m is the description in its stream, or nil.
func (t *kindTable) of(w *Writer, rec *etw.Record, m *Metadata) (*writtenKind, error) {
	if m != nil && t.tells(w, rec, m) {
		key := copiedKind{m, nil}
		if m.v6 != w.v6 {
			key.schema = rec.Schema
		}
		if key == t.lastCopied {
			return t.last, nil
		}
		k := t.copied[key]
		if k == nil {
			row, err := m.content(w.v6, key.schema)
			if err == nil {
				k, err = t.add(w, row)
			}
			if err != nil {
				return nil, fmt.Errorf("nettrace: %v: %w", rec.Key(), err)
			}
			k.base = *m.base
			if len(t.copied) > pointItems {
				clear(t.copied)
			}
			t.copied[key] = k
		}
		t.lastCopied, t.last = key, k
		return k, nil
	}
	return t.make(w, rec)
}

// tells reports whether the metadata m is right for rec. In version 6 labels say where
// a record differs from it.
func (t *kindTable) tells(w *Writer, rec *etw.Record, m *Metadata) bool {
	b := m.base
	if rec.ID != b.ID || rec.Provider != b.Provider {
		return false
	}
	return w.v6 || rec.Version == b.Version && rec.Level == b.Level && rec.Opcode == b.Opcode && rec.Keywords == b.Keywords
}

// make returns the kind of a record by the record itself.
func (t *kindTable) make(w *Writer, rec *etw.Record) (*writtenKind, error) {
	key := kindKey{rec.ProviderName, rec.Provider, rec.ID, rec.Version, rec.Level, rec.Opcode, rec.Keywords, rec.Schema}
	if w.v6 { // labels say what differs
		key.keywords, key.level, key.opcode = 0, 0, 0
	}
	if k := t.made[key]; k != nil {
		return k, nil
	}
	m := rowOf(rec)
	if rec.ProviderName == "" || !w.v6 && m.Name == "" && !m.GUID.IsZero() {
		return nil, fmt.Errorf("nettrace: %v: %w", rec.Key(), ErrNoProvider)
	}
	if !w.v6 && m.HasNUL() {
		return nil, fmt.Errorf("nettrace: %v: %w", rec.Key(), ErrNUL)
	}
	k, err := t.add(w, m.Content(w.v6, w.header.PointerSize))
	if err != nil {
		return nil, fmt.Errorf("nettrace: %v: %w", rec.Key(), err)
	}
	setRecord(&m, &k.base, make(map[string]*etw.ProviderDesc))
	if len(t.made) > pointItems {
		clear(t.made)
	}
	t.made[key] = k
	return k, nil
}

// add numbers a kind with the given row, of which the number is missing.
func (t *kindTable) add(w *Writer, content []byte) (*writtenKind, error) {
	if k := t.contents[string(content)]; k != nil {
		return k, nil
	}
	longest := maxPayload
	if w.v6 {
		longest = math.MaxUint16 - binary.MaxVarintLen32
	}
	if len(content) > longest {
		return nil, fmt.Errorf("a description of %d bytes is longer than %d: %w", len(content), longest, ErrTooLong)
	}
	t.next++
	k := &writtenKind{id: t.next}
	if len(t.contents) > pointItems {
		clear(t.contents)
	}
	t.contents[string(content)] = k
	t.rows++
	if w.v6 {
		t.pending = layout.AppendSized(t.pending, append(binary.AppendUvarint(nil, uint64(k.id)), content...))
		return k, nil
	}
	if t.rows == 1 {
		t.pending = append(t.pending[:0], make([]byte, layout.EventsHeaderSize)...)
	}
	t.pending = append(t.pending, layout.FlagSize, 0) // at time 0
	t.pending = binary.AppendUvarint(t.pending, uint64(4+len(content)))
	t.pending = binary.LittleEndian.AppendUint32(t.pending, k.id)
	t.pending = append(t.pending, content...)
	return k, nil
}

// flush writes the rows that are not in the stream yet.
func (t *kindTable) flush(w *Writer) {
	if t.rows == 0 {
		return
	}
	if w.v6 {
		w.writeBlock(layout.KindMetadata, append([]byte{0, 0}, t.pending...))
	} else {
		layout.PutEventsHeader(t.pending, 0, 0)
		w.writeBlock(layout.KindMetadata, t.pending)
	}
	t.pending, t.rows = t.pending[:0], 0
}

// content returns the row without its number, in the form of a version. For another
// one than its own, schema has the fields.
func (m *Metadata) content(v6 bool, schema *etw.EventDesc) ([]byte, error) {
	c := layout.Cursor{B: m.row}
	if m.v6 == v6 {
		if v6 {
			c.Uvar(32)
		} else {
			c.U32()
		}
		return c.B[c.Off:], nil
	}
	var r layout.Row
	if m.v6 {
		r = layout.ReadRow6(&c)
	} else {
		r = layout.ReadRow(&c)
	}
	if schema != nil && len(r.Fields) > 0 {
		r.Fields = schema.Fields
	}
	if !v6 && r.HasNUL() {
		return nil, ErrNUL
	}
	return r.Content(v6, m.base.PointerSize), nil
}

// rowOf returns a row with the facts of rec.
func rowOf(rec *etw.Record) layout.Row {
	m := layout.Row{
		Provider: rec.ProviderName, ID: uint32(rec.ID), Keywords: rec.Keywords,
		Version: uint32(rec.Version), Level: uint32(rec.Level), Opcode: rec.Opcode, HasOpcode: rec.Opcode != 0,
	}
	if ProviderGUID(m.Provider) != rec.Provider {
		m.GUID = rec.Provider
	}
	if d := rec.Schema; d != nil {
		m.Name, m.Message, m.Fields = d.Name, d.Message, d.Fields
	}
	return m
}
