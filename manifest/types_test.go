package manifest_test

import (
	"testing"

	"github.com/etwgen/etwgen/manifest"
	"github.com/etwgen/etwgen/runtime/etw"
)

// TestTypeNumbers checks that types have the same numbers here and at run time:
// generated code hands them over.
func TestTypeNumbers(t *testing.T) {
	for _, tt := range []struct {
		name    string
		here    manifest.InType
		runtime etw.InType
		size    int // with pointers of 8 bytes; 0 if it varies
	}{
		{"win:UnicodeString", manifest.UnicodeString, etw.InUnicodeString, 0},
		{"win:AnsiString", manifest.AnsiString, etw.InAnsiString, 0},
		{"win:Int8", manifest.Int8, etw.InInt8, 1},
		{"win:UInt8", manifest.UInt8, etw.InUInt8, 1},
		{"win:Int16", manifest.Int16, etw.InInt16, 2},
		{"win:UInt16", manifest.UInt16, etw.InUInt16, 2},
		{"win:Int32", manifest.Int32, etw.InInt32, 4},
		{"win:UInt32", manifest.UInt32, etw.InUInt32, 4},
		{"win:Int64", manifest.Int64, etw.InInt64, 8},
		{"win:UInt64", manifest.UInt64, etw.InUInt64, 8},
		{"win:Float", manifest.Float, etw.InFloat, 4},
		{"win:Double", manifest.Double, etw.InDouble, 8},
		{"win:Boolean", manifest.Boolean, etw.InBoolean, 4},
		{"win:Binary", manifest.Binary, etw.InBinary, 0},
		{"win:GUID", manifest.GUIDType, etw.InGUID, 16},
		{"win:Pointer", manifest.Pointer, etw.InPointer, 8},
		{"win:FILETIME", manifest.FileTime, etw.InFileTime, 8},
		{"win:SYSTEMTIME", manifest.SystemTime, etw.InSystemTime, 16},
		{"win:SID", manifest.SID, etw.InSID, 0},
		{"win:HexInt32", manifest.HexInt32, etw.InHexInt32, 4},
		{"win:HexInt64", manifest.HexInt64, etw.InHexInt64, 8},
		{"struct", manifest.Struct, etw.InStruct, 0},
	} {
		if tt.here.String() != tt.name || uint8(tt.here) != uint8(tt.runtime) || tt.here.Size(8) != tt.size {
			t.Errorf("%s: name %s, number %d, size %d; at run time it has the number %d and size %d",
				tt.name, tt.here, uint8(tt.here), tt.here.Size(8), uint8(tt.runtime), tt.size)
		}
		outs := tt.here.Outs()
		if tt.here != manifest.Struct && (len(outs) == 0 || outs[0] != tt.here.DefaultOut()) {
			t.Errorf("%s: ways to render %v, default %v", tt.name, outs, tt.here.DefaultOut())
		}
	}
	if got := manifest.Pointer.Size(4); got != 4 {
		t.Errorf("size of a pointer of 4 bytes: %d", got)
	}
	for _, tt := range []struct {
		name    string
		here    manifest.OutType
		runtime etw.OutType
	}{
		{"", manifest.OutDefault, etw.OutDefault},
		{"xs:string", manifest.OutString, etw.OutString},
		{"xs:dateTime", manifest.OutDateTime, etw.OutDateTime},
		{"xs:byte", manifest.OutInt8, etw.OutInt8},
		{"xs:unsignedByte", manifest.OutUInt8, etw.OutUInt8},
		{"xs:short", manifest.OutInt16, etw.OutInt16},
		{"xs:unsignedShort", manifest.OutUInt16, etw.OutUInt16},
		{"xs:int", manifest.OutInt32, etw.OutInt32},
		{"xs:unsignedInt", manifest.OutUInt32, etw.OutUInt32},
		{"xs:long", manifest.OutInt64, etw.OutInt64},
		{"xs:unsignedLong", manifest.OutUInt64, etw.OutUInt64},
		{"xs:float", manifest.OutFloat, etw.OutFloat},
		{"xs:double", manifest.OutDouble, etw.OutDouble},
		{"xs:boolean", manifest.OutBoolean, etw.OutBoolean},
		{"xs:GUID", manifest.OutGUID, etw.OutGUID},
		{"xs:hexBinary", manifest.OutHexBinary, etw.OutHexBinary},
		{"win:HexInt8", manifest.OutHexInt8, etw.OutHexInt8},
		{"win:HexInt16", manifest.OutHexInt16, etw.OutHexInt16},
		{"win:HexInt32", manifest.OutHexInt32, etw.OutHexInt32},
		{"win:HexInt64", manifest.OutHexInt64, etw.OutHexInt64},
		{"win:PID", manifest.OutPID, etw.OutPID},
		{"win:TID", manifest.OutTID, etw.OutTID},
		{"win:Port", manifest.OutPort, etw.OutPort},
		{"win:IPv4", manifest.OutIPv4, etw.OutIPv4},
		{"win:IPv6", manifest.OutIPv6, etw.OutIPv6},
		{"win:SocketAddress", manifest.OutSocketAddress, etw.OutSocketAddress},
		{"win:CIMDateTime", manifest.OutCIMDateTime, etw.OutCIMDateTime},
		{"win:ETWTIME", manifest.OutETWTime, etw.OutETWTime},
		{"win:Xml", manifest.OutXML, etw.OutXML},
		{"win:ErrorCode", manifest.OutErrorCode, etw.OutErrorCode},
		{"win:Win32Error", manifest.OutWin32Error, etw.OutWin32Error},
		{"win:NTSTATUS", manifest.OutNTStatus, etw.OutNTStatus},
		{"win:HResult", manifest.OutHResult, etw.OutHResult},
		{"win:DateTimeCultureInsensitive", manifest.OutDateTimeCulture, etw.OutDateTimeCulture},
		{"win:Json", manifest.OutJSON, etw.OutJSON},
		{"win:Utf8", manifest.OutUTF8, etw.OutUTF8},
		{"win:Pkcs7WithTypeInfo", manifest.OutPKCS7, etw.OutPKCS7},
		{"win:CodePointer", manifest.OutCodePointer, etw.OutCodePointer},
		{"win:DateTimeUtc", manifest.OutDateTimeUTC, etw.OutDateTimeUTC},
	} {
		if tt.here.String() != tt.name || uint8(tt.here) != uint8(tt.runtime) {
			t.Errorf("%s: name %s, number %d, at run time %d", tt.name, tt.here, uint8(tt.here), uint8(tt.runtime))
		}
	}
}

// TestGUID checks the form of GUIDs, and the order of their bytes.
func TestGUID(t *testing.T) {
	want := manifest.GUID{0x23, 0x0d, 0x3c, 0xe1, 0xbc, 0xcc, 0x12, 0x4e, 0x93, 0x1b, 0xd9, 0xcc, 0x2e, 0xee, 0x27, 0xe4}
	for _, s := range []string{"{e13c0d23-ccbc-4e12-931b-d9cc2eee27e4}", "E13C0D23-CCBC-4E12-931B-D9CC2EEE27E4"} {
		got, err := manifest.ParseGUID(s)
		if err != nil || got != want {
			t.Errorf("%s: got % x, %v", s, got[:], err)
		}
	}
	if got := want.String(); got != "{e13c0d23-ccbc-4e12-931b-d9cc2eee27e4}" {
		t.Errorf("String: %s", got)
	}
	for _, s := range []string{"", "{}", "{e13c0d23-ccbc-4e12-931b-d9cc2eee27e4", "e13c0d23-ccbc-4e12-931b-d9cc2eee27e", "e13c0d23-ccbc-4e12-931b-d9cc2eee27eg",
		"e13c0d23+ccbc-4e12-931b-d9cc2eee27e4", "{e13c0d23-ccbc-4e12-931bd9cc2eee27e4--}",
		"e13c0d23-ccbc-4e12-931b-d9cc-eee27e4", "e13c0d23-ccbc-4e12-931b--9cc2eee27e4", "000000009$0e1-0000-0000-0 00X0000000", "{0f3e1C7A-52B4-4C1e-9d20-6A7B8C-0000f}"} {
		if g, err := manifest.ParseGUID(s); err == nil {
			t.Errorf("%q is accepted as %v", s, g)
		}
	}
}
