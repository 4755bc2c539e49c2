package decode

import (
	"github.com/etwgen/etwgen/runtime/etw"
)

// A Decoder decodes records. It must not be used by several goroutines at once.
type Decoder struct {
	typed     *etw.Registry
	manifests *etw.Registry
	classes   *etw.Registry       // of classic events, by the opcode as id
	names     map[etw.GUID]string // of providers
	events    map[key]*Event
	recent    [256]slot
	dynamic   etw.Dynamic
	rest      []byte // that the last call of Decode left
}

// A slot of Decoder.recent holds an event that was looked up before.
type slot struct {
	key
	*Event
}

// New returns a decoder that knows the built-in providers, those of manifests, and
// their classes of classic events, whose events have the opcode as id.
func New(manifests, classes []*etw.Provider) *Decoder {
	d := &Decoder{names: make(map[etw.GUID]string), events: make(map[key]*Event)}
	var builtin []*etw.Provider
	for _, p := range Builtins {
		builtin = append(builtin, p.Provider)
		d.names[p.Desc.GUID] = p.Desc.Name
	}
	for _, p := range manifests {
		if d.names[p.Desc.GUID] == "" {
			d.names[p.Desc.GUID] = p.Desc.Name
		}
	}
	d.typed = etw.NewRegistry(builtin...)
	d.manifests = etw.NewRegistry(manifests...)
	d.classes = etw.NewRegistry(classes...)
	return d
}

// Event returns what is known of records like r. It is the same for all of them.
func (d *Decoder) Event(r *etw.Record) *Event {
	k := key{r.Provider, r.Schema, r.ID, r.Version, r.Opcode, r.Kind}
	s := &d.recent[uint8(r.ID)+r.Opcode<<4+r.Provider[0]]
	if s.key == k && s.Event != nil {
		return s.Event
	}
	e := d.events[k]
	if e == nil {
		e = d.newEvent(r)
		e.Index = len(d.events)
		d.events[k] = e
	}
	s.key, s.Event = k, e
	return e
}

// Decode decodes the payload of r, of which e is the Event, and returns its
// values. They are valid until the next call. Without a description they are nil.
// If the payload does not fit the description, the values are those before the
// fault, and the error says where it is. Rest returns what was not decoded.
func (d *Decoder) Decode(e *Event, r *etw.Record) (values etw.Described, err error) {
	values = &d.dynamic
	n := 0
	switch e.Basis {
	case Typed:
		values = e.typed
		n, err = e.typed.DecodePayload(r.Payload, r.PointerSize)
	case Manifest:
		n, err = d.dynamic.Decode(e.Desc, r.Payload, r.PointerSize)
	case Schema, Older:
		// These may not be quite right: a string that the payload cuts off passes.
		n, err = d.dynamic.DecodeLoose(e.Desc, r.Payload, r.PointerSize)
	default:
		values = nil
	}
	if err != nil && e.Basis != Schema && e.Basis != Older {
		n, _ = d.dynamic.DecodeLoose(e.Desc, r.Payload, r.PointerSize)
		values = &d.dynamic
	}
	d.rest = r.Payload[n:]
	return values, err
}

// Check reports whether the payload of r fits the description of e, as far as
// there is one.
func (d *Decoder) Check(e *Event, r *etw.Record) bool {
	_, err := d.Decode(e, r)
	return err == nil
}

// Rest returns the bytes of the payload that the last call of Decode did not
// make anything of.
func (d *Decoder) Rest() []byte { return d.rest }
