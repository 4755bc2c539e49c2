package tracelogging

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"sync"
	"unsafe"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/provider"
)

// An Event writes values of a struct as events. Several goroutines may use it.
type Event[T any] struct {
	provider *provider.Provider
	desc     etw.EventDesc
	metadata []byte
	encode   encode
}

// Options choose the values of event headers.
type Options struct {
	Level    etw.Level // 0 is LevelVerbose
	Opcode   etw.Opcode
	Keywords uint64 // 0 passes every session
}

// channel is that of TraceLogging.
const channel = 11

// Define returns an event of p that writes structs of the type T. It fails if T is no
// struct, or if it has a field of a type that cannot be written.
func Define[T any](p *provider.Provider, name string, o Options) (*Event[T], error) {
	o.Level = cmp.Or(o.Level, etw.LevelVerbose)
	e := &Event[T]{provider: p, desc: etw.EventDesc{
		Provider: p.Desc(), Name: name, Named: true, Channel: channel, Level: o.Level, Opcode: o.Opcode, Keywords: o.Keywords,
	}}
	t := reflect.TypeFor[T]()
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("tracelogging: %s: %v is no struct", name, t)
	}
	m := metadata{b: []byte{0, 0, 0}}
	m.text(name)
	fields, err := structFields(t, nil)
	if err != nil {
		return nil, fmt.Errorf("tracelogging: %s: %v.%w", name, t, err)
	}
	for i := range fields {
		m.field(&fields[i])
		e.desc.Fields = append(e.desc.Fields, fields[i].desc)
	}
	e.encode = inOrder(fields)
	if e.metadata, err = m.done(); err != nil {
		return nil, fmt.Errorf("tracelogging: %s: %w", name, err)
	}
	return e, nil
}

// MustDefine is Define for variables of packages: it panics where Define fails.
func MustDefine[T any](p *provider.Provider, name string, o Options) *Event[T] {
	e, err := Define[T](p, name, o)
	if err != nil {
		panic(err)
	}
	return e
}

// Desc returns the description of the event.
func (e *Event[T]) Desc() *etw.EventDesc { return &e.desc }

// Enabled reports whether any session wants the event.
func (e *Event[T]) Enabled() bool { return e.provider.Wants(&e.desc) }

// Write writes v to the sessions that want the event, with the activity of ctx, which
// may be nil. Neither v nor anything in it is kept. It returns the errors that
// [provider.Provider.Write] does.
func (e *Event[T]) Write(ctx context.Context, v *T) error {
	if !e.Enabled() {
		return nil
	}
	a := provider.ActivityOf(ctx)
	if e.desc.Opcode != etw.OpcodeStart {
		a.Related = etw.GUID{}
	}
	w := writers.Get().(*writer)
	defer w.free()
	e.encode(w, hide(unsafe.Pointer(v)))
	if w.err != nil {
		return fmt.Errorf("tracelogging: %s: %w", e.desc.Name, w.err)
	}
	return e.provider.WriteParts(a, &e.desc, e.metadata, w.b)
}

// A writer makes payloads. It is sticky: after an error nothing more is done. Writers
// are used again.
type writer struct {
	b   []byte
	err error
}

var writers = sync.Pool{New: func() any { return new(writer) }}

// maxKept is the largest buffer that is kept for other events.
const maxKept = 1 << 16

func (w *writer) free() {
	w.b, w.err = w.b[:0], nil
	if cap(w.b) > maxKept {
		w.b = nil
	}
	writers.Put(w)
}

// hide returns p, and hides from the compiler that it is the same: the values of callers
// need not be on the heap, although they are written by functions that it does not know.
// These keep nothing.
//
//go:nosplit
func hide(p unsafe.Pointer) unsafe.Pointer {
	word := *(*uintptr)(unsafe.Pointer(&p))
	return *(*unsafe.Pointer)(unsafe.Pointer(&word))
}
