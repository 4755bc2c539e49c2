package manifest

import "github.com/etwgen/etwgen/runtime/etw"

// A Manifest is an instrumentation manifest: one file, with everything in it
// resolved and checked.
type Manifest struct {
	File      string
	Providers []*Provider // in file order
	Cultures  []*Culture  // string tables, in file order
}

// A Provider is a provider of events and everything that it declares. All lists
// are in file order.
type Provider struct {
	Pos     Pos
	Name    string
	Symbol  string // "" where the manifest gives none
	GUID    etw.GUID
	Message string // resolved
	Doc     string // etwgen:doc
	GoName  string // etwgen:name

	// Classic says that the events are classic ones: see [Event.Classic].
	Classic bool

	// SelfDescribing says that the provider is a self-describing EventSource: a
	// trace identifies its events by their names, and ids mean nothing. A Boolean
	// takes one byte, and binary data has its length before it, in 2 bytes.
	SelfDescribing bool

	// EventSource says that .NET made the manifest, of an EventSource. It is known
	// by its event 0, EventSourceMessage, or by etwgen:events, as in manifests of traces.
	EventSource bool

	// MessageID is the id within $(string.ID). It is "" if there is no message,
	// or if the message is literal text. The same goes for everything that has a
	// message. Culture.Strings has the texts in the other languages.
	MessageID string

	// The files that Windows loads the resource and the texts from, as the
	// manifest names them.
	ResourceFile  string
	MessageFile   string
	ParameterFile string

	Channels  []*Channel
	Levels    []*Level // those the manifest declares
	Tasks     []*Task
	Opcodes   []*Opcode // global ones; a task's own are in Task.Opcodes
	Keywords  []*Keyword
	Maps      []*Map
	Templates []*Template
	Events    []*Event
}

// An Event is one version of an event.
type Event struct {
	Pos       Pos
	ID        uint32 // at most 65535, except in lenient mode
	Version   uint8
	Symbol    string
	Level     *Level  // nil if the event names none
	Task      *Task   // nil if none
	Opcode    *Opcode // nil if none
	Keywords  []*Keyword
	Channel   *Channel  // nil if none
	Template  *Template // nil if the payload is empty
	Message   string    // resolved
	MessageID string
	Doc       string // etwgen:doc
	GoName    string // etwgen:name

	// SessionLevel is the level that a session needs for the event where the provider looks
	// for a higher one than it writes, nil elsewhere. It is etwgen:level.
	SessionLevel *Level

	// TraceName, if it is not "", is the name by which records identify the event,
	// as TraceLogging does: ID means nothing then. It is etwgen:named.
	TraceName string

	// Classic says that records identify the event by the class that its task
	// names and by its opcode, and that ID means nothing.
	Classic bool

	// Overridden says that the provider writes another payload than the manifest declares:
	// Template is its own payload. It is nil for nearly all events. See [Event.Override].
	Overridden *Override

	// Undispatched says, in lenient mode, why no key leads to this event: its id
	// does not fit, or an earlier event has the same id and version. It is ""
	// for all others.
	Undispatched string
}

// An Override describes an event that writes something else than its template.
type Override struct {
	Declared *Template // nil if the manifest has no fields
	Fields   string    // what is written, as etwgen:fields says it
}

// Mask returns the keywords of e in one mask.
func (e *Event) Mask() uint64 {
	var mask uint64
	for _, k := range e.Keywords {
		mask |= k.Mask
	}
	return mask
}

// Kind returns how records of e identify it: by provider and id or, where no id
// leads to e, by the class of its task and the opcode.
func (e *Event) Kind() etw.Kind {
	if e.Classic || e.Undispatched != "" && e.Task != nil && !e.Task.EventGUID.IsZero() {
		return etw.KindClassic
	}
	return etw.KindManifest
}

// A Template is the layout of a payload.
type Template struct {
	Pos Pos
	ID  string // tid
	// Declared is how many fields the manifest declares. There are fewer in
	// Fields if an opaque one takes the place of some.
	Declared int
	Doc      string // etwgen:doc
	GoName   string // etwgen:name
	Fields   []*Field

	// UserData is the XML in which the event log shows the fields, in place of
	// the common form. It says nothing about payloads.
	UserData []*Element
}

// A Field is an item of a template, or a member of a struct.
type Field struct {
	Pos     Pos
	Name    string
	Type    etw.InType
	OutType etw.OutType
	Map     *Map // nil if none
	Count   Size // number of elements; the zero Size if it is no array
	Length  Size
	When    etw.When // which payloads have the field
	Fields  []*Field // members of a Struct
	Doc     string   // etwgen:doc
	GoName  string   // etwgen:name

	// Opaque says, for a field of type Opaque, why the layout is unknown from
	// here. Such a field takes the rest of the payload; it is the last of its
	// template, and Lost names the declared fields that it replaces.
	Opaque string
	Lost   []string
}

// A Size is a count= or length= attribute.
type Size struct {
	Kind  etw.SizeKind
	Const uint16
	Field *Field // an earlier field, in the same scope or around it
	Up    int    // how many structs outward of this field's own scope Field is
}

// A Map names the values of integer fields.
type Map struct {
	Pos     Pos
	Name    string
	Symbol  string
	Flags   bool // a bitMap
	Entries []*MapEntry
	Doc     string
	GoName  string
}

// A MapEntry is one named value or bit.
type MapEntry struct {
	Pos      Pos
	Value    uint32
	Symbol   string
	Message  string // resolved text
	StringID string // id within $(string.ID), "" if the text is literal
	Doc      string
	GoName   string
}

// A Task groups events.
type Task struct {
	Pos       Pos
	Name      string
	Value     uint16
	Symbol    string
	EventGUID etw.GUID // zero if none
	Message   string
	MessageID string
	Opcodes   []*Opcode
	Doc       string
	GoName    string
}

// An Opcode is a step within a task.
type Opcode struct {
	Pos       Pos // zero for the standard ones
	Name      string
	Value     etw.Opcode
	Symbol    string
	Message   string
	MessageID string
	Task      *Task // nil if global or standard
	Doc       string
	GoName    string
}

// A Keyword is a bit by which sessions choose events.
type Keyword struct {
	Pos       Pos
	Name      string
	Mask      uint64
	Symbol    string
	Message   string
	MessageID string
	Doc       string
	GoName    string
	// Costly says that a session with the keyword changes the program that it watches.
	Costly bool
}

// Costly returns the keywords by which a session changes the program that it watches.
func (p *Provider) Costly() (mask uint64) {
	for _, k := range p.Keywords {
		if k.Costly {
			mask |= k.Mask
		}
	}
	return mask
}

// A Level is a severity.
type Level struct {
	Pos       Pos // zero for the standard ones
	Name      string
	Value     etw.Level
	Symbol    string
	Message   string
	MessageID string
	Doc       string
	GoName    string
}

// A Channel is a place of the event log.
type Channel struct {
	Pos       Pos
	Name      string
	ID        string // chid
	Symbol    string
	Type      string
	Value     uint8
	Message   string
	MessageID string
	Imported  bool
	Enabled   bool
	Isolation string
	Access    string
}

// A Culture is the string table of one language.
type Culture struct {
	Pos     Pos
	Name    string // such as en-US
	Strings map[string]string
}

// An Element is a part of the XML in which the event log shows an event.
type Element struct {
	Name     string // as written, with its prefix
	Attrs    []Attr
	Text     string // with fields as %1, %2 and so on; "" if there are Children
	Children []*Element
}

// An Attr is an attribute of an [Element]. A field in the value is as in a Text.
type Attr struct{ Name, Value string }
