package manifest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// ignorePos compares models without their positions.
var ignorePos = cmpopts.IgnoreTypes(Pos{})

// TestModel reads one of everything.
func TestModel(t *testing.T) {
	const src = `<?xml version="1.0" encoding="UTF-8"?>
<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events" xmlns:w="http://manifests.microsoft.com/win/2004/08/windows/events" xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:my="urn:my">
 <instrumentation>
  <events>
   <provider name="Test-Provider" guid="{0F3E1C7A-52B4-4C1E-9D20-6A7B8C9D0E1F}" symbol="TEST" message="$(string.provider)">
    <events>
     <event value="0x10" version="3" symbol="Begin" level="Chatty" task="Work" opcode="my:Go" keywords="Net  w:ResponseTime" template="All" channel="op" message="$(string.event)"/>
     <event value="17" symbol="End" level="w:Error" task="w:None" opcode="w:Stop"/>
    </events>
    <channels>
     <importChannel chid="sys" name="System"/>
     <channel chid="op" name="Test/Operational" type="Operational" enabled="true" symbol="OP"/>
     <channel name="Test/Debug" type="Debug"/>
    </channels>
    <levels><level name="Chatty" value="200" symbol="CHATTY"/></levels>
    <keywords><keyword name="Net" mask="0x0000000000000002" symbol="NET"/></keywords>
    <tasks>
     <task name="Work" value="7" eventGUID="{11111111-2222-3333-4444-555555555555}">
      <opcodes><opcode name="my:Go" value="12" symbol="GO"/></opcodes>
     </task>
    </tasks>
    <maps>
     <valueMap name="Kind" symbol="KIND"><map value="0x1" message="$(string.one)" symbol="KIND_ONE"/><map value="2" message="$(string.one)"/></valueMap>
     <bitMap name="Bits"><map value="0x80000000" message="$(string.one)"/></bitMap>
    </maps>
    <templates>
     <template tid="All">
      <data inType="w:UInt16" name="n"/>
      <data name="kind" inType="w:UInt32" map="Kind" outType="w:HexInt32"/>
      <data name="text" inType="w:UnicodeString" length="n"/>
      <data name="hash" inType="w:Binary" length="20" count="2"/>
      <struct name="values" count="n">
       <data name="n" inType="w:UInt8"/>
       <data name="inner" inType="w:Pointer" count="n"/>
      </struct>
     </template>
    </templates>
   </provider>
  </events>
 </instrumentation>
 <localization>
  <resources culture="en-US"><stringTable>
   <string id="provider" value="A test"/><string id="one" value="One"/><string id="event" value="%1 of %2!d!%n"/>
  </stringTable></resources>
  <resources culture="de-DE"><stringTable><string id="one" value="Eins"/></stringTable></resources>
 </localization>
</instrumentationManifest>`

	chatty := &Level{Name: "Chatty", Value: 200, Symbol: "CHATTY"}
	net := &Keyword{Name: "Net", Mask: 2, Symbol: "NET"}
	work := &Task{Name: "Work", Value: 7, EventGUID: etw.GUID{0x11, 0x11, 0x11, 0x11, 0x22, 0x22, 0x33, 0x33, 0x44, 0x44, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55}}
	goOpcode := &Opcode{Name: "my:Go", Value: 12, Symbol: "GO", Task: work}
	work.Opcodes = []*Opcode{goOpcode}
	operational := &Channel{Name: "Test/Operational", ID: "op", Symbol: "OP", Type: "Operational", Value: 16, Enabled: true}
	kind := &Map{Name: "Kind", Symbol: "KIND", Entries: []*MapEntry{
		{Value: 1, Symbol: "KIND_ONE", Message: "One", StringID: "one"}, {Value: 2, Message: "One", StringID: "one"},
	}}
	n := &Field{Name: "n", Type: etw.InUInt16}
	innerN := &Field{Name: "n", Type: etw.InUInt8}
	all := &Template{ID: "All", Declared: 5, Fields: []*Field{
		n,
		{Name: "kind", Type: etw.InUInt32, OutType: etw.OutHexInt32, Map: kind},
		{Name: "text", Type: etw.InUnicodeString, Length: Size{Kind: etw.SizeField, Field: n}},
		{Name: "hash", Type: etw.InBinary, Count: Size{Kind: etw.SizeConst, Const: 2}, Length: Size{Kind: etw.SizeConst, Const: 20}},
		{Name: "values", Type: etw.InStruct, Count: Size{Kind: etw.SizeField, Field: n}, Fields: []*Field{
			innerN,
			{Name: "inner", Type: etw.InPointer, Count: Size{Kind: etw.SizeField, Field: innerN}},
		}},
	}}
	want := &Manifest{
		File: "t.man",
		Providers: []*Provider{{
			Name: "Test-Provider", Symbol: "TEST", Message: "A test", MessageID: "provider",
			GUID:      etw.GUID{0x7a, 0x1c, 0x3e, 0x0f, 0xb4, 0x52, 0x1e, 0x4c, 0x9d, 0x20, 0x6a, 0x7b, 0x8c, 0x9d, 0x0e, 0x1f},
			Channels:  []*Channel{{Name: "System", ID: "sys", Value: 8, Imported: true}, operational, {Name: "Test/Debug", Type: "Debug", Value: 17}},
			Levels:    []*Level{chatty},
			Tasks:     []*Task{work},
			Keywords:  []*Keyword{net},
			Maps:      []*Map{kind, {Name: "Bits", Flags: true, Entries: []*MapEntry{{Value: 1 << 31, Message: "One", StringID: "one"}}}},
			Templates: []*Template{all},
			Events: []*Event{
				{
					ID: 16, Version: 3, Symbol: "Begin", Level: chatty, Task: work, Opcode: goOpcode,
					Keywords: []*Keyword{net, {Name: "win:ResponseTime", Mask: 1 << 48}},
					Channel:  operational, Template: all, Message: "%1 of %2!d!%n", MessageID: "event",
				},
				{ID: 17, Symbol: "End", Level: &Level{Name: "win:Error", Value: 2}, Task: &Task{Name: "win:None"}, Opcode: &Opcode{Name: "win:Stop", Value: 2}},
			},
		}},
		Cultures: []*Culture{
			{Name: "en-US", Strings: map[string]string{"provider": "A test", "one": "One", "event": "%1 of %2!d!%n"}},
			{Name: "de-DE", Strings: map[string]string{"one": "Eins"}},
		},
	}
	m := mustParse(t, src, Options{})
	if d := cmp.Diff(want, m, ignorePos); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	p := m.Providers[0]
	for _, tt := range []struct {
		name string
		got  Pos
		want string
	}{
		{"provider", p.Pos, "t.man:5:4"},
		{"event", p.Events[1].Pos, "t.man:8:6"},
		{"opcode", p.Tasks[0].Opcodes[0].Pos, "t.man:19:16"},
		{"map entry", p.Maps[0].Entries[1].Pos, "t.man:23:102"},
		{"member", p.Templates[0].Fields[4].Fields[1].Pos, "t.man:34:8"},
		{"culture", m.Cultures[1].Pos, "t.man:45:3"},
		{"standard level", p.Events[1].Level.Pos, "-"},
	} {
		if tt.got.String() != tt.want {
			t.Errorf("%s at %v, want %s", tt.name, tt.got, tt.want)
		}
	}
	if got := p.Events[0].Mask(); got != 1<<48|2 {
		t.Errorf("mask 0x%x", got)
	}

	german := mustParse(t, src, Options{Culture: "de-de"}).Providers[0]
	if got := german.Maps[0].Entries[0].Message; got != "Eins" {
		t.Errorf("German message %q", got)
	}
	if got := german.Message; got != "A test" {
		t.Errorf("message that has no German text: %q", got)
	}
}

// TestScopes checks which field a count or a length names.
func TestScopes(t *testing.T) {
	fields := mustParse(t, inTemplate(`
<data name="Count" inType="win:UInt16"/>
<data name="Other" inType="win:UInt32"/>
<struct name="Values" count="Count">
  <data name="Count" inType="win:UInt32"/>
  <data name="Own" inType="win:UInt8" count="Count"/>
  <data name="Outer" inType="win:AnsiString" length="Other"/>
</struct>
<data name="Late" inType="win:UInt8" count="Count"/>`), Options{}).Providers[0].Templates[0].Fields
	count, other, values := fields[0], fields[1], fields[2]
	for _, tt := range []struct {
		name string
		got  Size
		want *Field
		up   int
	}{
		{"a struct's own count", values.Count, count, 0},
		{"a member that hides an outer field", values.Fields[1].Count, values.Fields[0], 0},
		{"a field around the struct", values.Fields[2].Length, other, 1},
		{"a field behind the struct", fields[3].Count, count, 0},
	} {
		if tt.got.Kind != etw.SizeField || tt.got.Field != tt.want || tt.got.Up != tt.up {
			t.Errorf("%s: got %+v, want the field at %v, %d up", tt.name, tt.got, tt.want.Pos, tt.up)
		}
	}

	// A member that would hide an outer field, but comes too late to be counted
	// by, is not quietly passed over.
	src, places := unmark(t, inTemplate(`<data name="N" inType="win:UInt8"/>
<struct name="S">§1<data name="A" inType="win:UInt8" count="N"/><data name="N" inType="win:UInt8"/></struct>`))
	checkDiagnostics(t, src, places, Options{}, []string{`1: count of field "A" names "N", which comes later; move that field before this one`}, nil)
}

// TestChannels checks which channel an event has, and the values of channels.
func TestChannels(t *testing.T) {
	p := mustParse(t, inProvider(`<channels><importChannel chid="a" name="Application"/><importChannel chid="f" name="Foreign"/>
<channel chid="b" name="a" type="Debug"/><channel name="c" type="Debug"/><channel chid="d" name="Long/Name" type="Debug" value="99"/></channels>
<events><event value="1" symbol="E1" channel="a"/><event value="2" symbol="E2" channel="b"/><event value="3" symbol="E3" channel="c"/>
<event value="4" symbol="E4" channel="Long/Name"/><event value="5" symbol="E5" channel="f"/></events>`), Options{}).Providers[0]
	var got []uint8
	for _, e := range p.Events {
		got = append(got, e.Channel.Value)
	}
	if d := cmp.Diff([]uint8{9, 17, 18, 99, 16}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}

	var many strings.Builder
	for i := range 241 {
		fmt.Fprintf(&many, `<channel chid="c%d" name="n%d" type="Debug"/>`, i, i)
	}
	_, _, err := Parse("t.man", []byte(inProvider("<channels>"+many.String()+"</channels>")), Options{})
	if err == nil || !strings.HasSuffix(err.Error(), `no value from 16 to 255 is left for channel "n240"; give it one with value=`) {
		t.Errorf("241 channels: %v", err)
	}
}

// TestOpcodeScopes checks which opcode an event has.
func TestOpcodeScopes(t *testing.T) {
	p := mustParse(t, inProvider(`<opcodes><opcode name="Go" value="20"/><opcode name="Global" value="21"/></opcodes>
<tasks><task name="A" value="1"><opcodes><opcode name="Go" value="12"/></opcodes></task>
<task name="B" value="2"><opcodes><opcode name="Go" value="13"/></opcodes></task><task name="C" value="3"/></tasks>
<events><event value="1" symbol="E1" task="A" opcode="Go"/><event value="2" symbol="E2" task="B" opcode="Go"/>
<event value="3" symbol="E3" task="C" opcode="Go"/><event value="4" symbol="E4" opcode="Go"/>
<event value="5" symbol="E5" task="A" opcode="Global"/><event value="6" symbol="E6" task="A" opcode="win:DC_Stop"/><event value="7" symbol="E7" opcode="win:Receive"/></events>`), Options{}).Providers[0]
	var got []etw.Opcode
	for _, e := range p.Events {
		got = append(got, e.Opcode.Value)
	}
	if d := cmp.Diff([]etw.Opcode{12, 13, 20, 20, 21, 4, 240}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestLenientValues checks the results of lenient mode.
func TestLenientValues(t *testing.T) {
	parse := func(src string) *Provider {
		t.Helper()
		m := testio.Parse(t, Parse, "t.man", src, Options{Lenient: true})
		return m.Providers[0]
	}
	p := parse(inProvider(`<tasks><task name="A" value="1"><opcodes><opcode name="Go" value="12"/></opcodes></task><opcodes><opcode name="Behind" value="13"/></opcodes></tasks>
<events><event value="1" symbol="a" level="win:Always" task="x" opcode="17"/><event value="2" symbol="b" task="9" opcode="Go"/><event value="3" symbol="c" task="A" opcode="Behind" level="9"/>
<event value="4" symbol="d" opcode="win:DC_Start_8_1"/><event value="5" symbol="e" opcode="y"/></events>`))
	e := p.Events
	if e[0].Level.Name != "win:LogAlways" || e[0].Task != nil || e[0].Opcode.Value != 17 {
		t.Errorf("event 1: %+v", e[0])
	}
	if e[1].Task.Value != 9 || e[1].Opcode.Value != 12 {
		t.Errorf("event 2: %+v", e[1])
	}
	if e[2].Opcode.Value != 13 || e[2].Opcode.Task != p.Tasks[0] || e[2].Level.Value != 9 {
		t.Errorf("event 3: %+v", e[2])
	}
	if e[3].Opcode.Name != "win:DC_Start" || e[4].Opcode != nil {
		t.Errorf("events 4 and 5: %+v %+v", e[3], e[4])
	}

	p = parse(inProvider(`<templates><template tid="T"/></templates><events>
<event value="1" symbol="a"/><event value="1" symbol="b"/><event value="70000" symbol="c"/></events>`))
	var undispatched []string
	for _, e := range p.Events {
		undispatched = append(undispatched, e.Undispatched)
	}
	if d := cmp.Diff([]string{"", "the event in line 3 has the same id and version", "its id is more than 65535"}, undispatched); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}

	// An outType that is spelled wrong is understood.
	f := parse(inTemplate(`<data name="A" inType="win:UInt32" outType="xs:hexInt32"/><data name="B" inType="win:UInt32" outType="win:ErrorCode"/>`)).Templates[0].Fields
	if f[0].OutType != etw.OutHexInt32 || f[1].OutType != etw.OutErrorCode {
		t.Errorf("outTypes %v %v", f[0].OutType, f[1].OutType)
	}
}

// TestOpaque checks the tails of which lenient mode does not know the layout.
func TestOpaque(t *testing.T) {
	rest := Size{Kind: etw.SizeRest}
	for _, tt := range []struct {
		name, fields string
		want         *Field // the last one
		n            int    // how many there are
	}{
		{
			"unknown type",
			`<data name="A" inType="win:UInt8"/><data name="B" inType="win:28"/><data name="C" inType="win:UInt8"/><struct name="D"><data name="E" inType="win:99"/></struct>`,
			&Field{Name: "B", Type: Opaque, Opaque: `unknown inType "win:28" of field "B"`, Lost: []string{"B", "C", "D"}, Length: rest}, 2,
		},
		{
			"unknown type in a struct",
			`<data name="A" inType="win:UInt8"/><struct name="D"><data name="E" inType="win:UInt8"/><data name="F" inType="win:99"/></struct>`,
			&Field{Name: "D", Type: Opaque, Opaque: `unknown inType "win:99" of field "F"`, Lost: []string{"D"}, Length: rest}, 2,
		},
		{
			"binary at the end",
			`<data name="A" inType="win:UInt8"/><data name="B" inType="win:Binary"/>`,
			&Field{Name: "B", Type: etw.InBinary, Length: rest}, 2,
		},
	} {
		m := testio.Parse(t, Parse, "t.man", inTemplate(tt.fields), Options{Lenient: true})
		tmpl := m.Providers[0].Templates[0]
		if len(tmpl.Fields) != tt.n {
			t.Errorf("%s: %d fields", tt.name, len(tmpl.Fields))
		}
		if d := cmp.Diff(tt.want, tmpl.Fields[len(tmpl.Fields)-1], ignorePos); d != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, d)
		}
		if least, fixed := tmpl.Size(8); least != 1 || fixed {
			t.Errorf("%s: size %d, %v", tt.name, least, fixed)
		}
	}
}

// TestTemplateSize checks the least sizes of payloads.
func TestTemplateSize(t *testing.T) {
	for _, tt := range []struct {
		fields           string
		least32, least64 int
		fixed            bool
	}{
		{``, 0, 0, true},
		{`<data name="A" inType="win:UInt8"/><data name="B" inType="win:SYSTEMTIME"/><data name="C" inType="win:Boolean"/>`, 21, 21, true},
		{`<data name="A" inType="win:Pointer"/><data name="B" inType="win:UInt32"/>`, 8, 12, true},
		{`<data name="A" inType="win:Pointer" count="3"/>`, 12, 24, true},
		{`<data name="A" inType="win:UnicodeString"/><data name="B" inType="win:AnsiString"/>`, 3, 3, false},
		{`<data name="A" inType="win:UnicodeString" length="10"/><data name="B" inType="win:AnsiString" length="10" count="2"/>`, 40, 40, true},
		{`<data name="A" inType="win:Binary" length="16"/><data name="B" inType="win:SID"/>`, 24, 24, false},
		{`<data name="N" inType="win:UInt16"/><data name="A" inType="win:Binary" length="N"/><data name="B" inType="win:UInt64" count="N"/>`, 2, 2, false},
		{`<struct name="S" count="4"><data name="P" inType="win:Pointer"/><data name="N" inType="win:UInt16"/></struct>`, 24, 40, true},
		{`<struct name="S"><data name="N" inType="win:UInt16"/><data name="P" inType="win:UInt8" count="N"/></struct>`, 2, 2, false},
		{`<struct name="S" count="65535"><data name="P" inType="win:GUID" count="65535"/></struct><data name="Q" inType="win:UInt8"/>`, 1 << 18, 1 << 18, false},
	} {
		tmpl := mustParse(t, inTemplate(tt.fields), Options{}).Providers[0].Templates[0]
		got32, fixed := tmpl.Size(4)
		got64, _ := tmpl.Size(8)
		if got32 != tt.least32 || got64 != tt.least64 || fixed != tt.fixed {
			t.Errorf("%s: got %d, %d, %v, want %d, %d, %v", tt.fields, got32, got64, fixed, tt.least32, tt.least64, tt.fixed)
		}
	}
}

// TestExtension checks the attributes of the etwgen namespace.
func TestExtension(t *testing.T) {
	p := mustParse(t, withStrings(`
<levels><level name="L" value="20" etwgen:doc="a level" etwgen:name="Low"/></levels>
<keywords><keyword name="K" mask="0x1" etwgen:doc="a keyword" etwgen:name="Key"/></keywords>
<tasks><task name="T" value="1" etwgen:doc="a task" etwgen:name="Chore"><opcodes><opcode name="O" value="11" etwgen:doc="an opcode" etwgen:name="Op"/></opcodes></task></tasks>
<maps><valueMap name="M" etwgen:doc="a map" etwgen:name="Map"><map value="1" message="$(string.s)" etwgen:doc="an entry" etwgen:name="Entry"/></valueMap></maps>
<templates><template tid="T" etwgen:doc="a template" etwgen:name="Tmpl">
  <data name="FrameCount" inType="win:UInt32" etwgen:doc="
      How many frames
      there are.

      None is none."  etwgen:name="Frames"/>
  <data name="Stack" inType="win:Pointer" count="2" etwgen:count="FrameCount"/>
  <data name="Two" inType="win:UInt8" etwgen:count="2"/>
  <struct name="S" etwgen:count="*" etwgen:doc="the rest"><data name="B" inType="win:UInt8"/></struct>
</template></templates>
<events><event value="1" symbol="E" template="T" etwgen:name="Ev"><etwgen:doc>
  First paragraph,
  two lines.

  Second &amp; last.
</etwgen:doc></event></events>`, `<string id="s" value="text"/>`), Options{}).Providers[0]
	type named struct{ Doc, GoName string }
	tmpl := p.Templates[0]
	for what, tt := range map[string]struct{ got, want named }{
		"level":    {named{p.Levels[0].Doc, p.Levels[0].GoName}, named{"a level", "Low"}},
		"keyword":  {named{p.Keywords[0].Doc, p.Keywords[0].GoName}, named{"a keyword", "Key"}},
		"task":     {named{p.Tasks[0].Doc, p.Tasks[0].GoName}, named{"a task", "Chore"}},
		"opcode":   {named{p.Tasks[0].Opcodes[0].Doc, p.Tasks[0].Opcodes[0].GoName}, named{"an opcode", "Op"}},
		"map":      {named{p.Maps[0].Doc, p.Maps[0].GoName}, named{"a map", "Map"}},
		"entry":    {named{p.Maps[0].Entries[0].Doc, p.Maps[0].Entries[0].GoName}, named{"an entry", "Entry"}},
		"template": {named{tmpl.Doc, tmpl.GoName}, named{"a template", "Tmpl"}},
		"field":    {named{tmpl.Fields[0].Doc, tmpl.Fields[0].GoName}, named{"How many frames there are.\n\nNone is none.", "Frames"}},
		"struct":   {named{tmpl.Fields[3].Doc, tmpl.Fields[3].GoName}, named{"the rest", ""}},
		"event":    {named{p.Events[0].Doc, p.Events[0].GoName}, named{"First paragraph, two lines.\n\nSecond & last.", "Ev"}},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: got %q, want %q", what, tt.got, tt.want)
		}
	}
	for i, want := range map[int]Size{
		1: {Kind: etw.SizeField, Field: tmpl.Fields[0]},
		2: {Kind: etw.SizeConst, Const: 2},
		3: {Kind: etw.SizeRest},
	} {
		if got := tmpl.Fields[i].Count; got != want {
			t.Errorf("count of %s: got %+v, want %+v", tmpl.Fields[i].Name, got, want)
		}
	}
}

// TestExtensionFaults checks that attributes in the etwgen namespace must mean something.
func TestExtensionFaults(t *testing.T) {
	src, places := unmark(t, inProvider(`<tasks>§1<task name="T" value="1" etwgen:dok="x"/></tasks>
<channels>§2<channel name="C" type="Debug" etwgen:doc="x"/></channels>
<keywords>§3<keyword name="K" mask="0x1" etwgen:name="key"/>§4<keyword name="L" mask="0x2" etwgen:doc="x">§5<etwgen:doc>y</etwgen:doc>§6<etwgen:name/></keyword></keywords>
<templates><template tid="T"><data name="N" inType="win:UInt8"/>
§7<data name="A" inType="win:UInt8" etwgen:count="M"/>
<struct name="S">§8<data name="B" inType="win:UInt8" etwgen:count="*"/></struct>
<data name="C" inType="win:UInt8" etwgen:count="*"/>
§9<data name="D" inType="win:UInt8"/></template></templates>`))
	checkDiagnostics(t, src, places, Options{}, []string{
		`1: task cannot have an attribute "dok" from the etwgen namespace; choose from doc, name`,
		`2: channel cannot have an attribute "doc" from the etwgen namespace; remove it`,
		`3: etwgen:name "key" is not an exported Go identifier; use letters, digits and _, and begin with an upper-case letter`,
		`5: keyword has more than one doc; combine them`,
		`6: keyword cannot have an element "name" from the etwgen namespace; remove it`,
		`7: etwgen:count of field "A" names "M", but no earlier field has that name; name a field that comes before this one`,
		`8: etwgen:count="*" of field "B" is in a struct; only the last field of a template can take the rest`,
		`9: field "C" takes the rest of the payload, so no field can follow it; move it to the end`,
	}, nil)

	src, places = unmark(t, `<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events"><instrumentation><events>
§1<provider name="P" symbol="P" guid="{0f3e1c7a-52b4-4c1e-9d20-6a7b8c9d0e1f}" xmlns:etwgen="urn:etwgen" etwgen:doc="ignored"/></events></instrumentation></instrumentationManifest>`)
	checkDiagnostics(t, src, places, Options{}, nil, []string{
		`1: prefix etwgen stands for "urn:etwgen", so etwgen ignores everything that has it; write xmlns:etwgen="https://github.com/etwgen/etwgen/manifest"`,
	})
}
