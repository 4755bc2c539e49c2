package etw

import (
	"cmp"
	"slices"
)

// A Mux calls handlers with the typed events of records, as an http.ServeMux
// does with requests. The zero Mux is ready for use. It must not be used by
// several goroutines at once.
type Mux struct {
	exact       table[[]handler]
	any         table[[]handler] // by id: the version of the key is 0
	fallback    func(*Record) error
	undecodable func(*Record, error) error
	enable      []Enable
	stats       MuxStats
}

// A handler decodes a record and calls a function with the event. It tells a
// fault of the record from an error of the function.
type handler func(*Record) (decode, err error)

// Handle registers fn for the events of a generated type: for one version of an
// event, as in
//
//	etw.Handle(&mux, func(r *etw.Record, e *clr.GCStartV1) error { ... })
//
// or, with a type that takes all versions, for every version of its id:
//
//	etw.Handle(&mux, func(r *etw.Record, e *clr.AnyGCStart) error { ... })
//
// The event is reused: it is valid until fn returns. Of several handlers for an
// event all are called, those for one version first, in the order in which they
// were registered. An error of fn ends the dispatch and is returned from
// [Mux.Dispatch].
func Handle[E any, P interface {
	*E
	Described
}](m *Mux, fn func(*Record, P) error) {
	event := P(new(E))
	switch e := any(event).(type) {
	case AnyVersion:
		descs := e.EventDescs()
		k := descs[0].Key()
		k.Version = 0
		at := m.any.at(k)
		*at = append(*at, func(r *Record) (error, error) {
			if _, err := e.DecodeVersion(r.Version, r.Payload, r.PointerSize); err != nil {
				return err, nil
			}
			return nil, fn(r, event)
		})
		for _, d := range descs {
			m.needs(d)
		}
	case Event:
		d := e.EventDesc()
		at := m.exact.at(d.Key())
		*at = append(*at, func(r *Record) (error, error) {
			if _, err := e.DecodePayload(r.Payload, r.PointerSize); err != nil {
				return err, nil
			}
			return nil, fn(r, event)
		})
		m.needs(d)
	default:
		panic("etw: Handle of a type that is neither an Event nor an AnyVersion")
	}
}

// HandleRest registers fn for all records that no handler takes. Only the last
// such function counts.
func (m *Mux) HandleRest(fn func(*Record) error) { m.fallback = fn }

// HandleUndecodable registers fn for the records that do not decode as the event
// that their header says, with the error. Such records are counted in any case.
// Only the last such function counts; an error of fn ends the dispatch.
func (m *Mux) HandleUndecodable(fn func(*Record, error) error) { m.undecodable = fn }

// Dispatch calls the handlers for r. It returns the first error of a handler. A
// record that does not decode is no error: it is counted, and given to the
// function of [Mux.HandleUndecodable].
func (m *Mux) Dispatch(r *Record) error {
	m.stats.Records++
	handled := false
	if r.Kind == Manifest {
		if p := m.exact.provider(r.Provider); p != nil {
			for _, e := range p.versions(r.ID) {
				if e.version != r.Version {
					continue
				}
				handled = true
				if decode, err := call(e.value, r); decode != nil || err != nil {
					return m.failed(r, decode, err)
				}
				break
			}
		}
		if p := m.any.provider(r.Provider); p != nil {
			for _, e := range p.versions(r.ID) {
				handled = true
				if decode, err := call(e.value, r); decode != nil || err != nil {
					return m.failed(r, decode, err)
				}
			}
		}
	}
	if handled {
		return nil
	}
	m.stats.Unhandled++
	if m.fallback != nil {
		return m.fallback(r)
	}
	return nil
}

// call calls the handlers of one event, up to the first fault.
func call(handlers []handler, r *Record) (decode, err error) {
	for _, h := range handlers {
		if decode, err = h(r); decode != nil || err != nil {
			return decode, err
		}
	}
	return nil, nil
}

// failed ends a dispatch early. A record that does not decode for one handler
// does so for none, so that it is counted once.
func (m *Mux) failed(r *Record, decode, err error) error {
	if err != nil {
		return err
	}
	m.stats.Undecodable++
	if m.stats.FirstError == nil {
		m.stats.FirstError = decode
	}
	if m.undecodable != nil {
		return m.undecodable(r, decode)
	}
	return nil
}

// MuxStats counts what a Mux did.
type MuxStats struct {
	Records     uint64 // dispatched
	Unhandled   uint64 // of these, without a handler
	Undecodable uint64 // of these, with a payload that does not fit its event
	FirstError  error  // the first fault of a payload, a *DecodeError
}

// Stats returns what the mux did so far.
func (m *Mux) Stats() MuxStats { return m.stats }

// An Enable says what a session must enable of a provider.
type Enable struct {
	Provider *ProviderDesc
	// Keywords holds every keyword of the events. An event is logged if one of
	// its keywords is enabled, or if it has none; a provider may check single
	// keywords too, so all are listed. 0 means that the events have none; to ETW,
	// a session's mask of 0 stands for all keywords.
	Keywords uint64
	// Level is the highest level of the events.
	Level uint8
}

// needs adds what it takes to get the event d.
func (m *Mux) needs(d *EventDesc) {
	i := slices.IndexFunc(m.enable, func(e Enable) bool { return e.Provider.GUID == d.Provider.GUID })
	if i < 0 {
		i = len(m.enable)
		m.enable = append(m.enable, Enable{Provider: d.Provider})
	}
	m.enable[i].Keywords |= d.Keywords
	m.enable[i].Level = max(m.enable[i].Level, d.Level)
}

// Enablement returns the providers, keywords and levels that the handlers of the
// mux need, as the events declare them, sorted by the name of the provider. Where
// a provider asks for more than it declares, its package says so.
func (m *Mux) Enablement() []Enable {
	list := slices.Clone(m.enable)
	slices.SortFunc(list, func(a, b Enable) int { return cmp.Compare(a.Provider.Name, b.Provider.Name) })
	return list
}
