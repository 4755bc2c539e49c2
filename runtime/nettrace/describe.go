package nettrace

import (
	"strings"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace/internal/layout"
)

// setRecord sets rec to the facts of the row m about all its events. The provider is shared
// by all its schemas.
func setRecord(m *layout.Row, rec *etw.Record, providers map[string]*etw.ProviderDesc) {
	p := providers[m.Provider]
	if p == nil || !m.GUID.IsZero() && p.GUID != m.GUID {
		p = &etw.ProviderDesc{Name: m.Provider, GUID: m.GUID}
		if p.GUID.IsZero() {
			p.GUID = ProviderGUID(m.Provider)
		}
		providers[m.Provider] = p
	}
	rec.Provider, rec.ProviderName = p.GUID, p.Name
	rec.ID, rec.Version = uint16(m.ID), uint8(m.Version)
	rec.Level, rec.Opcode, rec.Keywords = etw.Level(m.Level), m.Opcode, m.Keywords
	if rec.Schema = schemaOf(m, p); rec.Schema != nil {
		rec.Opcode = rec.Schema.Opcode
	}
}

// schemaOf returns the description of the events of m, or nil if the row has
// none: the runtime's own events have neither name nor fields.
func schemaOf(m *layout.Row, p *etw.ProviderDesc) *etw.EventDesc {
	name, fields := m.Name, m.Fields
	if known := knownEvent(p.Name, m.Name, m.ID); known != nil && (known.always || len(fields) == 0) {
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
		ID:       uint16(m.ID),
		Version:  uint8(m.Version),
		Level:    etw.Level(m.Level),
		Opcode:   m.Opcode,
		Keywords: m.Keywords,
		Name:     name,
		Named:    m.Name != "",
		Message:  m.Message,

		Corrected: ofKernel,
		Fields:    fields,
	}
	d.TaskName, d.OpcodeName, d.Opcode = taskAndOpcode(name, m.Opcode, m.HasOpcode)
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
