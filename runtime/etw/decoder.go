package etw

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Decoder decodes any record by the best description there is. In this order,
// it is:
//
//  1. generated code for exactly the event's version;
//  2. the schema that the trace itself has, which is the record's Schema;
//  3. another description of the version, as of a manifest that was read at run time;
//  4. for a version that is newer than the known ones, the newest of these.
//
// A description that is not generated comes before the schema where that says less: it is
// without fields, which EventPipe has of some events; or it is EventPipe's, which has no
// names of values, and has the same fields. It also does if it is [EventDesc.Corrected].
//
// Events of EventSources are not always laid out as they are declared. Where the
// declared layout does not take exactly the payload, and one of those that are known to
// be written instead does, it is decoded by that one, and counted: see [DecoderStats].
//
// It keeps the findings on one record for all like it, so that it allocates only for the
// first of them, and grows with the number of kinds of records that it meets. A Decoder must
// not be used by several goroutines at once.
type Decoder struct {
	// Names, if it is set, gives the task and the opcode of an event names that its
	// description lacks, "" where it does not know one. A classic event of which it knows
	// both is called by them, and so the same with a description and without one. Its result
	// may depend on the Key and the Opcode of the record alone. Package classic has such a
	// function for the events of the kernel.
	Names func(*Record) (task, opcode string)

	// Find, if it is set, returns the description of the provider of a record, or nil. It is
	// asked for kinds of events of which nothing is known yet, and lets a program know many
	// providers at the cost of those that it meets.
	Find func(*Record) *Provider

	registry *Registry
	types    map[*EventDesc]Event
	infos    map[infoKey]*EventInfo
	recent   [256]recentInfo
	dynamic  Dynamic
	rest     []byte // that the last call of Decode left

	other     Dynamic // decodes by other layouts than the declared ones
	fell      [len(fallbacks)]uint64
	unfitting uint64
}

// A Basis tells by which description an event is decoded.
type Basis uint8

// The bases, the best first.
const (
	BasisGenerated Basis = iota // generated code for its version
	BasisSchema                 // a schema in the trace
	BasisManifest               // another description of its version
	BasisOlder                  // the description of an older version
	BasisNone                   // nothing
)

var basisNames = [...]string{"generated", "schema", "manifest", "older", "none"}

// String returns the name of b, such as "schema".
func (b Basis) String() string {
	if int(b) < len(basisNames) {
		return basisNames[b]
	}
	return "Basis(" + strconv.Itoa(int(b)) + ")"
}

// An EventInfo is the description that a [Decoder] has for all records that are alike: those
// with the same Key, Schema and Opcode.
type EventInfo struct {
	Index int // counts the EventInfos of a Decoder from 0
	// Provider and Name are never empty: an event without a name gets one made of its GUID
	// and numbers.
	Provider string
	Name     string
	Task     string // "" if it has no name
	Opcode   string // "" if it has no name
	Basis    Basis
	Desc     *EventDesc // nil if Basis is BasisNone
	// Note says that the description is not quite that of the event.
	Note string

	typed       Event
	others      [len(fallbacks)]*EventDesc // the layouts to fall back to
	triedOthers bool
}

// An infoKey holds the common part of records that are alike.
type infoKey struct {
	Key
	opcode Opcode
	schema *EventDesc
}

// is reports whether k is the key of r. It says the same as a comparison of keys, in half of
// the time.
func (k *infoKey) is(r *Record) bool {
	return k.schema == r.Schema && k.ID == r.number() && k.Version == r.Version && k.opcode == r.Opcode &&
		k.Kind == r.Kind && k.Provider == r.Provider
}

// A recentInfo is one that was looked up before.
type recentInfo struct {
	key  infoKey
	info *EventInfo
}

// NewDecoder returns a decoder that knows the given providers: those of generated
// packages and of manifests.
func NewDecoder(providers ...*Provider) *Decoder {
	return &Decoder{registry: NewRegistry(providers...), infos: make(map[infoKey]*EventInfo)}
}

// Typed makes d decode the events of the given types to values of these types, which
// [Decoder.Decode] then returns, and returns d. The types are those of packages that the
// decoder knows, all those of package clr by
//
//	etw.NewDecoder(clr.Provider).Typed(clr.Types()...)
//
// Without it d decodes the same events by their descriptions, to the same values, and the
// program does not link types that nothing else of it uses.
func (d *Decoder) Typed(types ...Event) *Decoder {
	if d.types == nil {
		d.types = make(map[*EventDesc]Event)
	}
	for _, e := range types {
		d.types[e.EventDesc()] = e
	}
	return d
}

// Event returns the description of records like r. It is the same for all of them.
func (d *Decoder) Event(r *Record) *EventInfo {
	s := &d.recent[uint8(r.number())+31*r.Provider[0]]
	if s.info != nil && s.key.is(r) {
		return s.info
	}
	k := infoKey{r.Key(), r.Opcode, r.Schema}
	e := d.infos[k]
	if e == nil {
		e = d.newInfo(r)
		e.Index = len(d.infos)
		d.infos[k] = e
	}
	*s = recentInfo{k, e}
	return e
}

// newInfo makes the description of records like r.
func (d *Decoder) newInfo(r *Record) *EventInfo {
	e := &EventInfo{Basis: BasisNone}
	d.describe(e, r)
	symbol := ""
	if e.Desc != nil {
		symbol, e.Task, e.Opcode = e.Desc.Name, e.Desc.TaskName, e.Desc.OpcodeName
	}
	if d.Names != nil {
		task, opcode := d.Names(r)
		if r.Kind == KindClassic && task != "" && opcode != "" {
			// It is called the same with a description and without one.
			symbol, e.Task, e.Opcode = "", task, opcode
		}
		e.Task, e.Opcode = cmp.Or(e.Task, task), cmp.Or(e.Opcode, opcode)
	}
	e.Provider = d.providerName(e, r)
	opcode := e.Opcode
	if r.Kind == KindClassic && opcode == "" { // all of the class would have one name
		opcode = strconv.Itoa(int(r.Opcode))
	}
	e.Name = EventName(symbol, e.Task, opcode, r.Kind, r.number())
	return e
}

// describe finds the description of records like r.
func (d *Decoder) describe(e *EventInfo, r *Record) {
	k := r.Key()
	known := d.known(r)
	switch {
	case known != nil && known.Provider != nil && known.Provider.Generated:
		e.Basis, e.Desc, e.typed = BasisGenerated, known, d.types[known]
	case r.Schema != nil && !saysMore(known, r.Schema):
		e.Basis, e.Desc = BasisSchema, r.Schema
	case known != nil:
		e.Basis, e.Desc = BasisManifest, known
	default:
		older := d.registry.Newest(k)
		if older == nil {
			return
		}
		e.Basis, e.Desc = BasisOlder, older
		e.Note = fmt.Sprintf("version %d is not known: these are the fields of version %d", k.Version, older.Version)
	}
}

// known returns the description of exactly the event of r.
func (d *Decoder) known(r *Record) *EventDesc {
	known := d.registry.Of(r)
	if known != nil || d.Find == nil {
		return known
	}
	p := d.Find(r)
	if p == nil || slices.Contains(d.registry.providers, p) {
		return nil
	}
	d.registry.add(p)
	return d.registry.Of(r)
}

// saysMore reports whether a description that is known says more of an event than a
// schema of the trace does.
func saysMore(known, schema *EventDesc) bool {
	switch {
	case known == nil:
		return false
	case len(schema.Fields) == 0 || known.Corrected:
		return true
	}
	return schema.Named && slices.EqualFunc(known.Fields, schema.Fields, sameField)
}

// sameField reports whether a known field agrees with EventPipe's. A Boolean of a
// self-describing EventSource is narrower than the trace can say.
func sameField(known, says FieldDesc) bool {
	return strings.EqualFold(known.Name, says.Name) && known.Count == says.Count && known.Length == says.Length &&
		(sameType(known.Type, says.Type) || known.Type == InBool8 && says.Type == InBoolean) &&
		slices.EqualFunc(known.Fields, says.Fields, sameField)
}

// sameType reports whether values of the types are passed alike, but for their sign,
// which manifests do not have of enumerations.
func sameType(a, b InType) bool {
	return a == b || unsigned[a] == b || unsigned[b] == a
}

// unsigned has the types that EventPipe has for enumerations, and manifests for their
// values.
var unsigned = map[InType]InType{InInt8: InUInt8, InInt16: InUInt16, InInt32: InUInt32, InInt64: InUInt64}

// providerName returns the name of the provider of r, and its GUID if it has
// none.
func (d *Decoder) providerName(e *EventInfo, r *Record) string {
	switch {
	case r.ProviderName != "" && (r.Kind != KindClassic || e.Desc == nil || e.Desc.Provider == nil):
		return r.ProviderName // of a classic event it may be no more than the class
	case e.Desc != nil && e.Desc.Provider != nil && e.Desc.Provider.Name != "":
		return e.Desc.Provider.Name
	}
	if name := d.registry.Name(r.Provider); name != "" {
		return name
	}
	if r.Kind == KindClassic && e.Task != "" {
		return e.Task
	}
	return r.Provider.String()
}

// Decode decodes the payload of r by the description of [Decoder.Event], and returns the
// values, which are valid until the next call. Without a description they are nil. If the
// payload does not fit the description, the values are those before the fault, and the error
// says where it is. [Decoder.Rest] returns the undecoded rest.
func (d *Decoder) Decode(r *Record) (values Described, err error) {
	e := d.Event(r)
	if e.Desc == nil {
		d.rest = r.Payload
		return nil, nil
	}
	var n int
	var whole bool
	values = &d.dynamic
	if e.typed != nil {
		n, err = e.typed.DecodePayload(r.Payload, r.PointerSize)
		values, whole = e.typed, err == nil
	} else {
		n, whole = d.dynamic.strictly(e.Desc, r.Payload, r.PointerSize)
	}
	if mayDiffer(e, r) && (!whole || n < len(r.Payload)) && d.fallBack(e, r) {
		d.rest = nil
		return &d.other, nil
	}
	if !whole {
		n, err = d.partly(e, r, err)
		values = &d.dynamic
	}
	d.rest = r.Payload[n:]
	if e.Desc.Padded && whole {
		d.rest = d.dynamic.beyond()
	}
	return values, err
}

// mayDiffer reports whether an event may be laid out in another way than it is declared:
// those of EventSources, but not structures of C, of which the schema was put right.
func mayDiffer(e *EventInfo, r *Record) bool {
	return r.Schema != nil && r.Schema.Named && !e.Desc.Padded && !(e.Desc == r.Schema && r.Schema.Corrected)
}

// partly decodes the part before the fault of a record, which is err if it is known.
func (d *Decoder) partly(e *EventInfo, r *Record, err error) (int, error) {
	if e.Basis == BasisSchema || e.Basis == BasisOlder {
		// These may not be quite right: a string that the payload cuts off passes.
		return d.dynamic.DecodeLoose(e.Desc, r.Payload, r.PointerSize)
	}
	if err == nil {
		_, err = d.dynamic.Decode(e.Desc, r.Payload, r.PointerSize)
	}
	n, whole := d.dynamic.loosely(e.Desc, r.Payload, r.PointerSize)
	if whole && n == len(r.Payload) && r.Kind == KindManifest { // Windows takes a string that ends with the payload for whole
		err = nil
	}
	return n, err
}

// Rest returns the bytes of the payload that the last call of Decode did not
// make anything of.
func (d *Decoder) Rest() []byte { return d.rest }
