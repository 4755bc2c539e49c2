package wpp

import (
	"errors"
	"strconv"
	"strings"

	"github.com/etwgen/etwgen/runtime/etw"
)

// items are the types of arguments. Their names are those of the files, without Item.
var items = []struct {
	names  string
	typ    etw.InType
	out    etw.OutType
	length uint32
}{
	{"Char", etw.InInt8, 0, 0},
	{"UChar ListByte SetByte", etw.InUInt8, 0, 0},
	{"Short", etw.InInt16, 0, 0},
	{"UShort ListShort SetShort", etw.InUInt16, 0, 0},
	{"Port", etw.InUInt16, etw.OutPort, 0},
	{"Long Enum", etw.InInt32, 0, 0},
	{"ULong ListLong SetLong FlagsEnum", etw.InUInt32, 0, 0},
	{"NTSTATUS NDIS_STATUS", etw.InUInt32, etw.OutNTStatus, 0},
	{"WINERROR", etw.InUInt32, etw.OutWin32Error, 0},
	{"HRESULT", etw.InUInt32, etw.OutHResult, 0},
	{"NDIS_OID", etw.InHexInt32, 0, 0},
	{"IPAddr", etw.InUInt32, etw.OutIPv4, 0},
	{"IPV6Addr", etw.InBinary, etw.OutIPv6, 16},
	{"MACAddr", etw.InBinary, 0, 6},
	{"Char4", etw.InAnsiString, 0, 4},
	{"WChar", etw.InChar16, 0, 0},
	{"LongLong WaitTime TimeDelta", etw.InInt64, 0, 0},
	{"ULongLong LongLongO", etw.InUInt64, 0, 0},
	{"LongLongX LongLongXX", etw.InHexInt64, 0, 0},
	{"Double", etw.InDouble, 0, 0},
	{"Timestamp", etw.InFileTime, 0, 0},
	{"Ptr", etw.InPointer, 0, 0},
	{"Guid CLSID LIBID IID", etw.InGUID, 0, 0},
	{"String RString", etw.InAnsiString, 0, 0},
	{"WString RWString", etw.InUnicodeString, 0, 0},
	{"PString", etw.InCountedAnsiString, 0, 0},
	{"PWString", etw.InCountedUnicodeString, 0, 0},
	{"HexDump", etw.InCountedBinary, 0, 0},
	{"Sid", etw.InSID, 0, 0},
}

var errArgument = errors.New("it is no argument such as EXPRESSION, ItemTYPE -- INDEX")

// parseArgument reads the line of an argument. The expression is C, and may have commas, the
// word Item and dashes.
func parseArgument(line string) (argument, error) {
	end := strings.LastIndex(line, " -- ")
	if end < 0 {
		return argument{}, errArgument
	}
	index, err := strconv.ParseUint(strings.TrimSpace(line[end+4:]), 10, 16)
	line = line[:end]
	at := strings.LastIndex(line, ", Item")
	if at < 0 || err != nil {
		return argument{}, errArgument
	}
	expression, item := line[:at], line[at+len(", Item"):]
	item, list, listed := strings.Cut(strings.TrimSpace(item), "(")
	a := argument{index: int(index), field: fieldOf(item)}
	if a.field.Name = fieldName(expression); a.field.Name == "" || a.field.Name == "Arg" {
		a.field.Name = "arg" + strconv.Itoa(int(index))
	}
	if a.field.Length.Kind == etw.SizeRest {
		a.field.Name += "_Item" + item
	}
	if listed && (strings.HasPrefix(item, "List") || strings.HasPrefix(item, "Set")) {
		a.field.Map = mapOf(strings.TrimSuffix(list, ")"), strings.HasPrefix(item, "Set"))
	}
	return a, nil
}

// fieldOf returns the field of a type. One that is not known takes the rest of the message.
func fieldOf(item string) etw.FieldDesc {
	for _, i := range items {
		for name := range strings.SplitSeq(i.names, " ") {
			if name != item {
				continue
			}
			f := etw.FieldDesc{Type: i.typ, Out: i.out}
			if i.length > 0 {
				f.Length = etw.Size{Kind: etw.SizeConst, N: i.length}
			}
			return f
		}
	}
	return etw.FieldDesc{Type: etw.InBinary, Length: etw.Size{Kind: etw.SizeRest}}
}

// fieldName returns the last name of an expression such as device->Power.State, "" for others.
func fieldName(expression string) string {
	expression = strings.TrimLeft(strings.TrimSpace(expression), "*&")
	name := expression[strings.LastIndexAny(expression, ".>")+1:]
	for i, c := range strings.ReplaceAll(expression, "->", ".") {
		if !(c == '_' || c == '.' && i > 0 || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || i > 0 && c >= '0' && c <= '9') {
			return ""
		}
	}
	if name != "" && name[0] >= '0' && name[0] <= '9' {
		return ""
	}
	return name
}

// mapOf returns the names of values that count from 0 on, or from the number that one is given; of
// a set they are numbers of bits.
func mapOf(list string, set bool) *etw.MapDesc {
	m := &etw.MapDesc{Flags: set}
	next := uint64(0)
	for name := range strings.SplitSeq(list, ",") {
		name, number, given := strings.Cut(name, "=")
		if n, err := strconv.ParseUint(strings.TrimSpace(number), 0, 32); given && err == nil {
			next = n
		}
		value := uint32(next)
		if next++; set {
			value = uint32(1) << (value & 31)
		}
		m.Entries = append(m.Entries, etw.MapEntry{Value: value, Name: strings.TrimSpace(name)})
	}
	return m
}
