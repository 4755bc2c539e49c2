package manifest

import "slices"

// An InType is the type of a field in the payload, with the number that Windows
// gives it.
type InType uint8

// The types of fields. Struct is an element of its own in a manifest, and
// Opaque stands for a layout that a dump has lost.
const (
	NoType        InType = 0
	UnicodeString InType = 1
	AnsiString    InType = 2
	Int8          InType = 3
	UInt8         InType = 4
	Int16         InType = 5
	UInt16        InType = 6
	Int32         InType = 7
	UInt32        InType = 8
	Int64         InType = 9
	UInt64        InType = 10
	Float         InType = 11
	Double        InType = 12
	Boolean       InType = 13
	Binary        InType = 14
	GUIDType      InType = 15
	Pointer       InType = 16
	FileTime      InType = 17
	SystemTime    InType = 18
	SID           InType = 19
	HexInt32      InType = 20
	HexInt64      InType = 21

	// A uint16 with the number of bytes comes before these.
	CountedUnicodeString InType = 22
	CountedAnsiString    InType = 23
	CountedBinary        InType = 25

	Struct InType = 24
	Opaque InType = 0xff
)

// inTypeInfo is a row of the table of types.
type inTypeInfo struct {
	name string
	size int       // in bytes; 0 where it varies
	outs []OutType // those allowed, the default first
}

// inTypes is indexed by InType.
var inTypes = [...]inTypeInfo{
	UnicodeString: {"win:UnicodeString", 0, []OutType{OutString, OutXML, OutJSON}},
	AnsiString:    {"win:AnsiString", 0, []OutType{OutString, OutUTF8, OutXML, OutJSON}},
	Int8:          {"win:Int8", 1, []OutType{OutInt8, OutString}},
	UInt8:         {"win:UInt8", 1, []OutType{OutUInt8, OutHexInt8, OutString, OutBoolean}},
	Int16:         {"win:Int16", 2, []OutType{OutInt16}},
	UInt16:        {"win:UInt16", 2, []OutType{OutUInt16, OutHexInt16, OutPort, OutString}},
	Int32:         {"win:Int32", 4, []OutType{OutInt32, OutHResult}},
	UInt32: {"win:UInt32", 4, []OutType{OutUInt32, OutHexInt32, OutPID, OutTID, OutIPv4, OutETWTime,
		OutWin32Error, OutNTStatus, OutHResult, OutCodePointer}},
	Int64:      {"win:Int64", 8, []OutType{OutInt64}},
	UInt64:     {"win:UInt64", 8, []OutType{OutUInt64, OutHexInt64, OutETWTime, OutCodePointer}},
	Float:      {"win:Float", 4, []OutType{OutFloat}},
	Double:     {"win:Double", 8, []OutType{OutDouble}},
	Boolean:    {"win:Boolean", 4, []OutType{OutBoolean}},
	Binary:     {"win:Binary", 0, []OutType{OutHexBinary, OutIPv6, OutSocketAddress, OutPKCS7}},
	GUIDType:   {"win:GUID", 16, []OutType{OutGUID}},
	Pointer:    {"win:Pointer", 0, []OutType{OutHexInt64, OutUInt64, OutInt64, OutCodePointer}},
	FileTime:   {"win:FILETIME", 8, []OutType{OutDateTime, OutCIMDateTime, OutDateTimeCulture, OutDateTimeUTC}},
	SystemTime: {"win:SYSTEMTIME", 16, []OutType{OutDateTime, OutCIMDateTime, OutDateTimeCulture, OutDateTimeUTC}},
	SID:        {"win:SID", 0, []OutType{OutString}},
	HexInt32:   {"win:HexInt32", 4, []OutType{OutHexInt32, OutWin32Error, OutNTStatus, OutHResult, OutCodePointer}},
	HexInt64:   {"win:HexInt64", 8, []OutType{OutHexInt64, OutCodePointer}},
	Struct:     {name: "struct"},

	CountedUnicodeString: {"win:CountedUnicodeString", 0, []OutType{OutString, OutXML, OutJSON}},
	CountedAnsiString:    {"win:CountedAnsiString", 0, []OutType{OutString, OutUTF8, OutXML, OutJSON}},
	CountedBinary:        {"win:CountedBinary", 0, []OutType{OutHexBinary, OutIPv6, OutSocketAddress, OutPKCS7}},
}

// inTypeNames leads from the name of a type, as a manifest writes it, to the
// type.
var inTypeNames = func() map[string]InType {
	m := make(map[string]InType)
	for t := UnicodeString; int(t) < len(inTypes); t++ {
		if t != Struct {
			m[inTypes[t].name] = t
		}
	}
	return m
}()

// info returns the row of t, an empty one if it has none.
func (t InType) info() inTypeInfo {
	if int(t) < len(inTypes) {
		return inTypes[t]
	}
	return inTypeInfo{}
}

// String returns t as manifests write it, such as win:UInt32. It returns
// "struct" and "opaque" for the two types that no inType attribute can name.
func (t InType) String() string {
	if t == Opaque {
		return "opaque"
	}
	return t.info().name
}

// Size returns the size in bytes of one value of type t, with pointers of
// ptrSize bytes. It returns 0 for the types whose size varies, and for Struct.
func (t InType) Size(ptrSize int) int {
	if t == Pointer {
		return ptrSize
	}
	return t.info().size
}

// IsString reports whether t is one of the two types of text that end at a NUL
// or have a length.
func (t InType) IsString() bool { return t == UnicodeString || t == AnsiString }

// IsCounted reports whether a value of type t says how long it is, in a uint16
// before it.
func (t InType) IsCounted() bool {
	return t == CountedUnicodeString || t == CountedAnsiString || t == CountedBinary
}

// CanCount reports whether a field of type t can give the count or the length
// of another one. Windows takes unsigned integers of at most 32 bits.
func (t InType) CanCount() bool {
	switch t {
	case UInt8, UInt16, UInt32, HexInt32:
		return true
	}
	return false
}

// DefaultOut returns how a field of type t is rendered if its declaration does
// not say.
func (t InType) DefaultOut() OutType {
	if outs := t.info().outs; len(outs) > 0 {
		return outs[0]
	}
	return OutDefault
}

// Outs returns the ways to render a field of type t, the default first.
func (t InType) Outs() []OutType { return slices.Clone(t.info().outs) }

// allows reports whether a field of type t can be rendered as o.
func (t InType) allows(o OutType) bool { return slices.Contains(t.info().outs, o) }
