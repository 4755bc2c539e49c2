package nettrace

import (
	"strings"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A metadata is what the stream says of one kind of event: the part of a Record
// that is the same for all its events.
type metadata struct {
	provider     etw.GUID
	providerName string
	schema       *etw.EventDesc
	id           uint16
	version      uint8
	level        uint8
	opcode       uint8
	keywords     uint64
}

// unknownMetadata stands in for a row that the stream does not contain.
var unknownMetadata = new(metadata)

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
	opcode    uint8
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
			m.opcode, m.hasOpcode = tag.u8(), n > 0
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
		switch items.u8() {
		case itemOpcode:
			m.opcode, m.hasOpcode = items.u8(), true
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
			m.level = uint32(items.u8())
		case itemVersion:
			m.version = uint32(items.u8())
		default:
			items.off = len(items.b) // an unknown item has no length
		}
	}
	return m
}

// metadata makes of a row what its events need. The provider is shared by all
// its schemas.
func (m *row) metadata(providers map[string]*etw.ProviderDesc) *metadata {
	p := providers[m.provider]
	if p == nil || !m.guid.IsZero() && p.GUID != m.guid {
		p = &etw.ProviderDesc{Name: m.provider, GUID: m.guid}
		if p.GUID.IsZero() {
			p.GUID = ProviderGUID(m.provider)
		}
		providers[m.provider] = p
	}
	md := &metadata{
		provider:     p.GUID,
		providerName: p.Name,
		id:           uint16(m.id),
		version:      uint8(m.version),
		level:        uint8(m.level),
		opcode:       m.opcode,
		keywords:     m.keywords,
	}
	d := m.schema(p)
	if d != nil {
		md.schema = d
		md.opcode = d.Opcode
	}
	return md
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
	d := &etw.EventDesc{
		Provider: p,
		ID:       uint16(m.id),
		Version:  uint8(m.version),
		Level:    uint8(m.level),
		Opcode:   m.opcode,
		Keywords: m.keywords,
		Name:     name,
		Message:  m.message,
		Fields:   fields,
	}
	d.TaskName, d.OpcodeName, d.Opcode = taskAndOpcode(name, m.opcode, m.hasOpcode)
	return d
}

// Opcodes with a meaning in naming.
const (
	opcodeStart = 1
	opcodeStop  = 2
)

var opcodeNames = map[uint8]string{
	opcodeStart: "Start", opcodeStop: "Stop", 3: "DataCollectionStart", 4: "DataCollectionStop", 5: "Extension", 6: "Reply", 7: "Resume",
	8: "Suspend", 9: "Send", 240: "Receive",
}

// taskAndOpcode splits the name of an event as EventSource composes it: an event
// RequestStart has the opcode Start, also where the stream does not say so, and
// belongs to the task Request.
func taskAndOpcode(name string, opcode uint8, given bool) (task, opcodeName string, op uint8) {
	for op, suffix := range [...]string{opcodeStart: "start", opcodeStop: "stop"} {
		if suffix == "" || given && opcode != uint8(op) || len(name) <= len(suffix) {
			continue
		}
		cut := len(name) - len(suffix)
		if strings.EqualFold(name[cut:], suffix) {
			return name[:cut], opcodeNames[uint8(op)], uint8(op)
		}
	}
	return name, opcodeNames[opcode], opcode
}
