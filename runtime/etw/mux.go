package etw

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
)

// A Mux calls handlers with the typed events of records, as an http.ServeMux
// does with requests. The zero Mux is ready for use. It must not be used by
// several goroutines at once.
type Mux struct {
	handlers    table[handlers]
	named       names[handlers]
	recent      *[64]recentHandlers // of events that a schema names
	rest        []func(*Record) error
	shared      map[any]any
	undecodable func(*Record, error) error
	enable      []Enable
	stats       MuxStats
	wants       Wants
	left        bool // a handler left some of the payload
	ended       ended
	latest      latest
	losses      losses
}

// handlers are those that take one version of an event, or the versions that no
// handler names.
type handlers struct {
	desc *EventDesc // of the version, or the newest one
	call handler    // all of them, one after the other
}

// A handler decodes a record and calls a function with the event. A fault of the
// record is an *undecodable, to tell it from an error of the function.
type handler func(*Record) error

// The error is no embedded one: go doc would list all functions that return one apart from
// the types that they make.
type undecodable struct{ err error }

func (u *undecodable) Error() string { return u.err.Error() }

// then returns a handler that calls h, if there is one, and next.
func (h handler) then(next handler) handler {
	if h == nil {
		return next
	}
	return func(r *Record) error {
		if err := h(r); err != nil {
			return err
		}
		return next(r)
	}
}

// Handle registers fn for the events of a generated type: for every version of
// an event, as in
//
//	etw.Handle(&mux, func(r *etw.Record, e *clr.AnyGCStart) error { ... })
//
// or for exactly one, as in
//
//	etw.Handle(&mux, func(r *etw.Record, e *clr.GCStartV1) error { ... })
//
// The event is reused, and its strings and arrays are views of the record: all
// are valid until fn returns. The Clone method of the event makes a copy that
// stays. A test that reads from [etwtest.Poison] finds views that were kept.
//
// Of several handlers for an event all are called, in the order in which they
// were registered. An error of fn ends the dispatch and is returned from
// [Mux.Dispatch]. Handle panics if P is not a pointer to a generated event.
//
// [etwtest.Poison]: https://pkg.go.dev/github.com/etwgen/etwgen/runtime/etwtest#Poison
func Handle[P Described](m *Mux, fn func(*Record, P) error) {
	// By reflection, once: with the type behind P as a parameter, too, the compiler would make
	// code for each type, which was 3 percent of a program that handles 270 of them.
	event, ok := newOf(reflect.TypeFor[P]()).(P)
	if !ok {
		panic("etw: Handle of a type that is not a pointer to an event")
	}
	m.handle(event, fn == nil, func(r *Record) error { return fn(r, event) })
}

// newOf returns a new variable that a pointer of type t points to, or nil if t is another.
func newOf(t reflect.Type) any {
	if t.Kind() != reflect.Pointer {
		return nil
	}
	return reflect.New(t.Elem()).Interface()
}

// handle is the part of [Handle] that need not be compiled for each type: call handles the
// decoded event.
func (m *Mux) handle(event Described, isNil bool, call handler) {
	if isNil {
		panic("etw: Handle of a nil function")
	}
	switch e := event.(type) {
	case AnyVersion:
		m.any(Versions(e), func(r *Record) error {
			n, err := e.DecodeVersion(r.Version, r.Payload, r.PointerSize)
			if err != nil && m.ended.take(e.EventDesc(), r) {
				n, err = e.DecodeVersion(r.Version, m.ended.payload, r.PointerSize)
			}
			if err != nil {
				return &undecodable{err}
			}
			m.left = m.left || n < len(r.Payload)
			return call(r)
		})
	case Event:
		m.exact(e.EventDesc(), func(r *Record) error {
			n, err := e.DecodePayload(r.Payload, r.PointerSize)
			if err != nil && m.ended.take(e.EventDesc(), r) {
				n, err = e.DecodePayload(m.ended.payload, r.PointerSize)
			}
			if err != nil {
				return &undecodable{err}
			}
			m.left = m.left || n < len(r.Payload)
			return call(r)
		})
	default:
		panic("etw: Handle of a type that is neither an Event nor an AnyVersion")
	}
}

// exact adds a handler for one version of an event.
func (m *Mux) exact(d *EventDesc, h handler) {
	var room [4]*idEntry[handlers]
	for _, e := range m.entries(room[:0], d) {
		at := e.version(d.Version)
		if at.desc == nil {
			*at = handlers{d, e.any.call}
		}
		at.call = at.call.then(h)
	}
	m.ask(d.Enable())
}

// entries adds the entries of all that leads to the event d to list.
func (m *Mux) entries(list []*idEntry[handlers], d *EventDesc) []*idEntry[handlers] {
	m.recent = nil
	m.wants.Turn++
	m.named.provider(d.Provider)
	if d.Named {
		return append(list, m.named.at(d))
	}
	for k := range d.keys() {
		list = append(list, m.handlers.at(k))
	}
	return list
}

// any adds a handler for all versions of an event, of which descs, the oldest
// first, are known. In the classic form, versions may differ in their opcodes.
func (m *Mux) any(descs []*EventDesc, h handler) {
	var room [4]*idEntry[handlers]
	var roomDone [16]*idEntry[handlers]
	done := roomDone[:0]
	for _, d := range slices.Backward(descs) {
		m.ask(d.Enable())
		for _, e := range m.entries(room[:0], d) {
			if slices.Contains(done, e) {
				continue
			}
			done = append(done, e)
			if e.any.desc == nil || e.any.desc.Version < d.Version {
				e.any.desc = d
			}
			e.any.call = e.any.call.then(h)
			for i := range e.versions {
				at := &e.versions[i].value
				at.call = at.call.then(h)
			}
		}
	}
}

// HandleRest registers fn for all records that no handler of an event takes, such as
// those that only their trace describes. Of several functions all are called, in the
// order in which they were registered.
//
//go:noinline
func (m *Mux) HandleRest(fn func(*Record) error) {
	if fn == nil {
		panic("etw: HandleRest of a nil function")
	}
	m.rest = append(m.rest, fn)
	m.wants.Turn++
}

// Shared returns the T that the handlers of m share. begin makes it, and registers its
// handlers, when it is first asked for, and so before those of whoever asks.
//
//go:noinline
func Shared[T any](m *Mux, begin func(*Mux) *T) *T {
	key := any((*T)(nil))
	if made, ok := m.shared[key]; ok {
		return made.(*T)
	}
	made := begin(m)
	if m.shared == nil {
		m.shared = make(map[any]any)
	}
	m.shared[key] = made
	return made
}

// HandleUndecodable sets the function for the records that do not decode as the
// event that their header says, with the error. Such records are counted in any
// case. An error of fn ends the dispatch. It replaces the function that was set
// before.
func (m *Mux) HandleUndecodable(fn func(*Record, error) error) { m.undecodable = fn }

// Run dispatches all records of s. It returns nil at the end of s, the first
// error of a handler, the error of ctx once that is done, or else that of s,
// which is delivered when all that could be read was dispatched: see
// [ErrIncomplete].
//
// Run looks at ctx between records, and interrupts an [Interrupter], such as a live
// session, when ctx is done. To have the records that a session still holds, stop it,
// and let Run come to its end.
func (m *Mux) Run(ctx context.Context, s Source) error {
	if live, ok := s.(Interrupter); ok {
		defer context.AfterFunc(ctx, live.Interrupt)()
	}
	done := ctx.Done()
	if done == nil {
		return Push(ctx, s, m.Wants(), m.Dispatch)
	}
	failed := false
	err := Push(ctx, s, m.Wants(), func(r *Record) error {
		select {
		case <-done:
			return ctx.Err()
		default:
		}
		err := m.Dispatch(r)
		failed = err != nil
		return err
	})
	if err != nil && !failed && ctx.Err() != nil { // it ended the source
		return ctx.Err()
	}
	return err
}

// Wants says for which records m has handlers. It is for a [Pusher] whose records go to
// [Mux.Dispatch]; [Mux.Stats] counts those that it leaves out as records without a handler.
func (m *Mux) Wants() *Wants {
	m.wants.Kind = m.takes
	return &m.wants
}

// takes reports whether Dispatch would do more than count records like r.
func (m *Mux) takes(r *Record) bool {
	if len(m.rest) > 0 {
		return true
	}
	if r.Schema != nil && r.Schema.Named {
		e, other := m.named.find(r, &m.handlers, isCalled)
		return e != nil || other
	}
	e := m.handlers.id(r.Kind, &r.Provider, r.number())
	return e != nil && (e.any.desc != nil || e.find(r.Version) != nil)
}

// Dispatch calls the handlers for r. If r has no ProviderName, it gets that of the
// event that they take. Dispatch returns the first error of a handler. A record
// that does not decode is no error: it is counted, and given to the function of
// [Mux.HandleUndecodable].
func (m *Mux) Dispatch(r *Record) error {
	m.stats.Records++
	if !m.latest.isOf(r) {
		m.latest.turn(r)
	} else if r.Timestamp > m.latest.ticks && r.Provider != m.latest.aside {
		m.latest.ticks = r.Timestamp
	}
	if r.Lost != 0 {
		m.losses.see(r)
	}
	var e *idEntry[handlers]
	if r.Schema == nil || !r.Schema.Named {
		e = m.handlers.id(r.Kind, &r.Provider, r.number())
	} else {
		e = m.byName(r)
	}
	if e == nil {
		return m.unhandled(r)
	}
	h := e.find(r.Version)
	if h == nil {
		if h = &e.any; h.desc == nil {
			return m.unhandled(r)
		}
		if r.Version > h.desc.Version {
			m.stats.Newer++
		}
	}
	if r.ProviderName == "" {
		r.ProviderName = h.desc.Provider.Name
	}
	if r.PointerSize != Ptr64 && r.PointerSize != Ptr32 {
		m.stats.Sizeless++
	}
	m.left = false
	if err := h.call(r); err != nil {
		return m.failed(r, err)
	}
	if m.left && r.Version <= h.desc.Version && !h.desc.Padded {
		m.stats.Longer++
	}
	return nil
}

// recentHandlers are those of the events that have one schema.
type recentHandlers struct {
	schema *EventDesc
	key    Key
	entry  *idEntry[handlers] // nil if there are none
	other  bool               // there are some for the id, but for an event of another name
}

// byName finds the handlers of a record whose schema names it. It compares names only
// for the first of many records with the same schema.
func (m *Mux) byName(r *Record) *idEntry[handlers] {
	if m.recent == nil {
		m.recent = new([64]recentHandlers)
	}
	s := &m.recent[(uint(r.ID)+31*uint(r.Provider[0]))%uint(len(m.recent))]
	if k := r.Key(); s.schema != r.Schema || s.key != k {
		*s = recentHandlers{schema: r.Schema, key: k}
		s.entry, s.other = m.named.find(r, &m.handlers, isCalled)
	}
	if s.other {
		m.stats.OtherName++
	}
	return s.entry
}

// isCalled reports whether name is that of the event, in any of its versions.
func isCalled(e *idEntry[handlers], name string) bool {
	for i := range e.versions {
		if e.versions[i].value.desc.isCalled(name) {
			return true
		}
	}
	return e.any.desc != nil && e.any.desc.isCalled(name)
}

func (m *Mux) unhandled(r *Record) error {
	m.stats.Unhandled++
	for _, fn := range m.rest {
		if err := fn(r); err != nil {
			return err
		}
	}
	return nil
}

// failed ends a dispatch early. A record that does not decode for one handler
// does so for none, so that it is counted once.
func (m *Mux) failed(r *Record, err error) error {
	fault, ok := err.(*undecodable)
	if !ok {
		return err
	}
	m.stats.Undecodable++
	if m.stats.FirstError == nil {
		m.stats.FirstError = fault.err
	}
	if m.undecodable != nil {
		return m.undecodable(r, fault.err)
	}
	return nil
}

// MuxStats counts the work of a Mux.
type MuxStats struct {
	Records     uint64 // dispatched
	Unhandled   uint64 // of these, without a handler
	Undecodable uint64 // of these, with a payload that does not fit its event
	// Newer counts the records of a version that is newer than the ones that are
	// known, which a handler of all versions took. The newest layout that is known
	// decodes them; those that it does not fit are Undecodable, too.
	Newer uint64
	// OtherName counts the records that have the id of an event with handlers, but
	// the name of another one, and so were not given to these. EventSources choose
	// ids of some events while they run, and take those of others.
	OtherName uint64 `json:",omitempty"`
	// Longer counts the records of a version that is known whose payload goes on behind
	// it. So do those of a 32-bit program that say they are of a 64-bit one, or the
	// other way round, and then their values are wrong.
	Longer uint64 `json:",omitempty"`
	// Sizeless counts the records with handlers whose PointerSize is neither Ptr32 nor
	// Ptr64. They were decoded as those of a 64-bit program.
	Sizeless   uint64 `json:",omitempty"`
	FirstError error  // the first fault of a payload, a *DecodeError
}

// String returns the counts in words, with the first error if there is one.
func (s MuxStats) String() string {
	text := fmt.Sprintf("%d records, %d unhandled, %d undecodable, %d newer", s.Records, s.Unhandled, s.Undecodable, s.Newer)
	if s.OtherName > 0 {
		text += fmt.Sprintf(", %d of another name", s.OtherName)
	}
	if s.Longer > 0 {
		text += fmt.Sprintf(", %d longer than their event", s.Longer)
	}
	if s.Sizeless > 0 {
		text += fmt.Sprintf(", %d without a size of pointers", s.Sizeless)
	}
	if s.FirstError != nil {
		text += fmt.Sprintf(" (%v)", s.FirstError)
	}
	return text
}

// MarshalJSON returns an object of the counts, with the text of the first error.
func (s MuxStats) MarshalJSON() ([]byte, error) {
	type counts MuxStats
	text := ""
	if s.FirstError != nil {
		text = s.FirstError.Error()
	}
	return json.Marshal(struct {
		counts
		FirstError string `json:",omitempty"`
	}{counts(s), text})
}

// Stats returns the counts of the mux so far.
func (m *Mux) Stats() MuxStats {
	s := m.stats
	s.Records += m.wants.Skipped
	s.Unhandled += m.wants.Skipped
	return s
}
