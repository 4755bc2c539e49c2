package main

import (
	"bytes"
	"encoding/json"

	"github.com/etwgen/etwgen/internal/builtin"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A viewer decodes what the records of a mutant hold, as a program would that
// shows them.
type viewer struct {
	decoder *etw.Decoder
	text    []byte
}

func newViewer() *viewer { return &viewer{decoder: builtin.NewDecoder()} }

// show decodes and renders a record. What decodes must be written as the bytes
// that it was read from, and its JSON must be valid.
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
	if b, err := e.AppendPayload(nil, rec.PointerSize); err != nil || !bytes.Equal(b, read) {
		t.find("round trip", "%v: %x is written as %x (%v)", rec.Key(), read, b, err)
	}
}
