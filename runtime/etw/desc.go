package etw

import "fmt"

// A ProviderDesc describes a provider of events.
type ProviderDesc struct {
	Name string
	GUID GUID
}

// An EventDesc describes one version of an event: what its header says and how
// its payload is laid out. Generated packages hold one for every event;
// transports make them from the schemas that a trace contains. An EventDesc is
// read-only once it is in use.
type EventDesc struct {
	Provider *ProviderDesc
	ID       uint16
	Version  uint8
	Channel  uint8
	Level    uint8
	Opcode   uint8
	Task     uint16
	Keywords uint64

	Name       string // the symbol of a manifest, such as GCStart_V1
	TaskName   string
	OpcodeName string
	Message    string // the message for people, with inserts %1, %2, ...

	Fields []FieldDesc

	// Extends is the next older version if this one only appends fields to it.
	Extends *EventDesc

	// New makes an event of the generated type. It is nil where there is none.
	New func() Event
}

// Key returns what identifies the layout.
func (d *EventDesc) Key() Key {
	k := Key{ID: d.ID, Version: d.Version}
	if d.Provider != nil {
		k.Provider = d.Provider.GUID
	}
	return k
}

// Title returns what the event is called: its name, else its task and opcode, else
// its provider and numbers.
func (d *EventDesc) Title() string {
	switch {
	case d.Name != "":
		return d.Name
	case d.TaskName != "" && d.OpcodeName != "":
		return d.TaskName + "/" + d.OpcodeName
	case d.TaskName != "":
		return d.TaskName
	case d.Provider != nil && d.Provider.Name != "":
		return fmt.Sprintf("%s/%d.%d", d.Provider.Name, d.ID, d.Version)
	}
	return fmt.Sprintf("event %d.%d", d.ID, d.Version)
}

// A FieldDesc describes a field of an event, or of a struct in one. Fields lie
// back to back, without alignment, in the order of their descriptions.
type FieldDesc struct {
	Name string
	Type InType
	Out  OutType  // how to render it
	Map  *MapDesc // names of its values

	// Count makes the field an array. Length is the length of one element: in
	// bytes for binary values and SIDs, in characters for strings. A string
	// without a Length ends at a NUL.
	Count  Size
	Length Size

	// Fields holds the members of an InStruct, and for InRelLoc and InDataLoc
	// the one description of what is at the location.
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

// InType is the type of a field in the payload. The values up to
// InCountedBinary are those that Windows gives them.
type InType uint8

// The types of fields. Where a size is given, it is fixed.
const (
	InNull                 InType = iota // nothing, 0 bytes
	InUnicodeString                      // UTF-16
	InAnsiString                         // bytes in a code page, or UTF-8
	InInt8                               // 1 byte
	InUInt8                              // 1 byte
	InInt16                              // 2 bytes
	InUInt16                             // 2 bytes
	InInt32                              // 4 bytes
	InUInt32                             // 4 bytes
	InInt64                              // 8 bytes
	InUInt64                             // 8 bytes
	InFloat                              // 4 bytes
	InDouble                             // 8 bytes
	InBoolean                            // 4 bytes
	InBinary                             // Length bytes
	InGUID                               // 16 bytes
	InPointer                            // 4 or 8 bytes, as the record says
	InFileTime                           // 8 bytes
	InSystemTime                         // 16 bytes
	InSID                                // 8 bytes and 4 for each subauthority
	InHexInt32                           // 4 bytes
	InHexInt64                           // 8 bytes
	InCountedUnicodeString               // uint16 number of bytes, UTF-16
	InCountedAnsiString                  // uint16 number of bytes, text
	InStruct                             // its fields
	InCountedBinary                      // uint16 number of bytes, bytes
)

// Types that other self-describing formats have and manifests lack. They get
// no generated types.
const (
	InBool8      InType = iota + 0x40 // 1 byte
	InChar16                          // one UTF-16 code unit, 2 bytes
	InChar8                           // one byte of UTF-8 text
	InVarInt                          // LEB128, zig-zag, at most 10 bytes
	InVarUint                         // LEB128, at most 10 bytes
	InDecimal                         // a .NET decimal, 16 bytes
	InRelLoc                          // uint32: size<<16 | offset from its own end
	InDataLoc                         // uint32: size<<16 | offset in the payload
	InLongBinary                      // uint32 number of bytes, bytes
	InWBEMSID                         // two pointers and a SID; or, where the first is 0, just a 0 of 4 bytes
)

// OutType says how to render a field. The values are those that Windows gives
// them. It never changes the layout.
type OutType uint8

// The ways to render a field.
const (
	OutDefault         OutType = 0
	OutString          OutType = 1
	OutDateTime        OutType = 2
	OutInt8            OutType = 3
	OutUInt8           OutType = 4
	OutInt16           OutType = 5
	OutUInt16          OutType = 6
	OutInt32           OutType = 7
	OutUInt32          OutType = 8
	OutInt64           OutType = 9
	OutUInt64          OutType = 10
	OutFloat           OutType = 11
	OutDouble          OutType = 12
	OutBoolean         OutType = 13
	OutGUID            OutType = 14
	OutHexBinary       OutType = 15
	OutHexInt8         OutType = 16
	OutHexInt16        OutType = 17
	OutHexInt32        OutType = 18
	OutHexInt64        OutType = 19
	OutPID             OutType = 20
	OutTID             OutType = 21
	OutPort            OutType = 22 // big-endian
	OutIPv4            OutType = 23
	OutIPv6            OutType = 24
	OutSocketAddress   OutType = 25
	OutCIMDateTime     OutType = 26
	OutETWTime         OutType = 27
	OutXML             OutType = 28
	OutErrorCode       OutType = 29
	OutWin32Error      OutType = 30
	OutNTStatus        OutType = 31
	OutHResult         OutType = 32
	OutDateTimeCulture OutType = 33
	OutJSON            OutType = 34
	OutUTF8            OutType = 35
	OutPKCS7           OutType = 36
	OutCodePointer     OutType = 37
	OutDateTimeUTC     OutType = 38
)
