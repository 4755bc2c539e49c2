package main

import "math/rand/v2"

// inTypes are all types that a manifest can give a field.
var inTypes = []string{
	"Int8", "UInt8", "Int16", "UInt16", "Int32", "UInt32", "Int64", "UInt64", "HexInt32", "HexInt64", "Float", "Double", "Boolean",
	"Pointer", "GUID", "FILETIME", "SYSTEMTIME", "SID", "UnicodeString", "AnsiString", "Binary",
	"CountedUnicodeString", "CountedAnsiString", "CountedBinary",
}

// outTypes are ways to show the types, with "" for the default.
var outTypes = map[string][]string{
	"UInt8":   {"", "win:HexInt8", "xs:boolean", "xs:unsignedByte"},
	"UInt16":  {"", "win:HexInt16", "win:Port"},
	"Int32":   {"", "win:HResult"},
	"UInt32":  {"", "win:HexInt32", "win:PID", "win:TID", "win:IPv4", "win:NTSTATUS", "win:HResult", "win:Win32Error"},
	"UInt64":  {"", "win:HexInt64"},
	"Pointer": {"", "win:HexInt64"},
}

func anyType(r *rand.Rand) string { return inTypes[r.IntN(len(inTypes))] }

func anyOut(r *rand.Rand, in string) string {
	outs := outTypes[in]
	if len(outs) == 0 || r.IntN(2) == 0 {
		return ""
	}
	return outs[r.IntN(len(outs))]
}
