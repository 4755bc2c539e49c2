package etw

import (
	"slices"
	"strconv"
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

// outTypes holds the names that manifests write.
var outTypes = [...]string{
	OutString:          "xs:string",
	OutDateTime:        "xs:dateTime",
	OutInt8:            "xs:byte",
	OutUInt8:           "xs:unsignedByte",
	OutInt16:           "xs:short",
	OutUInt16:          "xs:unsignedShort",
	OutInt32:           "xs:int",
	OutUInt32:          "xs:unsignedInt",
	OutInt64:           "xs:long",
	OutUInt64:          "xs:unsignedLong",
	OutFloat:           "xs:float",
	OutDouble:          "xs:double",
	OutBoolean:         "xs:boolean",
	OutGUID:            "xs:GUID",
	OutHexBinary:       "xs:hexBinary",
	OutHexInt8:         "win:HexInt8",
	OutHexInt16:        "win:HexInt16",
	OutHexInt32:        "win:HexInt32",
	OutHexInt64:        "win:HexInt64",
	OutPID:             "win:PID",
	OutTID:             "win:TID",
	OutPort:            "win:Port",
	OutIPv4:            "win:IPv4",
	OutIPv6:            "win:IPv6",
	OutSocketAddress:   "win:SocketAddress",
	OutCIMDateTime:     "win:CIMDateTime",
	OutETWTime:         "win:ETWTIME",
	OutXML:             "win:Xml",
	OutErrorCode:       "win:ErrorCode",
	OutWin32Error:      "win:Win32Error",
	OutNTStatus:        "win:NTSTATUS",
	OutHResult:         "win:HResult",
	OutDateTimeCulture: "win:DateTimeCultureInsensitive",
	OutJSON:            "win:Json",
	OutUTF8:            "win:Utf8",
	OutPKCS7:           "win:Pkcs7WithTypeInfo",
	OutCodePointer:     "win:CodePointer",
	OutDateTimeUTC:     "win:DateTimeUtc",
}

// String returns o as manifests write it, such as win:HexInt32: "" for OutDefault,
// and a number if it is unknown.
func (o OutType) String() string {
	if int(o) < len(outTypes) {
		return outTypes[o]
	}
	return strconv.Itoa(int(o))
}

// ParseOutType reads the name of a way to render as manifests write it.
func ParseOutType(s string) (OutType, bool) {
	i := slices.Index(outTypes[:], s)
	return OutType(max(i, 0)), i > 0
}

// isText reports whether o shows bytes as text.
func (o OutType) isText() bool {
	switch o {
	case OutString, OutXML, OutJSON, OutUTF8:
		return true
	}
	return false
}
