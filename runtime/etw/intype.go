package etw

import "strconv"

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

// Types that other self-describing formats have and manifests of Windows lack. Of
// bool8, varint, varuint and wbemsid, fields are generated.
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

// inTypeNames holds the names that manifests write, and short ones for the types
// that no manifest has.
var inTypeNames = [...]string{
	InNull:                 "win:Null",
	InUnicodeString:        "win:UnicodeString",
	InAnsiString:           "win:AnsiString",
	InInt8:                 "win:Int8",
	InUInt8:                "win:UInt8",
	InInt16:                "win:Int16",
	InUInt16:               "win:UInt16",
	InInt32:                "win:Int32",
	InUInt32:               "win:UInt32",
	InInt64:                "win:Int64",
	InUInt64:               "win:UInt64",
	InFloat:                "win:Float",
	InDouble:               "win:Double",
	InBoolean:              "win:Boolean",
	InBinary:               "win:Binary",
	InGUID:                 "win:GUID",
	InPointer:              "win:Pointer",
	InFileTime:             "win:FILETIME",
	InSystemTime:           "win:SYSTEMTIME",
	InSID:                  "win:SID",
	InHexInt32:             "win:HexInt32",
	InHexInt64:             "win:HexInt64",
	InCountedUnicodeString: "win:CountedUnicodeString",
	InCountedAnsiString:    "win:CountedAnsiString",
	InStruct:               "struct",
	InCountedBinary:        "win:CountedBinary",
	InBool8:                "bool8",
	InChar16:               "char16",
	InChar8:                "char8",
	InVarInt:               "varint",
	InVarUint:              "varuint",
	InDecimal:              "decimal",
	InRelLoc:               "relloc",
	InDataLoc:              "dataloc",
	InLongBinary:           "longbinary",
	InWBEMSID:              "wbemsid",
}

// String returns t as manifests write it, such as win:UInt32. Types that no
// manifest can name have a short name of their own, and unknown ones a number.
func (t InType) String() string {
	if int(t) < len(inTypeNames) && inTypeNames[t] != "" {
		return inTypeNames[t]
	}
	return strconv.Itoa(int(t))
}

// ParseInType reads the name of a type as manifests write it.
func ParseInType(s string) (InType, bool) {
	for t := InUnicodeString; t <= InCountedBinary; t++ {
		if t != InStruct && inTypeNames[t] == s {
			return t, true
		}
	}
	return InNull, false
}
