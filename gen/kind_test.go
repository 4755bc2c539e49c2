package gen

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dave/jennifer/jen"
)

// TestKinds checks each shape of field against the lines it becomes.
func TestKinds(t *testing.T) {
	const (
		count  = `<data name="N" inType="win:UInt8"/>`
		str    = `<struct name="F" count="N"><data name="A" inType="win:UInt8"/><data name="B" inType="win:Pointer"/></struct>`
		single = `<struct name="F"><data name="A" inType="win:UInt8"/></struct>`
	)
	tests := []struct {
		name, items string
		goType      string
		load        string // "" if the field is in no prefix
		read        string
		append      string
		write       string
		value       string
	}{
		{"uint8", item("F", "UInt8"), "uint8", "p[7]", "e.F = c.Uint8()", "append(b, e.F)", "a.Uint8(e.F)", "etw.UintValue(uint64(e.F))"},
		{"int8", item("F", "Int8"), "int8", "int8(p[7])", "e.F = c.Int8()", "append(b, uint8(e.F))", "a.Int8(e.F)", "etw.IntValue(int64(e.F))"},
		{"uint32", item("F", "UInt32"), "uint32", "binary.LittleEndian.Uint32(p[7:])", "e.F = c.Uint32()",
			"binary.LittleEndian.AppendUint32(b, e.F)", "a.Uint32(e.F)", "etw.UintValue(uint64(e.F))"},
		{"int64", item("F", "Int64"), "int64", "int64(binary.LittleEndian.Uint64(p[7:]))", "e.F = c.Int64()",
			"binary.LittleEndian.AppendUint64(b, uint64(e.F))", "a.Int64(e.F)", "etw.IntValue(e.F)"},
		{"float", item("F", "Float"), "float32", "math.Float32frombits(binary.LittleEndian.Uint32(p[7:]))", "e.F = c.Float32()",
			"binary.LittleEndian.AppendUint32(b, math.Float32bits(e.F))", "a.Float32(e.F)", "etw.Float32Value(e.F)"},
		{"boolean", item("F", "Boolean"), "etw.Bool", "etw.Bool(binary.LittleEndian.Uint32(p[7:]))", "e.F = c.Bool()",
			"binary.LittleEndian.AppendUint32(b, uint32(e.F))", "a.Bool(e.F)", "etw.BoolValue(e.F)"},
		{"time", item("F", "FILETIME"), "etw.FileTime", "etw.FileTime(binary.LittleEndian.Uint64(p[7:]))", "e.F = c.FileTime()",
			"binary.LittleEndian.AppendUint64(b, uint64(e.F))", "a.FileTime(e.F)", "etw.FileTimeValue(e.F)"},
		{"enum", item("F", "UInt16", `map="M"`), "M", "M(binary.LittleEndian.Uint16(p[7:]))", "e.F = M(c.Uint16())",
			"binary.LittleEndian.AppendUint16(b, uint16(e.F))", "a.Uint16(uint16(e.F))", "etw.UintValue(uint64(e.F))"},
		{"GUID", item("F", "GUID"), "etw.GUID", "etw.GUID(p[7:23])", "e.F = c.GUID()", "append(b, e.F[:]...)", "a.GUID(e.F)", "etw.GUIDValue(e.F)"},
		{"date", item("F", "SYSTEMTIME"), "etw.SystemTime", "etw.LoadSystemTime(p[7:])", "e.F = c.SystemTime()",
			"etw.AppendSystemTime(b, e.F)", "a.SystemTime(e.F)", "etw.SystemTimeValue(e.F)"},
		{"pointer", item("F", "Pointer"), "etw.Pointer", "", "e.F = c.Pointer()", "", "a.Pointer(0, e.F)", "etw.PointerValue(e.F)"},
		{"string", item("F", "UnicodeString"), "etw.UTF16", "", "e.F = c.UTF16()", "", "a.UTF16Z(0, e.F)", "etw.UTF16Value(e.F)"},
		{"string of a length", count + item("F", "AnsiString", `length="N"`), "etw.ANSI", "", "e.F = c.ANSIN(uint64(e.N))", "",
			"a.ANSIN(1, e.F, uint64(e.N))", "etw.ANSIValue(e.F)"},
		{"binary", item("F", "Binary", `length="20"`), "etw.Binary", "", "e.F = c.BinaryN(20)", "", "a.BinaryN(0, e.F, 20)", "etw.BinaryValue(e.F)"},
		{"SID", item("F", "SID"), "etw.SID", "", "e.F = c.SID()", "", "a.SID(0, e.F)", "etw.SIDValue(e.F)"},
		{"numbers", count + item("F", "Int16", `count="N"`), "etw.Int16s", "", "e.F = c.Int16s(uint64(e.N))", "",
			"a.Int16s(1, e.F, uint64(e.N))", "etw.ArrayValue(&e.Fields[1], e.F, e.F.Len(), 0, e)"},
		{"enums", item("F", "UInt8", `map="M"`, `count="4"`), "etw.Ints[M]", "", "e.F = etw.ReadInts[M](&c, 4)", "",
			"etw.AppendInts(&a, 0, e.F, 4)", "etw.ArrayValue(&e.Fields[0], e.F, e.F.Len(), 0, e)"},
		{"pointers", count + item("F", "Pointer", `count="N"`), "etw.Pointers", "", "e.F = c.Pointers(uint64(e.N))", "",
			"a.Pointers(1, e.F, uint64(e.N))", "etw.ArrayValue(&e.Fields[1], e.F.Bytes(), e.F.Len(), e.F.PtrSize(), e)"},
		{"strings", count + item("F", "UnicodeString", `count="N"`), "etw.UTF16s", "", "e.F = c.UTF16s(uint64(e.N))", "",
			"a.UTF16s(1, e.F, uint64(e.N))", "etw.ListValue(&e.Fields[1], e.F)"},
		{"strings of a length", count + item("F", "UnicodeString", `count="3" length="N"`), "etw.UTF16s", "", "e.F = c.UTF16sN(3, uint64(e.N))", "",
			"a.UTF16sN(1, e.F, 3, uint64(e.N))", "etw.ListValue(&e.Fields[1], e.F)"},
		{"struct", single, "EF", "", "e.F.read(&c)", "", "e.F.write(&a, 0)", "etw.StructValue(&e.Fields[0], &e.F)"},
		{"structs", count + str, "EFList", "", "e.F.read(&c, uint64(e.N))", "", "e.F.write(&a, 1, uint64(e.N))",
			"etw.ArrayValue(&e.Fields[1], e.F.p, e.F.n, e.F.ptr, e)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := buildTemplate(t, tt.items).layouts[0]
			f := l.fields[len(l.fields)-1]
			c := code{recv: "e", fields: jen.Id("e").Dot("Fields")}
			check := func(what, want string, got jen.Code) {
				t.Helper()
				// %#v renders as a file would, with the imports by their names.
				if text := strings.TrimSpace(fmt.Sprintf("%#v", got)); text != want {
					t.Errorf("%s:\n%s\nwant:\n%s", what, text, want)
				}
			}
			check("type", tt.goType, f.kind.goType().code())
			if got := f.kind.goType().String(); got != tt.goType {
				t.Errorf("type %s, want %s", got, tt.goType)
			}
			check("read", tt.read, f.kind.read(c, f))
			check("write", tt.write, f.kind.write(c, f))
			check("value", tt.value, f.kind.value(c, f))
			k, fixed := f.kind.(fixedKind)
			if fixed != (tt.load != "") {
				t.Fatalf("fixed: %v", fixed)
			}
			if fixed {
				check("load", tt.load, k.load(7))
				check("append", tt.append, k.appendTo(c.x(f)))
			}
		})
	}
}
