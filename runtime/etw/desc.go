package etw

import "iter"

// A ProviderDesc describes a provider of events.
type ProviderDesc struct {
	Name string
	GUID GUID
	// Generated says that the descriptions of its events are those of generated code,
	// which come before the schemas of a trace: see [Decoder].
	Generated bool `json:",omitempty"`
	// EventSource says that the provider is an EventSource of .NET, whose events have
	// the [SessionKeywords], and are not logged without one of their keywords.
	EventSource bool `json:",omitempty"`
	// Costly holds the keywords by which a session changes the program that it watches:
	// has it collect its heap, follow each object, or stop writing other events.
	Costly uint64 `json:",omitempty"`
}

// An EventDesc describes one version of an event: the values of its header and the layout of
// its payload. Generated packages hold one for every event; sources make them from the
// schemas that a trace contains. An EventDesc is read-only once it is in use.
type EventDesc struct {
	Provider *ProviderDesc
	Kind     Kind
	// Class is the class of a classic event. A KindManifest event may have one,
	// too: then its provider also writes it in the classic form, with the class
	// and the opcode in place of provider and id.
	Class   GUID
	ID      uint16
	Version uint8
	Channel uint8
	Level   Level
	Opcode  Opcode
	Task    uint16

	// SessionLevel is the level that a session needs for the event, where the provider
	// looks for a higher one than Level, 0 elsewhere.
	SessionLevel Level

	// Named says that Name identifies the event, within its provider, and that ID
	// alone does not: it is chosen while the program runs. In a Schema that is so
	// for events of EventPipe and TraceLogging, which trace their names; among those
	// of generated packages and manifests, for the events of a self-describing
	// EventSource.
	Named bool

	// Corrected says that Fields are the provider's real payload where it declares something
	// else. Then the schema of a trace, which has the declaration, is wrong.
	Corrected bool

	// Padded says that behind the fields there is nothing but their targets, and padding.
	Padded bool

	Keywords uint64

	Name       string // the symbol of a manifest, such as GCStart_V1
	TaskName   string
	OpcodeName string
	Message    string // the message for people, with inserts %1, %2, ...

	// UserData is the XML in which Windows shows the fields, with inserts as in Message,
	// where the manifest has such a form in place of the common one.
	UserData string

	Fields []FieldDesc
}

// Key returns the identity of the layout.
func (d *EventDesc) Key() Key {
	if d.Kind == KindClassic {
		return d.classicKey()
	}
	k := Key{Kind: d.Kind, ID: d.ID, Version: d.Version}
	if d.Provider != nil {
		k.Provider = d.Provider.GUID
	}
	return k
}

// classicKey identifies the layout of the event in its classic form.
func (d *EventDesc) classicKey() Key { return Key{KindClassic, d.Class, uint16(d.Opcode), d.Version} }

// keys returns all that leads to the event.
func (d *EventDesc) keys() iter.Seq[Key] {
	return func(yield func(Key) bool) {
		if d.Named { // see byName
			return
		}
		if yield(d.Key()) && d.Kind == KindManifest && !d.Class.IsZero() {
			yield(d.classicKey())
		}
	}
}

// Title returns the title of the event: its name, else its task and opcode, else its number.
// See [EventName].
func (d *EventDesc) Title() string {
	return EventName(d.Name, d.TaskName, d.OpcodeName, d.Kind, d.Key().ID)
}

// fullTitle is Title for messages: an event without a symbol is named with its provider,
// since many have an Event7 or a Process/Start.
func (d *EventDesc) fullTitle() string {
	switch {
	case d.Name != "" || d.Provider == nil:
		return d.Title()
	case d.Provider.Name != "":
		return d.Provider.Name + "/" + d.Title()
	}
	return d.Provider.GUID.String() + "/" + d.Title()
}

// A FieldDesc describes a field of an event, or of a struct in one. Fields lie
// back to back, without alignment, in the order of their descriptions. (Its own small
// fields stand together: programs have thousands.)
type FieldDesc struct {
	Name string
	Type InType
	Out  OutType // how to render it

	// Room is, if it is not 0, how many bytes the field takes, whatever its value takes of
	// them: the rest has no meaning. Structures of C have such fields, for the alignment of
	// the next one and for text in an array of characters, which ends at a NUL or with the
	// room. Only fields of a fixed size and texts that end at a NUL have room.
	Room uint16

	// When is the condition for the field to be there at all. Only those at the
	// end of an event ask for bytes that are left, and no other field has one of
	// them for its Count or Length.
	When When

	Map *MapDesc // names of its values

	// Count makes the field an array. Length is the length of one element: in
	// bytes for binary values and SIDs, in characters for strings. A string
	// without a Length ends at a NUL.
	Count  Size
	Length Size

	// Fields holds the members of an InStruct, and for InRelLoc and InDataLoc the one
	// description of the value at the location.
	Fields []FieldDesc
}

// A SizeKind says where the number of elements or the length of a field is
// found.
type SizeKind uint8

// The kinds of sizes.
const (
	SizeNone   SizeKind = iota // not given
	SizeConst                  // N
	SizeField                  // the value of an earlier integer field
	SizePrefix                 // a uint16 in the payload, before the field
	SizeRest                   // as much as the payload holds
)

// A Size is the number of elements of an array, or the length of a value.
type Size struct {
	Kind SizeKind
	// Up is, for a SizeField, how many structs outward of the field that has
	// this Size the other one lies: 0 is the same struct or event.
	Up uint8
	// N is the constant of a SizeConst, and the index, in the list of fields
	// that it is in, of a SizeField.
	N uint32
}

// A MapDesc gives names to the values of an integer field.
type MapDesc struct {
	Name    string
	Flags   bool // the values are bits and combine
	Entries []MapEntry
}

// A MapEntry is one named value, or one named bit.
type MapEntry struct {
	Value uint32
	Name  string
}

// Lookup returns the name of exactly the value v.
func (m *MapDesc) Lookup(v uint32) (string, bool) {
	for i := range m.Entries {
		if m.Entries[i].Value == v {
			return m.Entries[i].Name, true
		}
	}
	return "", false
}
