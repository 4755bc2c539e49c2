package manifest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/etwgen/etwgen/runtime/etw"
)

// AppendXML appends the manifest as a file to b: one element a line, in the order
// that the schema asks for, and the texts by language at the end. The comment, if
// it is not "", comes first.
//
// [Parse] makes an equal model of it, places apart, in the mode that this one was read in.
// Parts that the model leaves out are not in the file, either.
func (m *Manifest) AppendXML(b []byte, comment string) []byte {
	w := &writer{xmlWriter: xmlWriter{b: b}}
	w.line(`<?xml version="1.0" encoding="utf-8"?>`)
	w.comment(comment)
	w.open(rootTag,
		"xmlns", eventsURI,
		"xmlns:win", winmetaURI,
		"xmlns:xs", schemaURI,
		"xmlns:etwgen", ExtensionNamespace)
	w.open("instrumentation")
	w.open("events")
	for _, p := range m.Providers {
		w.provider(p)
	}
	w.close("events")
	w.close("instrumentation")
	if len(m.Cultures) > 0 {
		w.open("localization")
		for _, c := range m.Cultures {
			w.culture(c)
		}
		w.close("localization")
	}
	w.close(rootTag)
	return w.b
}

// A writer writes the parts of a manifest.
type writer struct{ xmlWriter }

func (w *writer) provider(p *Provider) {
	events := ""
	switch {
	case p.Classic:
		events = "classic"
	case p.SelfDescribing:
		events = "self-describing"
	case p.EventSource && !slices.ContainsFunc(p.Events, isSourceMessage):
		events = "eventsource"
	}
	doc := w.begin("provider",
		"name", p.Name,
		"guid", "{"+p.GUID.String()+"}",
		"symbol", p.Symbol,
		"resourceFileName", p.ResourceFile,
		"messageFileName", p.MessageFile,
		"parameterFileName", p.ParameterFile,
		"message", message(p.Message, p.MessageID),
		"etwgen:events", events,
		"etwgen:name", p.GoName,
		"etwgen:doc", p.Doc)
	w.body(doc)
	list(w, "channels", p.Channels, w.channel)
	list(w, "levels", p.Levels, w.level)
	list(w, "tasks", p.Tasks, w.task)
	list(w, "opcodes", p.Opcodes, w.opcode)
	list(w, "keywords", p.Keywords, w.keyword)
	list(w, "maps", p.Maps, w.valueMap)
	list(w, "templates", p.Templates, w.template)
	list(w, "events", p.Events, w.event)
	w.close("provider")
}

// list writes an element with all of some parts in it, if there are any.
func list[T any](w *writer, tag string, parts []T, write func(T)) {
	if len(parts) == 0 {
		return
	}
	w.open(tag)
	for _, part := range parts {
		write(part)
	}
	w.close(tag)
}

// message returns a message attribute.
func message(text, id string) string {
	if id != "" {
		return "$(string." + id + ")"
	}
	return text
}

func (w *writer) channel(c *Channel) {
	tag, kind, enabled := "channel", c.Type, "false"
	if c.Imported {
		tag = "importChannel"
	}
	if c.Enabled {
		enabled = "true"
	}
	w.element(tag, "name", c.Name, "chid", c.ID, "symbol", c.Symbol, "type", kind, "value", number(uint64(c.Value)),
		"enabled", enabled, "isolation", c.Isolation, "access", c.Access, "message", message(c.Message, c.MessageID))
}

func (w *writer) level(l *Level) {
	w.element("level", "name", l.Name, "value", number(uint64(l.Value)), "symbol", l.Symbol,
		"message", message(l.Message, l.MessageID), "etwgen:name", l.GoName, "etwgen:doc", l.Doc)
}

func (w *writer) task(t *Task) {
	guid := ""
	if !t.EventGUID.IsZero() {
		guid = "{" + t.EventGUID.String() + "}"
	}
	doc := w.begin("task", "name", t.Name, "value", number(uint64(t.Value)), "symbol", t.Symbol, "eventGUID", guid,
		"message", message(t.Message, t.MessageID), "etwgen:name", t.GoName, "etwgen:doc", t.Doc)
	if len(t.Opcodes) == 0 {
		w.end("task", doc)
		return
	}
	w.body(doc)
	list(w, "opcodes", t.Opcodes, w.opcode)
	w.close("task")
}

func (w *writer) opcode(o *Opcode) {
	w.element("opcode", "name", o.Name, "value", number(uint64(o.Value)), "symbol", o.Symbol,
		"message", message(o.Message, o.MessageID), "etwgen:name", o.GoName, "etwgen:doc", o.Doc)
}

func (w *writer) keyword(k *Keyword) {
	costly := ""
	if k.Costly {
		costly = "true"
	}
	w.element("keyword", "name", k.Name, "mask", hex(k.Mask), "symbol", k.Symbol, "etwgen:costly", costly,
		"message", message(k.Message, k.MessageID), "etwgen:name", k.GoName, "etwgen:doc", k.Doc)
}

func (w *writer) valueMap(m *Map) {
	tag, value := "valueMap", number
	if m.Flags {
		tag, value = "bitMap", hex
	}
	w.body(w.begin(tag, "name", m.Name, "symbol", m.Symbol, "etwgen:name", m.GoName, "etwgen:doc", m.Doc))
	for _, e := range m.Entries {
		w.element("map", "value", value(uint64(e.Value)), "symbol", e.Symbol,
			"message", message(e.Message, e.StringID), "etwgen:name", e.GoName, "etwgen:doc", e.Doc)
	}
	w.close(tag)
}

func (w *writer) template(t *Template) {
	w.body(w.begin("template", "tid", t.ID, "etwgen:name", t.GoName, "etwgen:doc", t.Doc))
	for _, f := range t.Fields {
		w.field(f)
	}
	if len(t.UserData) > 0 {
		w.open("UserData")
		w.elements(t.UserData)
		w.close("UserData")
	}
	w.close("template")
}

func (w *writer) elements(list []*Element) {
	for _, e := range list {
		var attrs []string
		for _, a := range e.Attrs {
			attrs = append(attrs, a.Name, a.Value)
		}
		switch {
		case len(e.Children) > 0:
			w.open(e.Name, attrs...)
			w.elements(e.Children)
			w.close(e.Name)
		case e.Text != "":
			w.text(e.Name, e.Text, attrs...)
		default:
			w.empty(e.Name, attrs...)
		}
	}
}

// field writes a field of a template or a member of a struct.
func (w *writer) field(f *Field) {
	switch f.Type {
	case Opaque:
		w.opaque(f)
		return
	case etw.InStruct:
		w.body(w.begin("struct", "name", f.Name, "count", size(f.Count), "etwgen:count", toRest(f.Count),
			"etwgen:name", f.GoName, "etwgen:doc", f.Doc))
		for _, member := range f.Fields {
			w.field(member)
		}
		w.close("struct")
		return
	}
	inType, ours := TypeName(f.Type), ""
	if extensionTypes[inType] != etw.InNull {
		inType, ours = standIns[f.Type].String(), inType
	}
	valueMap := ""
	if f.Map != nil {
		valueMap = f.Map.Name
	}
	w.element("data", "name", f.Name, "inType", inType, "etwgen:inType", ours, "outType", f.OutType.String(),
		"map", valueMap, "count", size(f.Count), "etwgen:count", toRest(f.Count),
		"length", size(f.Length), "etwgen:length", toRest(f.Length), "etwgen:when", when(f.When),
		"etwgen:name", f.GoName, "etwgen:doc", f.Doc)
}

// opaque writes a field that stands for a layout which is lost, and the names of
// the fields that it replaces.
func (w *writer) opaque(f *Field) {
	w.element("data", "name", f.Name, "inType", etw.InBinary.String(), "etwgen:opaque", f.Opaque,
		"etwgen:name", f.GoName, "etwgen:doc", f.Doc)
	for _, name := range f.Lost[min(1, len(f.Lost)):] {
		w.element("data", "name", name, "inType", etw.InBinary.String())
	}
}

// size returns a count or a length that the schema of Windows has a word for.
func size(s Size) string {
	switch s.Kind {
	case etw.SizeConst:
		return number(uint64(s.Const))
	case etw.SizeField:
		return s.Field.Name
	}
	return ""
}

// toRest returns a count or a length that it has none for.
func toRest(s Size) string {
	if s.Kind == etw.SizeRest {
		return rest
	}
	return ""
}

// when returns an etwgen:when.
func when(w etw.When) string {
	switch {
	case w.Ptr == etw.Ptr32:
		return "ptr4"
	case w.Ptr == etw.Ptr64:
		return "ptr8"
	case w.Left == 1:
		return "rest"
	case w.Left > 1:
		return fmt.Sprintf("rest>=%d", w.Left)
	}
	return ""
}

func (w *writer) event(e *Event) {
	var level, task, opcode, channel, template, fields string
	var keywords []string
	if e.Level != nil {
		level = e.Level.Name
	}
	if e.Task != nil {
		task = e.Task.Name
	}
	if e.Opcode != nil {
		opcode = e.Opcode.Name
	}
	if e.Channel != nil {
		channel = cmp.Or(e.Channel.ID, e.Channel.Name)
	}
	switch o := e.Overridden; {
	case o != nil && o.Declared != nil:
		template, fields = o.Declared.ID, o.Fields
	case o != nil:
		fields = o.Fields
	case e.Template != nil:
		template = e.Template.ID
	}
	for _, k := range e.Keywords {
		keywords = append(keywords, k.Name)
	}
	version, asked := "", ""
	if e.SessionLevel != nil {
		asked = e.SessionLevel.Name
	}
	if e.Version > 0 {
		version = number(uint64(e.Version))
	}
	w.element("event", "value", number(uint64(e.ID)), "version", version, "symbol", e.Symbol,
		"channel", channel, "level", level, "task", task, "opcode", opcode,
		"keywords", strings.Join(keywords, " "), "template", template, "etwgen:fields", fields, "etwgen:named", e.TraceName, "etwgen:level", asked,
		"message", message(e.Message, e.MessageID), "etwgen:name", e.GoName, "etwgen:doc", e.Doc)
}

func (w *writer) culture(c *Culture) {
	w.verbatim("resources", []string{"culture", c.Name}) // which may be empty
	w.body("")
	w.open("stringTable")
	for _, id := range slices.Sorted(maps.Keys(c.Strings)) {
		// A string may be empty, which other attributes are never.
		w.indent()
		w.b = append(w.b, "<string"...)
		w.attr("id", id)
		w.attr("value", c.Strings[id])
		w.b = append(w.b, "/>\n"...)
	}
	w.close("stringTable")
	w.close("resources")
}

func number(v uint64) string { return strconv.FormatUint(v, 10) }

func hex(v uint64) string { return "0x" + strconv.FormatUint(v, 16) }
