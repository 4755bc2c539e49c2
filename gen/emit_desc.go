package gen

import (
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/etwgen/etwgen/manifest"
)

// emitEventDesc writes the description of an event.
func emitEventDesc(f *jen.File, ev *event) {
	e := ev.m
	fields := []jen.Code{
		key("Provider", jen.Op("&").Id("providerDesc")),
		key("ID", jen.Lit(int(e.ID)&0xffff)),
	}
	number := func(name string, v int) {
		if v != 0 {
			fields = append(fields, key(name, jen.Lit(v)))
		}
	}
	text := func(name, v string) {
		if v != "" {
			fields = append(fields, key(name, jen.Lit(v)))
		}
	}
	number("Version", int(e.Version))
	if e.Channel != nil {
		number("Channel", int(e.Channel.Value))
	}
	if e.Level != nil {
		number("Level", int(e.Level.Value))
	}
	if e.Opcode != nil {
		number("Opcode", int(e.Opcode.Value))
	}
	if e.Task != nil {
		number("Task", int(e.Task.Value))
	}
	if mask := e.Mask(); mask != 0 {
		fields = append(fields, key("Keywords", hex(mask)))
	}
	text("Name", e.Symbol)
	if e.Task != nil {
		text("TaskName", e.Task.Name)
	}
	if e.Opcode != nil {
		text("OpcodeName", strings.TrimPrefix(e.Opcode.Name, "win:"))
	}
	text("Message", e.Message)
	switch l := ev.layout; {
	case l == nil:
	case l.goName != "":
		fields = append(fields, key("Fields", jen.Id(l.descs())))
	default:
		fields = append(fields, key("Fields", fieldDescs(l.fields)))
	}
	if ev.extends != nil {
		fields = append(fields, key("Extends", jen.Op("&").Id(ev.extends.desc)))
	}
	fields = append(fields, key("New", jen.Func().Params().Add(etw("Event")).Add(brief(jen.Return(jen.New(jen.Id(ev.goName)))))))
	f.Var().Id(ev.desc).Op("=").Add(etw("EventDesc")).Add(lines(fields...))
	f.Line()
}

// fieldDescs returns the descriptions of fields.
func fieldDescs(fields []*field) *jen.Statement {
	items := make([]jen.Code, len(fields))
	for i, f := range fields {
		items[i] = fieldDesc(f)
	}
	return jen.Index().Add(etw("FieldDesc")).Add(lines(items...))
}

// fieldDesc returns the description of a field.
func fieldDesc(f *field) *jen.Statement {
	m := f.m
	name := m.Name
	if m.Type == manifest.Opaque {
		name = f.goName
	}
	parts := []jen.Code{key("Name", jen.Lit(name))}
	typ := inTypeNames[m.Type]
	if _, ok := f.kind.(restKind); ok {
		typ = "InBinary"
	}
	count, length := sizesOf(f.kind)
	parts = append(parts, key("Type", etw(typ)))
	if m.OutType != manifest.OutDefault {
		parts = append(parts, key("Out", etw(outTypeNames[m.OutType])))
	}
	if e := enumOf(f.kind); e != nil {
		parts = append(parts, key("Map", jen.Op("&").Id(e.desc)))
	}
	if count.kind != manifest.NoSize {
		parts = append(parts, key("Count", sizeDesc(count)))
	}
	if length.kind != manifest.NoSize {
		parts = append(parts, key("Length", sizeDesc(length)))
	}
	switch k := f.kind.(type) {
	case structKind:
		parts = append(parts, key("Fields", fieldDescs(k.s.fields)))
	case structArray:
		parts = append(parts, key("Fields", fieldDescs(k.s.fields)))
	}
	return jen.Values(parts...)
}

// sizeDesc returns the description of a count or length.
func sizeDesc(s size) *jen.Statement {
	switch s.kind {
	case manifest.ConstSize:
		return etw("Size").Values(key("Kind", etw("SizeConst")), key("N", jen.Lit(s.n)))
	case manifest.RestSize:
		return etw("Size").Values(key("Kind", etw("SizeRest")))
	}
	parts := []jen.Code{key("Kind", etw("SizeField"))}
	if s.up != 0 {
		parts = append(parts, key("Up", jen.Lit(s.up)))
	}
	if s.field.index != 0 {
		parts = append(parts, key("N", jen.Lit(s.field.index)))
	}
	return etw("Size").Values(parts...)
}

// inTypeNames holds the runtime's names of types.
var inTypeNames = map[manifest.InType]string{
	manifest.UnicodeString: "InUnicodeString",
	manifest.AnsiString:    "InAnsiString",
	manifest.Int8:          "InInt8",
	manifest.UInt8:         "InUInt8",
	manifest.Int16:         "InInt16",
	manifest.UInt16:        "InUInt16",
	manifest.Int32:         "InInt32",
	manifest.UInt32:        "InUInt32",
	manifest.Int64:         "InInt64",
	manifest.UInt64:        "InUInt64",
	manifest.Float:         "InFloat",
	manifest.Double:        "InDouble",
	manifest.Boolean:       "InBoolean",
	manifest.Binary:        "InBinary",
	manifest.GUIDType:      "InGUID",
	manifest.Pointer:       "InPointer",
	manifest.FileTime:      "InFileTime",
	manifest.SystemTime:    "InSystemTime",
	manifest.SID:           "InSID",
	manifest.HexInt32:      "InHexInt32",
	manifest.HexInt64:      "InHexInt64",
	manifest.Struct:        "InStruct",

	manifest.CountedUnicodeString: "InCountedUnicodeString",
	manifest.CountedAnsiString:    "InCountedAnsiString",
	manifest.CountedBinary:        "InCountedBinary",
}

// outTypeNames holds the runtime's names of the ways to render a field.
var outTypeNames = map[manifest.OutType]string{
	manifest.OutString:          "OutString",
	manifest.OutDateTime:        "OutDateTime",
	manifest.OutInt8:            "OutInt8",
	manifest.OutUInt8:           "OutUInt8",
	manifest.OutInt16:           "OutInt16",
	manifest.OutUInt16:          "OutUInt16",
	manifest.OutInt32:           "OutInt32",
	manifest.OutUInt32:          "OutUInt32",
	manifest.OutInt64:           "OutInt64",
	manifest.OutUInt64:          "OutUInt64",
	manifest.OutFloat:           "OutFloat",
	manifest.OutDouble:          "OutDouble",
	manifest.OutBoolean:         "OutBoolean",
	manifest.OutGUID:            "OutGUID",
	manifest.OutHexBinary:       "OutHexBinary",
	manifest.OutHexInt8:         "OutHexInt8",
	manifest.OutHexInt16:        "OutHexInt16",
	manifest.OutHexInt32:        "OutHexInt32",
	manifest.OutHexInt64:        "OutHexInt64",
	manifest.OutPID:             "OutPID",
	manifest.OutTID:             "OutTID",
	manifest.OutPort:            "OutPort",
	manifest.OutIPv4:            "OutIPv4",
	manifest.OutIPv6:            "OutIPv6",
	manifest.OutSocketAddress:   "OutSocketAddress",
	manifest.OutCIMDateTime:     "OutCIMDateTime",
	manifest.OutETWTime:         "OutETWTime",
	manifest.OutXML:             "OutXML",
	manifest.OutErrorCode:       "OutErrorCode",
	manifest.OutWin32Error:      "OutWin32Error",
	manifest.OutNTStatus:        "OutNTStatus",
	manifest.OutHResult:         "OutHResult",
	manifest.OutDateTimeCulture: "OutDateTimeCulture",
	manifest.OutJSON:            "OutJSON",
	manifest.OutUTF8:            "OutUTF8",
	manifest.OutPKCS7:           "OutPKCS7",
	manifest.OutCodePointer:     "OutCodePointer",
	manifest.OutDateTimeUTC:     "OutDateTimeUTC",
}
