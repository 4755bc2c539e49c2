package manifest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestOneCause checks that a fault is reported once, not again in each place
// that suffers from it.
func TestOneCause(t *testing.T) {
	const two = `value="2" symbol="F" `
	tests := []struct {
		name, src        string
		errors, warnings []string
	}{
		{
			"a version that does not fit",
			inProvider(`<events><event value="1" symbol="E"/>§1<event value="1" version="256" symbol="F"/></events>`),
			[]string{`1: version "256" of event 1 is not a number from 0 to 255`}, nil,
		},
		{
			"an id that is none",
			inProvider(`<events>§1<event value="one" symbol="E" level="win:Trace"/></events>`),
			[]string{`1: the event has level "win:Trace", which is not declared; declare it in <levels>`,
				`1: value "one" of event is not a number from 0 to 4294967295`}, nil,
		},
		{
			"a name that several events give",
			inProvider(`<events>§1<event value="1" symbol="E" task="T" keywords="K"/><event ` + two + `task="T" keywords="K K"/><event value="3" symbol="G" task="T"/></events>`),
			[]string{`1: event 1 has keyword "K", which is not declared; declare it in <keywords> (as in 2 more events)`,
				`1: event 1 has task "T", which is not declared; declare it in <tasks> (as in 2 more events)`}, nil,
		},
		{
			"a map that several fields give",
			inTemplate(`§1<data name="A" inType="win:UInt8" map="M"/><data name="B" inType="win:UInt8" map="M"/>`),
			[]string{`1: field "A" has map "M", which is not declared; declare it in <maps> (as in 1 more field)`}, nil,
		},
		{
			"the opcode of a task that is not declared",
			inProvider(`<tasks><task name="Catalog" value="1"><opcodes><opcode name="Go" value="11"/></opcodes></task></tasks>
<events>§1<event value="1" symbol="E" task="Katalog" opcode="Go"/></events>`),
			[]string{`1: event 1 has task "Katalog", which is not declared; did you mean "Catalog"?`}, nil,
		},
		{
			"the opcode of another task",
			inProvider(`<tasks><task name="A" value="1"><opcodes><opcode name="Go" value="11"/></opcodes></task></tasks>
<events>§1<event value="1" symbol="E" opcode="Go"/><event ` + two + `opcode="Go"/></events>`),
			[]string{`1: event 1 has opcode "Go", which belongs to task "A"; name that task, or declare the opcode in the task of the event (as in 1 more event)`}, nil,
		},
		{
			"a message for a template that is not declared",
			withStrings(`<events>§1<event value="1" symbol="E" template="T" message="$(string.s)"/></events>`, `<string id="s" value="%1 of %2"/>`),
			[]string{`1: event 1 has template "T", which is not declared; declare it in <templates>`}, nil,
		},
		{
			"opcodes beside their tasks",
			inProvider(`<tasks><task name="T" value="1"/>
§1<opcodes><opcode name="O" value="11"/><opcode name="P" value="12"/></opcodes></tasks>
<events><event value="1" symbol="E" task="T" opcode="O"/><event ` + two + `task="T" opcode="P"/></events>`),
			[]string{`1: opcodes after task "T" instead of inside it; move them into the task`}, nil,
		},
		{
			"opcodes before all tasks",
			inProvider(`<tasks>§1<opcodes><opcode name="O" value="11"/></opcodes><task name="T" value="1"/></tasks>
<events><event value="1" symbol="E" task="T" opcode="O"/></events>`),
			[]string{`1: opcodes outside a task; move them into the task they belong to`}, nil,
		},
		{
			"opcodes among the events",
			inProvider(`<events>§1<opcodes><opcode name="O" value="11"/></opcodes>
<event value="1" symbol="E" opcode="O"/><event ` + two + `opcode="O"/></events>`),
			[]string{`1: element "opcodes" has no meaning in events and is ignored, so 2 references cannot be resolved; move it into <provider> or <task>`}, nil,
		},
		{
			"a section that is spelled wrong",
			inProvider(`§1<tempaltes><template tid="T"/></tempaltes><events><event value="1" symbol="E" template="T"/></events>`),
			[]string{`1: element "tempaltes" has no meaning in provider and is ignored, so 1 reference cannot be resolved; did you mean "templates"?`}, nil,
		},
		{
			"a section that is nobody's",
			inProvider(`§1<stuff><x:a xmlns:x="urn:x"/><channel name="N" chid="c"/><importChannel name="M" chid="d"/><valueMap name="V"/><keyword/></stuff>
<events><event value="1" symbol="E" channel="c"/><event ` + two + `channel="M"/></events>`),
			[]string{`1: element "stuff" has no meaning in provider and is ignored, so 2 references cannot be resolved; correct or remove it`}, nil,
		},
		{
			"an element out of place that nothing refers to",
			inProvider(`§1<event value="1" symbol="E"/>`),
			nil, []string{`1: element "event" has no meaning in provider and is ignored; move it into <events>`},
		},
		{
			"a prefix for another namespace",
			strings.Replace(inProvider(`<templates><template tid="T">§1<data name="A" inType="win:UInt8"/><data name="B" inType="win:UInt32" outType="win:HexInt32"/><data name="C" inType="win:Int8"/></template></templates>
<events><event value="1" symbol="E" level="win:Error" opcode="win:Start" keywords="win:SQM" template="T"/></events>`), "windows/events", "windows/event", 1),
			[]string{`1: prefix win of "win:UInt8" stands for namespace "http://manifests.microsoft.com/win/2004/08/windows/event"; write xmlns:win="http://manifests.microsoft.com/win/2004/08/windows/events" (as in 5 more places)`}, nil,
		},
		{
			"a prefix of renderings for another namespace",
			strings.Replace(inTemplate(`§1<data name="A" inType="win:UInt8" outType="xs:string"/><data name="B" inType="win:Int8" outType="xs:string"/>`), "XMLSchema", "XmlSchema", 1),
			[]string{`1: prefix xs of "xs:string" stands for namespace "http://www.w3.org/2001/XmlSchema"; write xmlns:xs="http://www.w3.org/2001/XMLSchema" (as in 1 more place)`}, nil,
		},
		{
			"a prefix of many elements",
			inProvider(`§1<x:a/><x:b/>§2<y:c/>`),
			[]string{`1: prefix "x" of element "a" is not declared; declare it with xmlns:x (as in 1 more element)`,
				`2: prefix "y" of element "c" is not declared; declare it with xmlns:y`}, nil,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			src, places := unmark(t, tt.src)
			checkDiagnostics(t, src, places, Options{}, tt.errors, tt.warnings)
		})
	}
}

// TestOneCauseLenient checks the same for names in lenient mode.
func TestOneCauseLenient(t *testing.T) {
	src, places := unmark(t, inProvider(`<tasks>§1<opcodes><opcode name="O" value="11"/></opcodes></tasks>`))
	checkDiagnostics(t, src, places, Options{Lenient: true}, []string{`1: opcodes outside a task; move them into the task they belong to`}, nil)

	src, places = unmark(t, inProvider(`<stuff><task name="T" value="1"/></stuff>
<events>§1<event value="1" symbol="E" task="T" opcode="17" level="200"/><event value="2" symbol="F" task="T" opcode="17" level="200"/></events>`))
	checkDiagnostics(t, src, places, Options{Lenient: true}, nil, []string{
		`1: event 1 has level "200", which is taken as a number (as in 1 more event)`,
		`1: event 1 has opcode "17", which is taken as a number (as in 1 more event)`,
		`1: event 1 has task "T", which is not declared: its value is taken to be 0 (as in 1 more event)`,
	})
}

// TestFold folds errors of two kinds.
func TestFold(t *testing.T) {
	var b strings.Builder
	for i := range 5 {
		fmt.Fprintf(&b, `<event value="%d" symbol="E" task="T%d"/>`+"\n", i+1, i)
	}
	_, _, err := Parse("t.man", []byte(inProvider(`<events>
`+b.String()+`<event value="6" symbol="E" task="T0" level="L"/></events>`)), Options{})
	var list ErrorList
	if !errors.As(err, &list) {
		t.Fatal(err)
	}
	if len(list) != 6 {
		t.Errorf("%d errors, want 6, of which one is of two places", len(list))
	}
	list = append(list, &Error{Msg: "one"}, &Error{Msg: "one"}, &Error{Msg: "one"}) // of no kind
	folded := func(n int) []string {
		var lines []string
		for _, e := range list.Fold(n) {
			lines = append(lines, e.Error())
		}
		return lines
	}
	if d := cmp.Diff([]string{
		`t.man:3:1: event 1 has task "T0", which is not declared; declare it in <tasks> (as in 1 more event)`,
		`t.man:4:1: event 2 has task "T1", which is not declared; declare it in <tasks> (3 more like this)`,
		`t.man:8:1: event 6 has level "L", which is not declared; declare it in <levels>`,
		"-: one", "-: one", "-: one",
	}, folded(2)); d != "" {
		t.Errorf("folded to 2 (-want +got):\n%s", d)
	}
	if got := folded(5); len(got) != len(list) {
		t.Errorf("%d errors are folded to %d where nothing is to be folded", len(list), len(got))
	}
}
