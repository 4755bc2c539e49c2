package schema

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/etwgen/etwgen/runtime/etw"
)

// maxSchemaFields bounds how many fields may be in a list and those around it.
const maxSchemaFields = 4096

// A manifestParser turns the XML of an EventSource's manifest into descriptions.
// Events refer to templates, and those to maps and to strings, of which some
// come later in the document: so it first collects them all.
type manifestParser struct {
	provider *etw.ProviderDesc
	arena    *descArena

	strings   map[string]string
	tasks     map[string]uint16
	opcodes   map[opcodeKey]etw.Opcode
	keywords  map[string]uint64
	maps      map[string]*etw.MapDesc
	declared  map[*etw.MapDesc]bool // of maps, which fields may name before
	templates map[string]template
	events    []string // the attributes of each
	scopes    []int    // for reuse by template
	limit     int      // of what arena has made
}

// Manifests that programs write take more text than their descriptions take memory. A
// description of more than maxDescription times the text, after the first freeDescription
// bytes, is left out.
const (
	maxDescription  = 2
	freeDescription = 64 << 10
)

// An opcodeKey names an opcode, of one task or, with none, of all.
type opcodeKey struct{ task, name string }

// A template is a list of fields. bad is set where it makes no sense.
type template struct {
	fields []etw.FieldDesc
	bad    bool
}

var errNoProvider = errors.New("no provider")

// parseManifest returns the name of the provider in a manifest and the
// descriptions of its events, whose provider has the given GUID. An event that
// makes no sense is left out.
func parseManifest(text string, guid etw.GUID, arena *descArena) (name string, list events, err error) {
	p := manifestParser{
		provider:  &etw.ProviderDesc{GUID: guid},
		arena:     arena,
		strings:   make(map[string]string),
		tasks:     make(map[string]uint16),
		opcodes:   make(map[opcodeKey]etw.Opcode),
		keywords:  make(map[string]uint64),
		maps:      make(map[string]*etw.MapDesc),
		declared:  make(map[*etw.MapDesc]bool),
		templates: make(map[string]template),
		limit:     arena.made + freeDescription + maxDescription*len(text),
	}
	p.events = make([]string, 0, strings.Count(text, "<event "))
	p.scan(text)
	if p.provider.Name == "" {
		return "", nil, fmt.Errorf("%w: %w", errSchema, errNoProvider)
	}
	p.nameMaps()
	if len(p.declared) < len(p.maps) {
		for _, t := range p.templates {
			p.dropMaps(t.fields)
		}
	}
	list = make(events, len(p.events))
	for _, attributes := range p.events {
		if d := p.event(attributes); d != nil {
			list[eventKey(d.ID, d.Version)] = d
		}
	}
	return p.provider.Name, list, nil
}

// scan collects everything that is declared in the document.
func (p *manifestParser) scan(text string) {
	x := xmlScanner{s: text}
	var task string // that the scan is in
	for {
		tag := x.next()
		if tag == xmlEOF {
			return
		}
		if tag == xmlEnd {
			if x.name == "task" {
				task = ""
			}
			continue
		}
		a := x.attributes
		name := func() string { return attribute(a, "name") }
		switch x.name {
		case "provider":
			if p.provider.Name != "" {
				return // a manifest in a trace is that of one
			}
			p.provider.Name = name()
		case "task":
			v, _ := parseNumber(attribute(a, "value"), 16)
			p.tasks[name()] = uint16(v)
			if !x.empty {
				task = name()
			}
		case "opcode":
			v, _ := parseNumber(attribute(a, "value"), 8)
			p.opcodes[opcodeKey{task, name()}] = etw.Opcode(v)
		case "keyword":
			mask, _ := parseNumber(attribute(a, "mask"), 64)
			p.keywords[name()] = mask
		case "valueMap", "bitMap":
			m := p.mapOf(name())
			m.Flags = x.name == "bitMap"
			p.declared[m] = true
			if !x.empty {
				m.Entries = mapEntries(&x)
			}
		case "event":
			p.events = append(p.events, a)
		case "template":
			if id := attribute(a, "tid"); !x.empty {
				p.templates[id] = p.template(&x)
			} else {
				p.templates[id] = template{}
			}
		case "string":
			// The first language that says it.
			id := attribute(a, "id")
			if _, ok := p.strings[id]; !ok {
				p.strings[id] = attribute(a, "value")
			}
		}
	}
}

// mapOf returns the map of the given name, which is empty until the scan comes to
// it.
func (p *manifestParser) mapOf(name string) *etw.MapDesc {
	m := p.maps[name]
	if m == nil {
		m = &etw.MapDesc{Name: name}
		p.maps[name] = m
	}
	return m
}

// mapEntries reads the entries of a map up to its end.
func mapEntries(x *xmlScanner) (entries []etw.MapEntry) {
	for {
		switch tag := x.next(); {
		case tag == xmlEOF, tag == xmlEnd && x.name != "map":
			return entries
		case tag == xmlStart && x.name == "map":
			v, err := parseNumber(attribute(x.attributes, "value"), 64)
			if err == nil && (v>>32 == 0 || int64(v) == int64(int32(v))) { // also negative ones of an enum
				entries = append(entries, etw.MapEntry{Value: uint32(v), Name: attribute(x.attributes, "message")})
			}
		}
	}
}

// dropMaps takes maps from fields that are declared nowhere.
func (p *manifestParser) dropMaps(fields []etw.FieldDesc) {
	for i := range fields {
		if !p.declared[fields[i].Map] {
			fields[i].Map = nil
		}
		p.dropMaps(fields[i].Fields)
	}
}

// nameMaps replaces references to strings in the entries of maps.
func (p *manifestParser) nameMaps() {
	for _, m := range p.maps {
		for i := range m.Entries {
			m.Entries[i].Name = p.text(m.Entries[i].Name)
		}
	}
}

// text returns the string that $(string.id) stands for.
func (p *manifestParser) text(s string) string {
	id, ok := strings.CutPrefix(s, "$(string.")
	if !ok {
		return s
	}
	id = strings.TrimSuffix(id, ")")
	if v, ok := p.strings[id]; ok {
		return v
	}
	return id
}

func (p *manifestParser) event(attributes string) *etw.EventDesc {
	id, err := parseNumber(attribute(attributes, "value"), 16)
	if err != nil {
		return nil
	}
	v := attribute(attributes, "version")
	version, err := parseNumber(v, 8)
	if err != nil && v != "" {
		return nil
	}
	tid := attribute(attributes, "template")
	t, ok := p.templates[tid]
	if tid != "" && (!ok || t.bad) || p.arena.made > p.limit {
		return nil
	}
	d := p.arena.event()
	*d = etw.EventDesc{
		Provider: p.provider,
		ID:       uint16(id),
		Version:  uint8(version),
		Level:    level(attribute(attributes, "level")),
		Name:     attribute(attributes, "symbol"),
		TaskName: attribute(attributes, "task"),
		Message:  p.text(attribute(attributes, "message")),
		Fields:   t.fields,
	}
	d.Task = p.tasks[d.TaskName]
	d.Opcode, d.OpcodeName = p.opcode(attribute(attributes, "opcode"), d.TaskName)
	for k := range strings.FieldsSeq(attribute(attributes, "keywords")) {
		d.Keywords |= p.keywords[k]
	}
	return d
}

// opcode returns the number and the name of an opcode: one of the system's, of
// the event's task, or of the provider.
func (p *manifestParser) opcode(name, task string) (etw.Opcode, string) {
	if standard, ok := strings.CutPrefix(name, "win:"); ok {
		if o, ok := etw.ParseOpcode(standard); ok {
			return o, o.String()
		}
	}
	if v, ok := p.opcodes[opcodeKey{task, name}]; ok {
		return v, name
	}
	return p.opcodes[opcodeKey{"", name}], name
}

// level returns the number of a level of the system's. Those of a provider's own
// are of no use without their names.
func level(name string) etw.Level {
	l, _ := etw.ParseLevel(name)
	return l
}

// template reads the fields of a template up to its end.
func (p *manifestParser) template(x *xmlScanner) template {
	t := templateParser{manifestParser: p, x: x, scopes: p.scopes[:0]}
	fields := t.list("template")
	p.scopes = t.scopes
	return template{fields, t.bad}
}

// A templateParser reads a template. scopes says where in the arena the lists
// begin that it is in.
type templateParser struct {
	*manifestParser
	x      *xmlScanner
	scopes []int
	bad    bool
}

// list reads fields up to the end of the element that they are in.
func (t *templateParser) list(element string) []etw.FieldDesc {
	begin := t.arena.begin()
	t.scopes = append(t.scopes, begin)
	t.bad = t.bad || len(t.scopes) > maxSchemaDepth
	for {
		switch t.x.next() {
		case xmlEOF:
			t.bad = true
		case xmlStart:
			if !t.bad && (t.x.name == "data" || t.x.name == "struct") {
				t.arena.add(t.field())
				t.bad = t.bad || t.arena.begin()-t.scopes[0] > maxSchemaFields || t.arena.made > t.limit
			}
			continue
		case xmlEnd:
			if t.x.name != element {
				continue
			}
		}
		t.scopes = t.scopes[:len(t.scopes)-1]
		return t.arena.end(begin)
	}
}

// field reads the field whose tag the scanner is at.
func (t *templateParser) field() (f etw.FieldDesc) {
	a := t.x.attributes
	f.Name = attribute(a, "name")
	f.Count = t.size(attribute(a, "count"))
	if t.x.name == "struct" {
		f.Type = etw.InStruct
		if !t.x.empty {
			f.Fields = t.list("struct")
		}
		return f
	}
	typ, ok := manifestTypes[attribute(a, "inType")]
	if !ok {
		t.bad = true
		return f
	}
	f.Type = typ
	f.Out = manifestOuts[attribute(a, "outType")]
	if name := attribute(a, "map"); name != "" {
		f.Map = t.mapOf(name)
	}
	switch typ {
	case etw.InUnicodeString, etw.InAnsiString, etw.InBinary, etw.InSID:
		f.Length = t.size(attribute(a, "length"))
		if typ == etw.InBinary && f.Length.Kind == etw.SizeNone {
			f.Length = binaryLength(f.Out)
		}
	}
	return f
}

// binaryLength returns the length of a binary value that says none.
func binaryLength(out etw.OutType) etw.Size {
	if out == etw.OutIPv6 {
		return etw.Size{Kind: etw.SizeConst, N: 16}
	}
	return etw.Size{Kind: etw.SizeRest}
}

// size reads a length or count: a number, or the name of an earlier field.
func (t *templateParser) size(s string) etw.Size {
	if s == "" {
		return etw.Size{}
	}
	end := t.arena.begin()
	for up := range t.scopes {
		begin := t.scopes[len(t.scopes)-1-up]
		for i, f := range t.arena.open[begin:end] {
			if f.Name == s {
				return etw.Size{Kind: etw.SizeField, Up: uint8(up), N: uint32(i)}
			}
		}
		end = begin
	}
	n, err := parseNumber(s, 32)
	if err != nil {
		t.bad = true
	}
	return etw.Size{Kind: etw.SizeConst, N: uint32(n)}
}

// parseNumber reads a number in decimal, or after 0x in hexadecimal. Negative ones count by
// their bits.
func parseNumber(s string, bits int) (uint64, error) {
	if s == "" {
		return 0, strconv.ErrSyntax
	}
	if s[0] != '-' {
		return strconv.ParseUint(s, 0, bits)
	}
	v, err := strconv.ParseInt(s, 0, bits)
	return uint64(v) & (1<<(bits-1)<<1 - 1), err
}

var manifestTypes = map[string]etw.InType{
	"win:UnicodeString": etw.InUnicodeString, "win:AnsiString": etw.InAnsiString,
	"win:Int8": etw.InInt8, "win:UInt8": etw.InUInt8, "win:Int16": etw.InInt16, "win:UInt16": etw.InUInt16,
	"win:Int32": etw.InInt32, "win:UInt32": etw.InUInt32, "win:Int64": etw.InInt64, "win:UInt64": etw.InUInt64,
	"win:Float": etw.InFloat, "win:Double": etw.InDouble, "win:Boolean": etw.InBoolean, "win:Binary": etw.InBinary,
	"win:GUID": etw.InGUID, "win:Pointer": etw.InPointer, "win:FILETIME": etw.InFileTime,
	"win:SYSTEMTIME": etw.InSystemTime, "win:SID": etw.InSID, "win:HexInt32": etw.InHexInt32, "win:HexInt64": etw.InHexInt64,
	"win:CountedUnicodeString": etw.InCountedUnicodeString, "win:CountedAnsiString": etw.InCountedAnsiString,
	"win:CountedBinary": etw.InCountedBinary,
	// As EventSource of the .NET Framework writes some of them.
	"trace:UnicodeString": etw.InUnicodeString, "trace:AnsiString": etw.InAnsiString,
}

var manifestOuts = map[string]etw.OutType{
	"xs:string": etw.OutString, "xs:dateTime": etw.OutDateTime, "xs:GUID": etw.OutGUID, "xs:boolean": etw.OutBoolean,
	"xs:hexBinary": etw.OutHexBinary, "win:HexInt8": etw.OutHexInt8, "win:HexInt16": etw.OutHexInt16,
	"win:HexInt32": etw.OutHexInt32, "win:HexInt64": etw.OutHexInt64, "win:PID": etw.OutPID, "win:TID": etw.OutTID,
	"win:Port": etw.OutPort, "win:IPv4": etw.OutIPv4, "win:IPv6": etw.OutIPv6, "win:SocketAddress": etw.OutSocketAddress,
	"win:CIMDateTime": etw.OutCIMDateTime, "win:ETWTIME": etw.OutETWTime, "win:Xml": etw.OutXML,
	"win:ErrorCode": etw.OutErrorCode, "win:Win32Error": etw.OutWin32Error, "win:NTSTATUS": etw.OutNTStatus,
	"win:HResult": etw.OutHResult, "win:DateTimeCultureInsensitive": etw.OutDateTimeCulture,
	"win:Json": etw.OutJSON, "win:Utf8": etw.OutUTF8, "win:Pkcs7WithTypeInfo": etw.OutPKCS7,
	"win:CodePointer": etw.OutCodePointer, "win:DateTimeUtc": etw.OutDateTimeUTC,
}
