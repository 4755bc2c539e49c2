package nettrace

import (
	"bytes"
	"cmp"
	"strings"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A row is a metadata row as it stands in the stream.
type row struct {
	key       uint64 // by which events refer to it
	provider  string
	guid      etw.GUID
	id        uint32
	name      string
	keywords  uint64
	version   uint32
	level     uint32
	opcode    etw.Opcode
	hasOpcode bool
	message   string
	fields    []etw.FieldDesc
	fieldsErr error // why the fields could not be read
}

// The tags after a row of versions 4 and 5.
const (
	tagOpcode  = 1
	tagFields2 = 2
)

// readRow reads a row of versions 3 to 5. The caller sees from c whether it was
// whole; the list of fields need not be, it costs only itself.
func readRow(c *cursor) row {
	m := row{
		key:      uint64(c.u32()),
		provider: c.z16(),
		id:       c.u32(),
		name:     c.z16(),
		keywords: c.u64(),
		version:  c.u32(),
		level:    c.u32(),
	}
	if c.bad || c.left() == 0 {
		return m
	}
	if m.fields, m.fieldsErr = readFields(c, list1); m.fieldsErr != nil {
		c.bad = false
		return m
	}
	for c.left() > 0 {
		n := c.size32()
		kind := c.u8()
		tag := c.sub(n)
		if c.bad {
			m.fieldsErr = damaged("the tags of the row do not fit")
			c.bad = false
			return m
		}
		switch kind {
		case tagOpcode:
			m.opcode, m.hasOpcode = etw.Opcode(tag.u8()), n > 0
		case tagFields2:
			m.fields, m.fieldsErr = readFields(&tag, list2)
		}
	}
	return m
}

// The optional items of a row of version 6.
const (
	itemOpcode      = 1
	itemKeywords    = 3
	itemMessage     = 4
	itemDescription = 5
	itemKeyValue    = 6
	itemGUID        = 7
	itemLevel       = 8
	itemVersion     = 9
)

// readRow6 reads a row of version 6, without its size.
func readRow6(c *cursor) row {
	m := row{
		key:      c.uvar(32),
		provider: c.vstr(),
		id:       uint32(c.uvar(32)),
		name:     c.vstr(),
	}
	if c.bad {
		return m
	}
	if m.fields, m.fieldsErr = readFields(c, list6); m.fieldsErr != nil {
		c.bad = false
		return m
	}
	items := c.sub(int(c.u16()))
	for items.left() > 0 && !items.bad {
		switch etw.Opcode(items.u8()) {
		case itemOpcode:
			m.opcode, m.hasOpcode = etw.Opcode(items.u8()), true
		case itemKeywords:
			m.keywords = items.u64()
		case itemMessage:
			m.message = items.vstr()
		case itemDescription:
			items.vstr()
		case itemKeyValue:
			items.vstr()
			items.vstr()
		case itemGUID:
			m.guid = items.guid()
		case itemLevel:
			m.level = uint32(etw.Opcode(items.u8()))
		case itemVersion:
			m.version = uint32(etw.Opcode(items.u8()))
		default:
			items.off = len(items.b) // an unknown item has no length
		}
	}
	return m
}

// setRecord sets in rec what the row says of all its events. The provider is shared
// by all its schemas.
func (m *row) setRecord(rec *etw.Record, providers map[string]*etw.ProviderDesc) {
	p := providers[m.provider]
	if p == nil || !m.guid.IsZero() && p.GUID != m.guid {
		p = &etw.ProviderDesc{Name: m.provider, GUID: m.guid}
		if p.GUID.IsZero() {
			p.GUID = ProviderGUID(m.provider)
		}
		providers[m.provider] = p
	}
	rec.Provider, rec.ProviderName = p.GUID, p.Name
	rec.ID, rec.Version = uint16(m.id), uint8(m.version)
	rec.Level, rec.Opcode, rec.Keywords = etw.Level(m.level), m.opcode, m.keywords
	if rec.Schema = m.schema(p); rec.Schema != nil {
		rec.Opcode = rec.Schema.Opcode
	}
}

// schema returns the description of the events of m, or nil if the row has
// none: the runtime's own events have neither name nor fields.
func (m *row) schema(p *etw.ProviderDesc) *etw.EventDesc {
	name, fields := m.name, m.fields
	if known := knownEvent(p.Name, m.name, m.id); known != nil && (known.always || len(fields) == 0) {
		fields = known.fields
		if name == "" {
			name = known.name
		}
	}
	if name == "" && len(fields) == 0 {
		return nil
	}
	// TraceLogging events are one struct without a name; its fields are the
	// event's.
	for len(fields) == 1 && fields[0].Name == "" && fields[0].Type == etw.InStruct && fields[0].Count.Kind == etw.SizeNone {
		fields = fields[0].Fields
	}
	trusted, ofKernel := kernelFields(p.Name, fields)
	if ofKernel {
		fields = trusted
	}
	d := &etw.EventDesc{
		Provider: p,
		ID:       uint16(m.id),
		Version:  uint8(m.version),
		Level:    etw.Level(m.level),
		Opcode:   m.opcode,
		Keywords: m.keywords,
		Name:     name,
		Named:    m.name != "",
		Message:  m.message,

		Corrected: ofKernel,
		Fields:    fields,
	}
	d.TaskName, d.OpcodeName, d.Opcode = taskAndOpcode(name, m.opcode, m.hasOpcode)
	return d
}

// taskAndOpcode splits the name of an event as EventSource composes it: an event
// RequestStart has the opcode Start, also where the stream does not say so, and
// belongs to the task Request.
func taskAndOpcode(name string, opcode etw.Opcode, given bool) (task, opcodeName string, op etw.Opcode) {
	for op, suffix := range [...]string{etw.OpcodeStart: "start", etw.OpcodeStop: "stop"} {
		if suffix == "" || given && opcode != etw.Opcode(op) || len(name) <= len(suffix) {
			continue
		}
		cut := len(name) - len(suffix)
		if strings.EqualFold(name[cut:], suffix) {
			return name[:cut], etw.Opcode(op).Name(), etw.Opcode(op)
		}
	}
	if opcode == etw.OpcodeInfo { // says nothing
		return name, "", opcode
	}
	return name, opcode.Name(), opcode
}

// addRow takes in a metadata row. A row that makes no sense is counted and
// costs its events their meaning, not the trace.
func (r *Reader) addRow(b []byte, v6 bool) error {
	c := cursor{b: b}
	var m row
	if v6 {
		m = readRow6(&c)
	} else {
		m = readRow(&c)
	}
	if c.bad || m.key == 0 {
		r.stats.BadMetadata++
		return damaged("a metadata row of %d bytes cannot be read", len(b))
	}
	if m.fieldsErr != nil {
		r.stats.BadFields++
	}
	if r.described += m.cost(len(b)); r.described > fairLimit+2*r.src.off {
		r.stats.BadMetadata++
		return damaged("there is more metadata than the reader keeps")
	}
	k := &kindOf{id: uint32(m.key), record: r.unknown.record, rare: true}
	m.setRecord(&k.record, r.providers)
	k.guess = !v6 && k.record.Schema != nil && mayDiffer(k.record.Schema.Fields)
	base := k.record
	r.kinds.put(m.key, k)
	r.rows.put(m.key, &Metadata{row: bytes.Clone(b), v6: v6, base: &base})
	r.kind = nil // it may be another one now
	return nil
}

// What a row and a field take in memory, in bytes.
const (
	rowCost   = 1000
	fieldCost = 256
)

// cost returns how many bytes a row of so many bytes takes in memory, roughly.
func (m *row) cost(size int) int64 {
	fields := int64(countFields(m.fields))
	if mayDiffer(m.fields) {
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
		c := cursor{b: data}
		c.bytes(int(c.u16()))
		for c.left() > 0 && !c.bad {
			row := c.bytes(int(c.u16()))
			if !c.bad {
				bad = cmp.Or(bad, r.addRow(row, true))
			}
		}
		if c.bad {
			return damaged("a row does not fit")
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
			return damaged("the row at %d does not fit", at)
		}
		bad = cmp.Or(bad, r.addRow(data[payload:payload+int(b.h.size)], false))
	}
	return bad
}
