package main

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/etwgen/etwgen/internal/builtin"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A viewer decodes the records of a mutant, as a program would that shows them.
type viewer struct {
	decoder *etw.Decoder
	text    []byte
}

func newViewer() *viewer { return &viewer{decoder: builtin.NewDecoder()} }

// show decodes and renders a record. A decoded payload must be written as the bytes that it
// was read from, but for integers of variable length that were too long, and its JSON must
// be valid.
func (t *traces) show(v *viewer, rec *etw.Record) {
	values, err := v.decoder.Decode(rec)
	if values == nil {
		return
	}
	v.text = etw.AppendText(v.text[:0], values)
	if v.text, _ = etw.AppendJSON(v.text[:0], values); !json.Valid(v.text) {
		t.find("JSON", "%s", v.text)
	}
	e, typed := values.(etw.Event)
	if err != nil || !typed {
		return
	}
	read := rec.Payload[:len(rec.Payload)-len(v.decoder.Rest())]
	b, err := e.AppendPayload(nil, rec.PointerSize)
	if err != nil || !bytes.Equal(b, read) && !shortened(e.EventDesc(), rec.PointerSize, b, read) {
		t.find("round trip", "%v: %x is written as %x (%v)", rec.Key(), read, b, err)
	}
}

// shortened reports whether b is shorter than the payload read, as integers of variable
// length were longer there than they need to be, and has the same values.
func shortened(d *etw.EventDesc, ptr etw.PtrSize, b, read []byte) bool {
	if len(b) >= len(read) || !hasVariable(d.Fields) {
		return false
	}
	var was, is etw.Dynamic
	if _, err := was.Decode(d, read, ptr); err != nil {
		return false
	}
	n, err := is.Decode(d, b, ptr)
	return err == nil && n == len(b) && bytes.Equal(etw.AppendText(nil, &was), etw.AppendText(nil, &is))
}

func hasVariable(fields []etw.FieldDesc) bool {
	return slices.ContainsFunc(fields, func(f etw.FieldDesc) bool {
		return f.Type == etw.InVarInt || f.Type == etw.InVarUint || hasVariable(f.Fields)
	})
}
