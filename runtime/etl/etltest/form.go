package etltest

import (
	"fmt"

	"github.com/etwgen/etwgen/runtime/etl/internal/layout"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A Form is how a record is laid out in a file.
type Form = layout.Form

// The forms of records.
const (
	// FormEvent is that of manifest events: EVENT_HEADER with extended items.
	FormEvent = layout.FormEvent
	// FormFull is that of classic events: EVENT_TRACE_HEADER.
	FormFull = layout.FormFull
	// FormInstance is FormFull with an instance, from an item ExtInstance.
	FormInstance = layout.FormInstance
	// FormSystem is that of the kernel's events, by group and type. Counters and a
	// PEBS index are taken from the extended items.
	FormSystem = layout.FormSystem
	// FormCompact is FormSystem without processor times.
	FormCompact = layout.FormCompact
	// FormPerfInfo is FormCompact without process and thread.
	FormPerfInfo = layout.FormPerfInfo
	// FormMessage is that of WPP messages.
	FormMessage = layout.FormMessage
)

// Write appends a record to the buffer of its processor: a manifest event as
// FormEvent, a classic one as FormFull, a message as FormMessage.
func (w *Writer) Write(r *etw.Record) error {
	switch r.Kind {
	case etw.KindManifest:
		return w.WriteAs(FormEvent, r)
	case etw.KindClassic:
		return w.WriteAs(FormFull, r)
	}
	return w.WriteAs(FormMessage, r)
}

// WriteAs appends a record in the given form.
func (w *Writer) WriteAs(f Form, r *etw.Record) error {
	p, err := Encode(f, r)
	if err != nil {
		return err
	}
	return w.Raw(int(max(r.Processor, 0)), p)
}

// Encode returns a record in the given form.
func Encode(f Form, r *etw.Record) ([]byte, error) {
	p, err := layout.Append(nil, f, r)
	if err != nil {
		return nil, fmt.Errorf("etltest: %w", err)
	}
	return p, nil
}
