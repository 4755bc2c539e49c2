package eventsource

import (
	"encoding/xml"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/etwgen/etwgen/manifest"
)

// The head of a manifest, to the first provider, and its end. The second part of the head is
// for those that have more than .NET's.
const (
	headOfManifest = "<instrumentationManifest xmlns=\"http://schemas.microsoft.com/win/2004/08/events\"%%>\n" +
		" <instrumentation xmlns:xs=\"http://www.w3.org/2001/XMLSchema\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"" +
		" xmlns:win=\"http://manifests.microsoft.com/win/2004/08/windows/events\">\n" +
		"  <events xmlns=\"http://schemas.microsoft.com/win/2004/08/events\">\n"
	endOfProviders = "</events>\n</instrumentation>\n<localization>\n"
	endOfManifest  = "</localization>\n</instrumentationManifest>\n"
)

// AppendManifest appends the manifest to b as .NET makes it, byte by byte, with line
// ends of one character and the texts for English. .NET escapes neither names nor most
// texts, so that a name such as A&B makes a file that no one can read.
func (s *Source) AppendManifest(b []byte) []byte {
	w := &writer{b: b, escape: func(text string) string { return text }}
	w.add(strings.Replace(headOfManifest, "%%", "", 1))
	w.provider(s)
	w.add(endOfProviders)
	w.table(s.strings)
	w.add(endOfManifest)
	return w.b
}

// AppendXML appends one manifest of several sources to b, with a comment at its top if it is
// not "". It says the same in the same words as [Source.AppendManifest], but escapes texts
// where needed, and has attributes of etwgen for facts that manifests have none for: which
// sources describe their own events, and payloads that differ from the declaration.
func AppendXML(b []byte, comment string, sources ...*Source) []byte {
	w := &writer{b: b, escape: escape, ours: true}
	w.add("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n")
	if comment != "" {
		w.add("<!-- ", commented(comment), " -->\n")
	}
	w.add(strings.Replace(headOfManifest, "%%", " xmlns:etwgen=\""+manifest.ExtensionNamespace+"\"", 1))
	texts := make(map[string]string)
	for _, s := range sources {
		if len(sources) > 1 {
			w.prefix = symbol(s.Name) + "."
		}
		w.provider(s)
		for key, text := range s.strings {
			if strings.HasPrefix(key, "event_") {
				text = unescape.Replace(text)
			}
			texts[w.prefix+key] = text
		}
	}
	w.add(endOfProviders)
	w.table(texts)
	w.add(endOfManifest)
	return w.b
}

// symbol returns the symbol that .NET makes of a provider's name.
func symbol(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "-", ""), ".", "_")
}

// unescape undoes the escapes of .NET in the texts of events, which are the only ones.
var unescape = strings.NewReplacer("&amp;", "&", "&lt;", "<", "&gt;", ">", "&apos;", "'", "&quot;", "\"")

// escape writes a text for XML, without characters that no XML can have.
func escape(text string) string {
	var out strings.Builder
	xml.EscapeText(&out, []byte(text)) // strings.Builder does not fail
	return out.String()
}

// commented returns text as a comment can have it: without the end of a comment, and with
// lines as they are.
func commented(text string) string {
	text = strings.TrimSuffix(strings.ReplaceAll(text, "--", "- -"), "-")
	return strings.ReplaceAll(escape(text), "&#xA;", "\n")
}

// A writer writes manifests in the form that .NET has for them.
type writer struct {
	b      []byte
	escape func(string) string
	prefix string // of the names of strings
	ours   bool   // what manifests cannot say is said
}

func (w *writer) add(parts ...string) {
	for _, p := range parts {
		w.b = append(w.b, p...)
	}
}

// attr writes an attribute.
func (w *writer) attr(name, value string) { w.add(" ", name, "=\"", w.escape(value), "\"") }

// text writes the attribute that names a text.
func (w *writer) text(kind, name string) {
	w.attr("message", "$(string."+w.prefix+kind+"_"+name+")")
}

func hex(v uint64) string { return "0x" + strconv.FormatUint(v, 16) }

func number(v int64) string { return strconv.FormatInt(v, 10) }

func (w *writer) provider(s *Source) {
	w.add("<provider")
	w.attr("name", s.Name)
	w.attr("guid", "{"+s.GUID.String()+"}")
	w.attr("resourceFileName", s.file)
	w.attr("messageFileName", s.file)
	w.attr("symbol", symbol(s.Name))
	if w.ours && s.SelfDescribing {
		w.attr("etwgen:events", "self-describing")
	}
	w.add(">\n")
	w.declarations(s)
	w.add(" <events>\n")
	for _, e := range s.Events {
		w.event(e)
	}
	w.add(" </events>\n <templates>\n")
	any := false
	for _, e := range s.Events {
		any = any || len(e.Fields) > 0
		w.template(e)
	}
	if !any {
		w.add("    <template tid=\"_empty\"></template>\n")
	}
	w.add(" </templates>\n</provider>\n")
}

// declarations writes channels, tasks, maps, opcodes and keywords.
func (w *writer) declarations(s *Source) {
	if len(s.Channels) > 0 {
		w.add(" <channels>\n")
		for _, c := range s.Channels {
			w.channel(s, c)
		}
		w.add(" </channels>\n")
	}
	w.add(" <tasks>\n")
	values(w, s.Tasks, "task", func(v int64) { w.attr("value", number(v)) })
	w.add(" </tasks>\n")
	if len(s.Maps) > 0 {
		w.add(" <maps>\n")
		for _, m := range s.Maps {
			w.valueMap(m)
		}
		w.add(" </maps>\n")
	}
	w.add(" <opcodes>\n")
	values(w, s.Opcodes, "opcode", func(v int64) { w.attr("value", number(v)) })
	w.add(" </opcodes>\n <keywords>\n")
	values(w, s.Keywords, "keyword", func(v uint64) { w.attr("mask", hex(v)) })
	w.add(" </keywords>\n")
}

// values writes names of values, in the order of these.
func values[V int64 | uint64](w *writer, names map[V]string, kind string, value func(V)) {
	for _, v := range slices.Sorted(maps.Keys(names)) {
		w.add("  <", kind)
		w.attr("name", names[v])
		w.text(kind, names[v])
		value(v)
		w.add("/>\n")
	}
}

// lastEnabled is the last of the channels that are enabled by default.
const lastEnabled = 17

func (w *writer) channel(s *Source, c Channel) {
	w.add("  <channel")
	w.attr("chid", c.Name)
	w.attr("name", s.Name+"/"+c.Name)
	if c.message {
		w.text("channel", c.Name)
	}
	w.attr("value", number(c.Value))
	if c.Type != "" {
		w.attr("type", c.Type)
	}
	w.attr("enabled", strconv.FormatBool(c.Value <= lastEnabled))
	w.add("/>\n")
}

func (w *writer) valueMap(m *Map) {
	kind := "valueMap"
	if m.Flags {
		kind = "bitMap"
	}
	w.add("  <", kind)
	w.attr("name", m.Name)
	w.add(">\n")
	for _, e := range m.Entries {
		w.add("   <map")
		w.attr("value", hex(e.Value))
		w.text("map", m.Name+"."+e.Name)
		w.add("/>\n")
	}
	w.add("  </", kind, ">\n")
}

func (w *writer) event(e *Event) {
	w.add("  <event")
	w.attr("value", number(e.ID))
	w.attr("version", number(e.Version))
	w.attr("level", levelName(e.Level))
	w.attr("symbol", e.Name)
	if e.hasMessage {
		w.text("event", e.Name)
	}
	if e.Mask != 0 {
		w.attr("keywords", strings.Join(e.keywords, " "))
	}
	if e.opcode != "" {
		w.attr("opcode", e.opcode)
	}
	if e.Task != 0 {
		w.attr("task", e.task)
	}
	if e.Channel != 0 {
		w.attr("channel", e.chanID)
	}
	if len(e.Fields) > 0 {
		w.attr("template", e.Name+"Args")
	}
	if w.ours && e.Written != "" {
		w.attr("etwgen:fields", e.Written)
	}
	w.add("/>\n")
}

func (w *writer) template(e *Event) {
	if len(e.Fields) == 0 {
		return
	}
	w.add("  <template")
	w.attr("tid", e.Name+"Args")
	w.add(">\n")
	for _, f := range e.Fields {
		w.add("   <data")
		w.attr("name", f.Name)
		w.attr("inType", f.InType)
		if f.Length != "" {
			w.attr("length", f.Length)
		}
		if f.Map != "" {
			w.attr("map", f.Map)
		}
		w.add("/>\n")
	}
	w.add("  </template>\n")
}

// table writes the texts, ordered as .NET does.
func (w *writer) table(texts map[string]string) {
	w.add(" <resources culture=\"en-US\">\n  <stringTable>\n")
	keys := slices.Collect(maps.Keys(texts))
	slices.SortFunc(keys, func(a, b string) int {
		return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
	})
	for _, key := range keys {
		w.add("   <string")
		w.attr("id", key)
		w.attr("value", texts[key])
		w.add("/>\n")
	}
	w.add("  </stringTable>\n </resources>\n")
}
