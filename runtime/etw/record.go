package etw

import (
	"encoding/binary"
	"fmt"
	"time"
)

// PtrSize is the size in bytes of a pointer in the program that logged an
// event: 4 or 8.
type PtrSize uint8

// The sizes of pointers.
const (
	Ptr32 PtrSize = 4
	Ptr64 PtrSize = 8
)

// Bytes returns the number of bytes of a pointer: 4 for Ptr32 and 8 for every other
// value, 0 among them.
func (p PtrSize) Bytes() int {
	if p == Ptr32 {
		return 4
	}
	return 8
}

// load returns pointer i of those that lie back to back in b.
func (p PtrSize) load(b []byte, i int) uint64 {
	if p == Ptr32 {
		return uint64(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return binary.LittleEndian.Uint64(b[8*i:])
}

// A Kind says how the program that logged a record identified the event.
type Kind uint8

const (
	// KindManifest events carry a provider, an id and a version. Events of an
	// instrumentation manifest, of an EventSource and of TraceLogging are all of
	// this kind, and so is every EventPipe event.
	KindManifest Kind = iota
	// KindClassic events carry a class, an opcode and a version, and have no id:
	// kernel events and those of MOF providers.
	KindClassic
	// KindMessage events are WPP trace messages: the GUID of the source file and a
	// message number.
	KindMessage
)

// String returns the name of k.
func (k Kind) String() string {
	switch k {
	case KindManifest:
		return "manifest"
	case KindClassic:
		return "classic"
	case KindMessage:
		return "message"
	}
	return "unknown"
}

// A Key identifies the layout of an event: two records with the same Key have the
// same one.
type Key struct {
	Kind     Kind
	Provider GUID   // of a classic event its class, of a message its source file
	ID       uint16 // of a classic event its opcode, of a message its number
	Version  uint8
}

// String returns the provider and the numbers of k, such as
// e13c0d23-ccbc-4e12-931b-d9cc2eee27e4/1.2, after the kind if that is another than
// KindManifest.
func (k Key) String() string {
	s := fmt.Sprintf("%v/%d.%d", k.Provider, k.ID, k.Version)
	if k.Kind != KindManifest {
		s = k.Kind.String() + " " + s
	}
	return s
}

// A Record is one event as a [Source] delivers it: the header, decoded, and the
// payload, as bytes.
//
// A source reuses the Record and the memory that its slices point to. Both are
// valid until the next record is asked for; [Record.Clone] makes a copy that
// stays.
type Record struct {
	// Provider is that of a KindManifest record, the event class of a KindClassic
	// one, the source file of a KindMessage.
	Provider GUID
	Kind     Kind
	ID       uint16
	Version  uint8
	Channel  uint8
	Level    Level
	// Opcode and Task are 0 where the source does not carry them: a .nettrace has no tasks,
	// and opcodes only of some events. The description of an event has both:
	// [Decoder.Event], and the EventDesc method of generated types.
	Opcode   Opcode
	Task     uint16
	Keywords uint64

	// PointerSize is that of the program that logged the event, Ptr32 or Ptr64: whoever
	// makes a record must set it. It may differ from event to event of one trace.
	PointerSize PtrSize
	// Processor is the number of the processor that logged the event, or -1 where
	// the trace does not say.
	Processor int32
	// ProcessID and ThreadID are those that the event is about, or -1 where the
	// trace does not say.
	ProcessID int64
	ThreadID  int64
	// Lost counts the events of the thread that logged the event which were lost before it, as far
	// as the trace tells: some are missing between two records of a thread that differ in it. It may
	// wrap around.
	Lost uint32

	// Timestamp is in ticks of Clock. Most callers want [Record.Time].
	Timestamp int64
	Clock     *Clock

	// ActivityID and RelatedActivityID are zero where there is none.
	ActivityID        GUID
	RelatedActivityID GUID

	// Payload is the input of the typed events.
	Payload []byte
	// Stack is the call stack that was recorded with the event. In an .etl it is mostly
	// empty: Windows logs stacks as events of their own, which BindStacks of package
	// analysis/system joins to those that they are of.
	Stack Stack
	// Extended holds further items of the header as they are.
	Extended []ExtendedItem

	// ProviderName is the name of the provider, or of the class of a classic
	// event, where anything knows it: the trace, a generated package whose types
	// handle the record, or the table of registered providers that sources have.
	ProviderName string
	// Schema is the trace's own description of the event: a description from which a
	// [Dynamic] decoder reads the payload. It is nil where the trace says nothing; the
	// events of the .NET runtime, for one, are described only by their manifest.
	Schema *EventDesc

	// File is the name of the file that the record is from, "" if it is from none.
	File string
}

// Key returns the identity of the layout of r.
func (r *Record) Key() Key { return Key{r.Kind, r.Provider, r.number(), r.Version} }

// number returns the number that tells events of one provider or class apart.
func (r *Record) number() uint16 {
	if r.Kind == KindClassic {
		return uint16(r.Opcode)
	}
	return r.ID
}

// Time returns when the event was logged, in UTC, to 100 ns. Without a Clock it
// is the zero time.
func (r *Record) Time() time.Time {
	if r.Clock == nil {
		return time.Time{}
	}
	return r.Clock.FileTime(r.Timestamp).Time()
}

// Elapsed returns the time from the start of the session to the event. It is
// negative for events that were logged before the session started.
func (r *Record) Elapsed() time.Duration {
	if r.Clock == nil {
		return 0
	}
	return r.Clock.Elapsed(r.Timestamp)
}

// Clone returns a copy of r that shares no memory with the source and so stays
// valid.
func (r *Record) Clone() *Record {
	c := *r
	c.Payload = append([]byte(nil), r.Payload...)
	c.Stack.Addresses = append([]byte(nil), r.Stack.Addresses...)
	if r.Extended != nil {
		c.Extended = make([]ExtendedItem, len(r.Extended))
		for i, item := range r.Extended {
			c.Extended[i] = ExtendedItem{item.Type, append([]byte(nil), item.Data...)}
		}
	}
	return &c
}

// An ExtendedItem is an item of a record's header beyond its fixed part, with
// the bytes that Windows documents for its type.
type ExtendedItem struct {
	Type ExtendedType
	Data []byte
}

// ExtendedType numbers the kinds of [ExtendedItem] as Windows does. The types of
// other formats start at 0x100.
type ExtendedType uint16

// The types of extended items.
const (
	ExtRelatedActivityID ExtendedType = 0x1
	ExtSID               ExtendedType = 0x2
	ExtTerminalSession   ExtendedType = 0x3
	ExtInstance          ExtendedType = 0x4
	ExtStack32           ExtendedType = 0x5
	ExtStack64           ExtendedType = 0x6
	ExtPEBSIndex         ExtendedType = 0x7
	ExtCounters          ExtendedType = 0x8
	ExtPSMKey            ExtendedType = 0x9
	ExtEventKey          ExtendedType = 0xa
	ExtSchema            ExtendedType = 0xb
	ExtProviderTraits    ExtendedType = 0xc
	ExtProcessStartKey   ExtendedType = 0xd
	ExtControlGUID       ExtendedType = 0xe
	ExtQPCDelta          ExtendedType = 0xf
	ExtContainerID       ExtendedType = 0x10
	ExtStackKey32        ExtendedType = 0x11
	ExtStackKey64        ExtendedType = 0x12
)
