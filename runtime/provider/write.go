package provider

import (
	"context"
	"errors"
	"fmt"

	"github.com/etwgen/etwgen/runtime/etw"
)

// The errors of events that cannot be written, whoever wants them.
var (
	// ErrTooLarge says that an event does not fit a record, or the buffers of the
	// session.
	ErrTooLarge = errors.New("the event is too large")
	// ErrKind says that the event is of another kind than the provider.
	ErrKind = errors.New("the provider does not write events of this kind")
)

// native is the size of this program's pointers.
const native = etw.PtrSize(pointerSize)

// Write writes an event to the sessions that want it, with the activity of ctx, which
// may be nil. If none wants it, Write does nothing. Neither e nor anything in it is kept.
//
// An error says that the event itself cannot be written: its fields contradict each
// other, it is too large, it is of another kind. Events for which the sessions have no
// room are lost, as they are to every program: [Provider.Stats] counts them.
func (p *Provider) Write(ctx context.Context, e etw.Event) error {
	hidden := hide(e)
	d := hidden.EventDesc()
	if !p.Wants(d) {
		return nil
	}
	a := ActivityOf(ctx)
	if d.Opcode != etw.OpcodeStart {
		a.Related = etw.GUID{}
	}
	return p.encode(a, d, hidden)
}

// WriteActivity is Write with an activity that is given. Both of its ids are written.
func (p *Provider) WriteActivity(a Activity, e etw.Event) error {
	hidden := hide(e)
	d := hidden.EventDesc()
	if !p.Wants(d) {
		return nil
	}
	return p.encode(a, d, hidden)
}

// encode writes an event that is wanted.
func (p *Provider) encode(a Activity, d *etw.EventDesc, e etw.Event) error {
	if err := p.takes(d, nil); err != nil {
		return err
	}
	f := newFrame(p, d, a, nil)
	defer f.free()
	payload, err := e.AppendPayload(f.buffer[:0], native)
	f.buffer = payload
	if err != nil {
		return err
	}
	f.add(payload, kindPayload)
	return p.host.write(p, f)
}

// WriteParts writes an event whose payload is there already, such as one of a record,
// in one or more parts. Nothing is copied, up to a dozen parts. Metadata describes an
// event of TraceLogging, as package tracelogging makes it, and is nil for others.
func (p *Provider) WriteParts(a Activity, d *etw.EventDesc, metadata []byte, parts ...[]byte) error {
	if !p.Wants(d) {
		return nil
	}
	if err := p.takes(d, metadata); err != nil {
		return err
	}
	f := newFrame(p, d, a, metadata)
	defer f.free()
	f.addPayload(parts)
	return p.host.write(p, f)
}

// takes returns an error for events that the provider does not write.
func (p *Provider) takes(d *etw.EventDesc, metadata []byte) error {
	switch {
	case d.Kind == etw.KindMessage:
		return fmt.Errorf("provider: %s: %w: messages of WPP have no types", d.Title(), ErrKind)
	case d.Kind == etw.KindClassic && !p.classic:
		return fmt.Errorf("provider: %s: %w: it is a classic event, for a provider with the option Classic", d.Title(), ErrKind)
	case d.Kind == etw.KindManifest && p.classic:
		return fmt.Errorf("provider: %s: %w: it is no classic event, and the provider is", d.Title(), ErrKind)
	case d.Named && metadata == nil:
		return fmt.Errorf("provider: %s: %w: it describes itself, and is for package tracelogging", d.Title(), ErrKind)
	}
	return nil
}
