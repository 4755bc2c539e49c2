package manifest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etwgen/etwgen/runtime/etw"
)

// inClassic returns a manifest with a provider of classic events.
func inClassic(content string) string {
	return `<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events" xmlns:win="http://manifests.microsoft.com/win/2004/08/windows/events" xmlns:etwgen="https://github.com/etwgen/etwgen/manifest"><instrumentation><events><provider name="Test-Provider" guid="{0f3e1c7a-52b4-4c1e-9d20-6a7b8c9d0e1f}" etwgen:events="classic">
<tasks><task name="Job" value="1" eventGUID="{0f3e1c7a-52b4-4c1e-9d20-6a7b8c9d0e20}"><opcodes><opcode name="Add" value="1"/><opcode name="Remove" value="2"/></opcodes></task>
<task name="Queue" value="2" eventGUID="{0f3e1c7a-52b4-4c1e-9d20-6a7b8c9d0e21}"><opcodes><opcode name="Add" value="1"/></opcodes></task><task name="Plain" value="3"/></tasks>
` + content + providerTail
}

// TestClassic: classic events are told apart by class, opcode and version.
func TestClassic(t *testing.T) {
	p := mustParse(t, inClassic(`<events>
<event value="0" version="0" task="Job" opcode="Add"/>
<event value="0" version="1" task="Job" opcode="Add"/>
<event value="0" version="0" task="Job" opcode="Remove"/>
<event value="1" version="0" task="Queue" opcode="Add"/></events>`), Options{}).Providers[0]
	var keys []etw.Key
	for _, e := range p.Events {
		if !e.Classic || e.Kind() != etw.KindClassic || e.Undispatched != "" {
			t.Errorf("%+v is no classic event", e)
		}
	}
	for _, d := range p.Describe().Events {
		keys = append(keys, d.Key())
	}
	job, queue := p.Tasks[0].EventGUID, p.Tasks[1].EventGUID
	if diff := cmp.Diff([]etw.Key{
		{Kind: etw.KindClassic, Provider: job, ID: 1}, {Kind: etw.KindClassic, Provider: job, ID: 1, Version: 1},
		{Kind: etw.KindClassic, Provider: job, ID: 2}, {Kind: etw.KindClassic, Provider: queue, ID: 1},
	}, keys); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestClassicErrors: classic events need a class and an opcode, and both
// together a version of their own.
func TestClassicErrors(t *testing.T) {
	src, places := unmark(t, inClassic(`<events>
§1<event value="1" opcode="win:Start"/>
§2<event value="2" task="Plain" opcode="win:Start"/>
§3<event value="3" task="Job"/>
§4<event value="4" task="Job" opcode="Add"/>
§5<event value="5" task="Job" opcode="Add"/>
</events>`))
	want := []string{
		`1: event 1 is classic and has no class; give it a task with an eventGUID`,
		`2: event 2 is classic and has no class; give it a task with an eventGUID`,
		`3: event 3 is classic and has no opcode; declare one in its task`,
	}
	again := `5: opcode "Add" of task "Job" is declared twice in version 0, first at t.man:8:1`
	checkDiagnostics(t, src, places, Options{}, append(want, again+`; give one another version`), nil)
	checkDiagnostics(t, src, places, Options{Lenient: true}, want, []string{again + `: nothing is dispatched to this one`})

	src, places = unmark(t, `<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events" xmlns:etwgen="https://github.com/etwgen/etwgen/manifest"><instrumentation><events>§1<provider name="P" guid="{0f3e1c7a-52b4-4c1e-9d20-6a7b8c9d0e1f}" etwgen:events="old"/></events></instrumentation></instrumentationManifest>`)
	checkDiagnostics(t, src, places, Options{}, []string{`1: etwgen:events of provider "P" is "old"; there are only classic, self-describing and eventsource`}, nil)
}

// TestWhen reads the conditions of fields, and the types that the schema lacks.
func TestWhen(t *testing.T) {
	fields := mustParse(t, inTemplate(`<data name="A" inType="win:UInt8"/>
<data name="B" inType="win:Binary" length="4" etwgen:when="ptr8"/>
<data name="C" inType="win:Pointer" etwgen:when="ptr4"/>
<data name="D" inType="win:SID" etwgen:inType="wbemsid"/>
<data name="E" inType="win:UInt32" etwgen:when="rest>=4"/>
<data name="F" inType="win:UnicodeString" etwgen:when="rest"/>`), Options{}).Providers[0].Templates[0].Fields
	want := []etw.When{{}, {Ptr: etw.Ptr64}, {Ptr: etw.Ptr32}, {}, {Left: 4}, {Left: 1}}
	for i, f := range fields {
		if f.When != want[i] {
			t.Errorf("%s: %+v, want %+v", f.Name, f.When, want[i])
		}
	}
	if fields[3].Type != etw.InWBEMSID {
		t.Errorf("D is %v", fields[3].Type)
	}
	fields = mustParse(t, inTemplate(`<data name="A" inType="win:Binary" etwgen:length="*"/>`), Options{}).Providers[0].Templates[0].Fields
	if !fields[0].takesRest() {
		t.Errorf("A has the length %+v", fields[0].Length)
	}
}

// TestWhenErrors has a case for each rule of conditions and for the rest of classic events.
func TestWhenErrors(t *testing.T) {
	for _, tt := range []struct{ fields, want string }{
		{`§1<data name="A" inType="win:UInt8" etwgen:when="now"/>`,
			`1: etwgen:when of field "A" is "now"; write ptr4, ptr8, rest, or rest>= and a number`},
		{`§1<data name="A" inType="win:UInt8" etwgen:when="rest>=0"/>`,
			`1: etwgen:when of field "A" is "rest>=0"; write ptr4, ptr8, rest, or rest>= and a number`},
		{`§1<data name="A" inType="win:UnicodeString" etwgen:when="rest>=4"/>`,
			`1: etwgen:when of field "A" asks for 4 bytes, where the field takes as little as 2; ask for 2`},
		{`<data name="N" inType="win:UInt8"/>§1<data name="A" inType="win:UInt8" count="N" etwgen:when="rest"/>`,
			`1: field "A" has an etwgen:when and a size that varies; only one that always takes bytes can have it`},
		{`<struct name="S">§1<data name="A" inType="win:UInt8" etwgen:when="rest"/></struct>`,
			`1: etwgen:when of field "A" is about the rest of the payload, and the field is in a struct; only ptr4 and ptr8 can be there`},
		{`<data name="A" inType="win:UInt8" etwgen:when="rest"/>§1<data name="B" inType="win:UInt8"/>`,
			`1: field "A" may be missing, so that field "B" after it needs an etwgen:when of rest, too`},
		{`<data name="N" inType="win:UInt8" etwgen:when="ptr8"/>§1<data name="A" inType="win:UInt8" count="N"/>`,
			`1: count of field "A" names "N", which has an etwgen:when; take one that is always there`},
		{`§1<data name="A" inType="win:SID" etwgen:inType="wbem"/>`,
			`1: unknown etwgen:inType "wbem" of field "A"; there are only wbemsid, bool8, varint and varuint`},
		{`§1<data name="A" inType="win:Binary" etwgen:length="4"/>`,
			`1: etwgen:length of field "A" is "4"; it can be * alone, for the rest of the payload`},
		{`§1<data name="A" inType="win:UInt8" etwgen:length="*"/>`,
			`1: etwgen:length of field "A" is for a single win:Binary; use etwgen:count for an array`},
		{`<struct name="S">§1<data name="A" inType="win:Binary" etwgen:length="*"/></struct>`,
			`1: etwgen:length="*" of field "A" is in a struct; only the last field of a template can take the rest`},
	} {
		src, places := unmark(t, inTemplate(tt.fields))
		checkDiagnostics(t, src, places, Options{}, []string{tt.want}, nil)
	}
}
