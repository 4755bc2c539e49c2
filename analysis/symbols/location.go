package symbols

import (
	"strconv"
	"strings"
	"time"

	"github.com/etwgen/etwgen/generated/clr"
)

// A Kind is the kind of code at an address.
type Kind uint8

// The kinds of code.
const (
	Unknown    Kind = iota // nothing is known of the address
	Managed                // a method of .NET
	NativeCode             // native code: see [Native]
)

var kindNames = [...]string{"unknown", "managed", "native"}

// String returns the kind in a word.
func (k Kind) String() string { return kindNames[k] }

// A Location is the meaning of an address at a time. It is small, and refers to the table
// that it is of.
type Location struct {
	Kind    Kind
	Address uint64
	// Guess says that the code was not there at the time, as far as events tell, but
	// is the nearest in time that was.
	Guess bool

	from, to int64 // the times at which the address means the same
	life     *life
	index    int32 // in the places of life
}

// Holds returns the times between which the address means the same, the second one excluded:
// a look-up need not be repeated for these.
func (loc Location) Holds() (from, to time.Time) { return time.Unix(0, loc.from), time.Unix(0, loc.to) }

// Lookup returns the meaning of an address of a process at a time, mostly that of a record:
// see [etw.Record.Time].
func (t *Table) Lookup(pid int64, address uint64, when time.Time) Location {
	at := when.UnixNano()
	l := t.life(pid, at)
	if l == nil {
		return Location{Address: address, from: always, to: never}
	}
	if i, x := l.only(address, at); x != nil { // as nearly always
		return Location{Kind: Managed, Address: address, from: max(l.began, x.from), to: min(l.ended, x.to), life: l, index: int32(i)}
	}
	f := l.find(address, at)
	if f.index < 0 {
		return Location{Address: address, from: l.began, to: l.ended}
	}
	from, to := l.places[f.index].from, l.places[f.index].to
	switch {
	case f.exact:
	case f.many:
		from, to = at, at+1
	case at < from:
		from, to = always, from
	default:
		from, to = to, never
	}
	return Location{Kind: Managed, Address: address, Guess: !f.exact, from: max(l.began, from), to: min(l.ended, to), life: l, index: int32(f.index)}
}

// An ID identifies a piece of code: two locations with equal ids are in the same
// one. It can be a key of a map.
type ID struct {
	kind  Kind
	life  int32
	index int32
	// address is that of code of which nothing else is known.
	address uint64
}

// ID returns the identity of the code at the location.
func (loc Location) ID() ID {
	if loc.Kind == Unknown {
		return ID{address: loc.Address}
	}
	return ID{kind: loc.Kind, life: int32(loc.life.index), index: loc.index}
}

// Offset returns how far the address is behind the start of the method.
func (loc Location) Offset() uint64 {
	if loc.Kind == Unknown {
		return 0
	}
	return loc.Address - loc.life.at(int(loc.index)).start
}

// Method returns the method at the location, or one without a name if there is
// none.
func (loc Location) Method() Method {
	if loc.Kind == Unknown {
		return Method{}
	}
	l := loc.life
	m := l.at(int(loc.index))
	text := func(t text) string { return string(l.text.bytes(t)) }
	return Method{
		ID: m.id, Address: m.start, Size: m.size, Token: m.token, Flags: m.flags, ReJITID: m.rejit, Origin: m.origin,
		Module: *l.moduleAt(m.module, m.anchor()), Namespace: text(m.space), Name: text(m.name), Signature: text(m.signature),
	}
}

// ILOffset returns the offset in the IL of the method, if the trace has a map of it
// and [ILOffsets] had it kept.
func (loc Location) ILOffset() (int, bool) {
	if loc.Kind == Unknown {
		return 0, false
	}
	m := loc.life.at(int(loc.index))
	key := mapKey{m.id, m.rejit, uint8(m.flags.Extent())}
	return offset(loc.life.maps.nearest(key, m.anchor()), uint32(loc.Offset()))
}

// A Method is a piece of code of .NET. A method that was compiled several times has
// several, with the same name.
type Method struct {
	ID        uint64
	Address   uint64
	Size      uint32
	Token     uint32 // in the metadata of its module; 0 for dynamic methods
	Flags     clr.MethodFlags
	ReJITID   uint32
	Origin    Origin
	Module    Module
	Namespace string // the type, with its namespace
	Name      string
	Signature string
}

// Named reports whether the trace has the name of the method.
func (m Method) Named() bool { return m.Name != "" || m.Namespace != "" }

// Tier returns how much the code is optimized.
func (m Method) Tier() clr.OptimizationTier { return m.Flags.Tier() }

// Full returns the name with module and arguments, as in
// Shop!Bakery.Oven.Bake(int32).
func (m Method) Full() string {
	name := m.Qualified()
	if m.Named() {
		if i := strings.IndexByte(m.Signature, '('); i >= 0 {
			name += m.Signature[i:]
		}
	}
	if module := m.Module.Name(); module != "" {
		return module + "!" + name
	}
	return name
}

// Qualified returns the name with its type, without module and arguments, as in
// Bakery.Oven.Bake.
func (m Method) Qualified() string {
	switch {
	case !m.Named() && m.Token != 0:
		return "0x" + strconv.FormatUint(uint64(m.Token), 16) // the token
	case !m.Named():
		return "0x" + strconv.FormatUint(m.Address, 16)
	case m.Namespace == "":
		return m.Name
	}
	return m.Namespace + "." + m.Name
}
