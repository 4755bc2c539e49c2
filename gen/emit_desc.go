package gen

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/etwgen/etwgen/internal/each"
	"github.com/etwgen/etwgen/manifest"
	"github.com/etwgen/etwgen/runtime/etw"
)

// emitEventDesc writes the description of an event: the values of record headers, the class
// and the names, the message and the fields, each from a line of its own.
func emitEventDesc(f *jen.File, ev *event) {
	header, names := headerDesc(ev.m), namesDesc(ev)
	rows := append(fold(header...), fold(names...)...)
	if len(fold(header...)) > 1 { // what is left of it shares its line
		rows = fold(append(header, names...)...)
	}
	if ev.m.Message != "" {
		rows = append(rows, key("Message", jen.Lit(ev.m.Message)))
	}
	if t := ev.m.Template; t != nil && len(t.UserData) > 0 {
		rows = append(rows, key("UserData", jen.Lit(t.UserDataXML())))
	}
	switch l := ev.layout; {
	case l == nil:
	case l.goName != "":
		rows = append(rows, key("Fields", id(l.descs())))
	default:
		rows = append(rows, key("Fields", fieldDescs(l.fields)))
	}
	f.Var().Id(ev.desc).Op("=").Add(rt("EventDesc")).Add(lines(rows...))
	f.Line()
}

// headerDesc describes the headers of records.
func headerDesc(e *manifest.Event) []part {
	list := []part{keyPart("Provider", addr("providerDesc"), "&providerDesc")}
	if e.Kind() == etw.KindClassic {
		list = append(list, keyPart("Kind", rt("KindClassic"), "etw.KindClassic"))
	}
	list = append(list, numberPart("ID", int(e.ID)&0xffff))
	number := func(name string, v int) {
		if v != 0 {
			list = append(list, numberPart(name, v))
		}
	}
	number("Version", int(e.Version))
	if e.Channel != nil {
		number("Channel", int(e.Channel.Value))
	}
	if e.Level != nil {
		number("Level", int(e.Level.Value))
	}
	if e.SessionLevel != nil {
		number("SessionLevel", int(e.SessionLevel.Value))
	}
	if e.Opcode != nil {
		number("Opcode", int(e.Opcode.Value))
	}
	if e.Task != nil {
		number("Task", int(e.Task.Value))
	}
	if mask := e.Mask(); mask != 0 {
		list = append(list, keyPart("Keywords", hex(mask), fmt.Sprintf("%#x", mask)))
	}
	return list
}

// namesDesc describes the names of the event.
func namesDesc(ev *event) []part {
	var list []part
	text := func(name, v string) {
		if v != "" {
			list = append(list, keyPart(name, jen.Lit(v), strconv.Quote(v)))
		}
	}
	e := ev.m
	if e.Task != nil && !e.Task.EventGUID.IsZero() {
		class := ev.pkg.classes[e.Task.EventGUID]
		list = append(list, keyPart("Class", id(class), class))
	}
	text("Name", cmp.Or(e.TraceName, e.Symbol))
	if ev.named {
		list = append(list, keyPart("Named", jen.True(), "true"))
	}
	if e.Task != nil {
		text("TaskName", e.Task.Name)
	}
	if e.Opcode != nil {
		text("OpcodeName", strings.TrimPrefix(e.Opcode.Name, "win:"))
	}
	return list
}

// fieldDescs returns the descriptions of fields.
func fieldDescs(fields []*field) *jen.Statement {
	items := each.Of(fields, func(f *field) jen.Code { return fieldDesc(f) })
	return jen.Index().Add(rt("FieldDesc")).Add(lines(items...))
}

// fieldDesc returns the description of a field.
func fieldDesc(f *field) *jen.Statement {
	parts := []jen.Code{key("Name", jen.Lit(f.name)), key("Type", rt(inTypeNames[f.inType]))}
	if out := f.m.OutType; out != etw.OutDefault {
		parts = append(parts, key("Out", rt(outTypeNames[out])))
	}
	if e := f.kind.enum(); e != nil {
		parts = append(parts, key("Map", addr(e.desc)))
	}
	count, length := f.kind.sizes()
	if count.kind != etw.SizeNone {
		parts = append(parts, key("Count", sizeDesc(count)))
	}
	if length.kind != etw.SizeNone {
		parts = append(parts, key("Length", sizeDesc(length)))
	}
	switch when := f.m.When; {
	case when.Left > 0:
		parts = append(parts, key("When", rt("When").Values(key("Left", jen.Lit(int(when.Left))))))
	case when.Ptr != 0:
		parts = append(parts, key("When", rt("When").Values(key("Ptr", jen.Lit(int(when.Ptr))))))
	}
	if s := f.kind.members(); s != nil {
		parts = append(parts, key("Fields", fieldDescs(s.fields)))
	}
	return jen.Values(parts...)
}

// sizeDesc returns the description of a count or length.
func sizeDesc(s size) *jen.Statement {
	switch s.kind {
	case etw.SizeConst:
		return rt("Size").Values(key("Kind", rt("SizeConst")), key("N", jen.Lit(s.n)))
	case etw.SizeRest:
		return rt("Size").Values(key("Kind", rt("SizeRest")))
	}
	parts := []jen.Code{key("Kind", rt("SizeField"))}
	if s.up != 0 {
		parts = append(parts, key("Up", jen.Lit(s.up)))
	}
	if s.field.index != 0 {
		parts = append(parts, key("N", jen.Lit(s.field.index)))
	}
	return rt("Size").Values(parts...)
}

// inTypeNames holds the runtime's names of types.
var inTypeNames = map[etw.InType]string{
	etw.InUnicodeString: "InUnicodeString",
	etw.InAnsiString:    "InAnsiString",
	etw.InInt8:          "InInt8",
	etw.InUInt8:         "InUInt8",
	etw.InInt16:         "InInt16",
	etw.InUInt16:        "InUInt16",
	etw.InInt32:         "InInt32",
	etw.InUInt32:        "InUInt32",
	etw.InInt64:         "InInt64",
	etw.InUInt64:        "InUInt64",
	etw.InFloat:         "InFloat",
	etw.InDouble:        "InDouble",
	etw.InBoolean:       "InBoolean",
	etw.InBinary:        "InBinary",
	etw.InGUID:          "InGUID",
	etw.InPointer:       "InPointer",
	etw.InFileTime:      "InFileTime",
	etw.InSystemTime:    "InSystemTime",
	etw.InSID:           "InSID",
	etw.InWBEMSID:       "InWBEMSID",
	etw.InBool8:         "InBool8",
	etw.InVarInt:        "InVarInt",
	etw.InVarUint:       "InVarUint",
	etw.InHexInt32:      "InHexInt32",
	etw.InHexInt64:      "InHexInt64",
	etw.InStruct:        "InStruct",

	etw.InCountedUnicodeString: "InCountedUnicodeString",
	etw.InCountedAnsiString:    "InCountedAnsiString",
	etw.InCountedBinary:        "InCountedBinary",
}

// outTypeNames are the runtime's names of the ways to render a field, in the order of their numbers.
var outTypeNames = strings.Fields(`OutDefault OutString OutDateTime OutInt8 OutUInt8 OutInt16 OutUInt16 OutInt32 OutUInt32 OutInt64
	OutUInt64 OutFloat OutDouble OutBoolean OutGUID OutHexBinary OutHexInt8 OutHexInt16 OutHexInt32
	OutHexInt64 OutPID OutTID OutPort OutIPv4 OutIPv6 OutSocketAddress OutCIMDateTime OutETWTime
	OutXML OutErrorCode OutWin32Error OutNTStatus OutHResult OutDateTimeCulture OutJSON OutUTF8
	OutPKCS7 OutCodePointer OutDateTimeUTC`)
