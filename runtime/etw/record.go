package etw

import (
	"encoding/binary"
	"time"
)

// PtrSize is the size in bytes of a pointer in the program that logged an
// event: 4 or 8.
type PtrSize uint8

// The pointer sizes there are.
const (
	Ptr32 PtrSize = 4
	Ptr64 PtrSize = 8
)

// Bytes returns the number of bytes of a pointer: 4 for Ptr32, and 8 for all
// else, as readers and writers take it.
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
	// Manifest events carry a provider, an id and a version. Events of an
	// instrumentation manifest, of an EventSource and of TraceLogging are all
	// of this kind, and so is every EventPipe event.
	Manifest Kind = iota
	// Classic events carry a class GUID, an opcode and a version, and have no
	// id: kernel events and those of MOF providers.
	Classic
	// Message events are WPP trace messages: the GUID of the source file and a
	// message number in ID.
	Message
)

// String returns the name of k.
func (k Kind) String() string {
	switch k {
	case Manifest:
		return "manifest"
	case Classic:
		return "classic"
	case Message:
		return "message"
	}
	return "unknown"
}

// A Key identifies the layout of a manifest event.
type Key struct {
	Provider GUID
	ID       uint16
	Version  uint8
}

// A Record is one event as a transport delivers it: the header, decoded, and
// the payload, as bytes.
//
// A transport reuses the Record and the memory its slices point to. Both are
// valid until the next record is asked for; [Record.Clone] makes a copy that
// stays.
type Record struct {
	// Provider is the provider of a Manifest record, the event class of a
	// Classic one, the source file of a Message.
	Provider GUID
	Kind     Kind
	ID       uint16
	Version  uint8
	Channel  uint8
	Level    uint8
	Opcode   uint8
	Task     uint16
	Keywords uint64

	// PointerSize is that of the program that logged the event, which in one
	// trace differs from event to event.
	PointerSize PtrSize
	// Processor is the number of the processor that logged the event, or -1
	// where the transport does not say.
	Processor int32
	// ProcessID and ThreadID are those that the event is about, or -1 where the
	// transport does not say.
	ProcessID int64
	ThreadID  int64

	// Timestamp is in ticks of Clock. Most callers want [Record.Time].
	Timestamp int64
	Clock     *Clock

	// ActivityID and RelatedActivityID are zero where there is none.
	ActivityID        GUID
	RelatedActivityID GUID

	// Payload is what the typed events decode.
	Payload []byte
	// Stack holds the call stack that the transport attached to the event.
	Stack Stack
	// Extended holds further items of the header as they are.
	Extended []ExtendedItem

	// ProviderName and Schema are what the trace itself says of the event: the
	// name of its provider, and a description from which a [Dynamic] decoder
	// reads the payload. Where the trace says nothing they are "" and nil; the
	// events of the .NET runtime, for one, are described only by their manifest.
	ProviderName string
	Schema       *EventDesc
}

// Key returns what identifies the layout of r, a Manifest record.
func (r *Record) Key() Key { return Key{r.Provider, r.ID, r.Version} }

// Time returns when the event was logged, in UTC, to 100 ns. Without a Clock it
// is the zero time.
func (r *Record) Time() time.Time {
	if r.Clock == nil {
		return time.Time{}
	}
	return r.Clock.FileTime(r.Timestamp).Time()
}

// Elapsed returns the time from the start of the session to the event. It is
// negative for events that were logged before the session was.
func (r *Record) Elapsed() time.Duration {
	if r.Clock == nil {
		return 0
	}
	return r.Clock.Elapsed(r.Timestamp)
}

// Clone returns a copy of r that shares no memory with the transport's buffers
// and so stays valid.
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

// ExtendedType numbers the kinds of [ExtendedItem] as Windows does. Types that
// a transport of another origin needs start at 0x100.
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
