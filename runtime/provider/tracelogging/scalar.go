package tracelogging

import (
	"fmt"
	"reflect"
	"time"

	"github.com/etwgen/etwgen/runtime/etw"
)

// In types that more than one place names. All are numbered as those of manifests.
const (
	inBinary = byte(etw.InBinary)
	inStruct = byte(etw.InStruct)
)

// A scalar says how values of a type are written.
type scalar struct {
	in     etw.InType // as it is written
	shown  etw.InType // as it is described: Booleans and characters are no types there
	out    style
	encode encode
	styles map[string]scalar // other ways, by their names
}

// A style is an out type, which TraceLogging numbers in a way of its own.
type style struct {
	number byte
	out    etw.OutType
}

var (
	boolean = style{3, etw.OutBoolean}
	utf8    = style{35, etw.OutUTF8}
)

// numbers are the styles of integers, with the sizes that they are for.
var numbers = map[string]struct {
	style
	sizes string // "" is any
}{
	"pid":        {style{5, etw.OutPID}, "4"},
	"tid":        {style{6, etw.OutTID}, "4"},
	"port":       {style{7, etw.OutPort}, "2"},
	"ipv4":       {style{8, etw.OutIPv4}, "4"},
	"win32error": {style{13, etw.OutWin32Error}, "4"},
	"ntstatus":   {style{14, etw.OutNTStatus}, "4"},
	"hresult":    {style{15, etw.OutHResult}, "4"},
}

// field returns a field that is written in a style.
func (s scalar) field(name string) (field, error) {
	if name != "" {
		other, ok := s.styles[name]
		if !ok {
			return field{}, fmt.Errorf("it cannot be written as %q", name)
		}
		s = other
	}
	f := field{in: byte(s.in), out: s.out.number, encode: s.encode}
	f.desc.Type, f.desc.Out = s.in, s.out.out
	if s.shown != etw.InNull {
		f.desc.Type = s.shown
	}
	if s.in == etw.InBinary {
		f.desc.Length = etw.Size{Kind: etw.SizePrefix}
	}
	return f, nil
}

// integer returns how an integer of a size, in bytes, is written.
func integer(in etw.InType, size int, e encode) scalar {
	s := scalar{in: in, encode: e, styles: make(map[string]scalar)}
	hex := map[int]etw.OutType{1: etw.OutHexInt8, 2: etw.OutHexInt16, 4: etw.OutHexInt32, 8: etw.OutHexInt64}
	s.styles["hex"] = scalar{in: in, out: style{4, hex[size]}, encode: e}
	for name, n := range numbers {
		if n.sizes == fmt.Sprint(size) {
			s.styles[name] = scalar{in: in, out: n.style, encode: e}
		}
	}
	return s
}

// text returns how strings are written.
func text() scalar {
	s := scalar{in: etw.InAnsiString, out: utf8, encode: encodeText}
	s.styles = map[string]scalar{
		"utf16":   {in: etw.InUnicodeString, encode: encodeUTF16},
		"counted": {in: etw.InCountedAnsiString, out: utf8, encode: encodeCounted},
		"json":    {in: etw.InAnsiString, out: style{12, etw.OutJSON}, encode: encodeText},
		"xml":     {in: etw.InAnsiString, out: style{11, etw.OutXML}, encode: encodeText},
	}
	return s
}

// binaryScalar is that of bytes.
var binaryScalar = scalar{in: etw.InBinary, encode: encodeBinary}

// kinds has the types that are their kind.
var kinds = map[reflect.Kind]scalar{
	reflect.Bool:    {in: etw.InUInt8, shown: etw.InBool8, out: boolean, encode: encodeBool},
	reflect.Int8:    integer(etw.InInt8, 1, encode8),
	reflect.Uint8:   integer(etw.InUInt8, 1, encode8),
	reflect.Int16:   integer(etw.InInt16, 2, encode16),
	reflect.Uint16:  integer(etw.InUInt16, 2, encode16),
	reflect.Int32:   integer(etw.InInt32, 4, encode32),
	reflect.Uint32:  integer(etw.InUInt32, 4, encode32),
	reflect.Int64:   integer(etw.InInt64, 8, encode64),
	reflect.Uint64:  integer(etw.InUInt64, 8, encode64),
	reflect.Int:     integer(etw.InInt64, 8, encodeInt),
	reflect.Uint:    integer(etw.InUInt64, 8, encodeUint),
	reflect.Uintptr: {in: etw.InHexInt64, encode: encodeUint},
	reflect.Float32: {in: etw.InFloat, encode: encode32},
	reflect.Float64: {in: etw.InDouble, encode: encode64},
	reflect.String:  text(),
}

// scalars has the types that are more than their kind says.
var scalars = map[reflect.Type]scalar{
	reflect.TypeFor[time.Time]():      {in: etw.InFileTime, encode: encodeTime},
	reflect.TypeFor[time.Duration]():  {in: etw.InInt64, encode: encode64},
	reflect.TypeFor[etw.FileTime]():   {in: etw.InFileTime, encode: encode64},
	reflect.TypeFor[etw.SystemTime](): {in: etw.InSystemTime, encode: encodeSystemTime},
	reflect.TypeFor[etw.GUID]():       {in: etw.InGUID, encode: encodeGUID},
	reflect.TypeFor[etw.Pointer]():    {in: etw.InHexInt64, encode: encode64},
	reflect.TypeFor[etw.Bool]():       {in: etw.InBoolean, encode: encode32},
	reflect.TypeFor[etw.SID]():        {in: etw.InSID, encode: encodeSID},
	reflect.TypeFor[etw.ANSI]():       {in: etw.InAnsiString, encode: encodeANSI},
	reflect.TypeFor[etw.UTF16]():      {in: etw.InUnicodeString, encode: encodeUnits},
}
