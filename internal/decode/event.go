package decode

import (
	"strconv"

	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A Basis says what an event is decoded by.
type Basis uint8

// The bases, the best first.
const (
	Typed    Basis = iota // a generated type of its version
	Schema                // a schema in the trace
	Manifest              // a manifest of its version
	Older                 // the description of an older version
	None                  // nothing
)

// An Event is what is known of all records of one kind.
type Event struct {
	Index int // counts the events of a Decoder from 0
	// Provider and Name are never empty: what has no name gets one made of its
	// GUID and numbers.
	Provider string
	Name     string
	Task     string // "" if it has no name
	Opcode   string // "" if it has no name
	Basis    Basis
	Desc     *etw.EventDesc // nil if Basis is None

	// Note says that the description is not quite that of the event.
	Note string

	typed etw.Event
}

// A key tells kinds of records apart.
type key struct {
	provider etw.GUID
	schema   *etw.EventDesc
	id       uint16
	version  uint8
	opcode   uint8
	kind     etw.Kind
}

// newEvent finds out what is known of records like r.
func (d *Decoder) newEvent(r *etw.Record) *Event {
	e := &Event{Basis: None}
	d.describe(e, r)
	e.Provider = d.providerName(e, r)
	if e.Desc != nil {
		e.Task, e.Opcode = e.Desc.TaskName, e.Desc.OpcodeName
		e.Name = e.Desc.Name
	}
	if r.Kind == etw.Classic {
		if name := etl.OpcodeName(r.Provider, r.Opcode); name != "" {
			e.Opcode = name
		}
		if e.Task == "" {
			e.Task = etl.ClassName(r.Provider)
		}
	}
	if e.Name == "" {
		e.Name = e.fallbackName(r)
	}
	return e
}

// describe finds the description of records like r.
func (d *Decoder) describe(e *Event, r *etw.Record) {
	k := r.Key()
	if r.Kind == etw.Manifest {
		if desc := d.typed.Lookup(k); desc != nil && desc.New != nil {
			e.Basis, e.Desc, e.typed = Typed, desc, desc.New()
			return
		}
	}
	if r.Schema != nil {
		e.Basis, e.Desc = Schema, r.Schema
		return
	}
	var older *etw.EventDesc
	switch r.Kind {
	case etw.Manifest:
		e.Desc = d.manifests.Lookup(k)
		older = newer(d.typed.Newest(k), d.manifests.Newest(k))
	case etw.Classic:
		k.ID = uint16(r.Opcode)
		e.Desc = d.classes.Lookup(k)
		older = d.classes.Newest(k)
	}
	switch {
	case e.Desc != nil:
		e.Basis = Manifest
	case older != nil:
		e.Basis, e.Desc = Older, older
		e.Note = "version " + strconv.Itoa(int(k.Version)) + " is not known: these are the fields of version " + strconv.Itoa(int(older.Version))
	}
}

// newer returns the one of the newer version, and a where that is the same.
func newer(a, b *etw.EventDesc) *etw.EventDesc {
	if a == nil || b != nil && b.Version > a.Version {
		return b
	}
	return a
}

// providerName returns the name of the provider of r, and its GUID if it has
// none.
func (d *Decoder) providerName(e *Event, r *etw.Record) string {
	switch {
	case r.ProviderName != "":
		return r.ProviderName
	case e.Desc != nil && e.Desc.Provider != nil && e.Desc.Provider.Name != "":
		return e.Desc.Provider.Name
	case d.names[r.Provider] != "":
		return d.names[r.Provider]
	case r.Kind == etw.Classic:
		if name := etl.ClassName(r.Provider); name != "" {
			return name
		}
	}
	return r.Provider.String()
}

// fallbackName names an event whose description does not.
func (e *Event) fallbackName(r *etw.Record) string {
	switch {
	case e.Task != "" && e.Opcode != "":
		return e.Task + "/" + e.Opcode
	case r.Kind == etw.Classic:
		return e.Provider + "/" + strconv.Itoa(int(r.Opcode))
	case e.Task != "":
		return e.Task
	}
	return e.Provider + "/" + strconv.Itoa(int(r.ID))
}
