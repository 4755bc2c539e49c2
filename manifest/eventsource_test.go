package manifest

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/corpus"
)

// layoutsOf returns the fields of all events, as name:type, by symbol.
func layoutsOf(p *Provider) map[string]string {
	m := make(map[string]string)
	for _, e := range p.Events {
		var fields []string
		for _, f := range fieldsOf(e) {
			fields = append(fields, f.Name+":"+f.Type.String())
		}
		m[e.Symbol] = strings.Join(fields, " ")
	}
	return m
}

// anEventSource is a manifest with all that EventSource writes and the message
// compiler refuses.
var anEventSource = providerHead + `<keywords><keyword name="Session3" mask="0x100000000000"/></keywords>
<opcodes></opcodes>
<tasks><task name="EventSourceMessage" value="65534"/></tasks>
<maps><valueMap name="E"><map value="0xffffffffffffffff" message="$(string.map_E.Bad)"/>
<map value="0xffffffff80000000" message="$(string.map_E.Worst)"/></valueMap></maps>
<templates><template tid="Dump"><data name="isLast" inType="win:Boolean"/><data name="dataSize" inType="win:UInt32"/>
<data name="data" inType="win:Binary" length="dataSize"/><data name="dataSize" inType="win:Int32"/></template></templates>
<events><event value="0" symbol="EventSourceMessage" task="EventSourceMessage"/><event value="1" symbol="Dump" template="Dump"/></events>
</provider></events></instrumentation><localization><resources culture=""><stringTable>
<string id="map_E.Bad" value="Bad"/><string id="map_E.Worst" value="Worst"/></stringTable></resources></localization></instrumentationManifest>`

func TestEventSourceLeniencies(t *testing.T) {
	for _, opts := range []Options{{}, {Lenient: true}, {Notes: true}} {
		m, warnings, err := Parse("t.man", []byte(anEventSource), opts)
		if err != nil {
			t.Fatal(err)
		}
		p := m.Providers[0]
		if !p.EventSource || p.SelfDescribing {
			t.Errorf("%+v: EventSource %v, SelfDescribing %v", opts, p.EventSource, p.SelfDescribing)
		}
		if e := p.Maps[0].Entries; e[0].Value != 0xffffffff || e[1].Value != 0x80000000 || e[0].Message != "Bad" {
			t.Errorf("entries %+v %+v", e[0], e[1])
		}
		notes := 0
		for _, w := range warnings {
			for _, what := range []string{"is negative and taken", "culture is empty", "two fields named"} {
				if strings.Contains(w.Msg, what) {
					notes++
				}
			}
		}
		if want := map[bool]int{true: 4}[opts.Notes]; notes != want {
			t.Errorf("%+v: %d notes, want %d: %v", opts, notes, want, warnings)
		}
	}
	// None of it is for manifests of others, and no value is cut off.
	other := strings.Replace(anEventSource, `symbol="EventSourceMessage"`, `symbol="Other"`, 1)
	if _, _, err := Parse("t.man", []byte(other), Options{}); err == nil || !strings.Contains(err.Error(), "two fields") {
		t.Errorf("two fields of one name: %v", err)
	}
	for _, value := range []string{"0xffffffff7fffffff", "0x100000000", "0xfffffffeffffffff"} {
		if _, _, err := Parse("t.man", []byte(strings.Replace(anEventSource, "0xffffffff80000000", value, 1)), Options{}); err == nil {
			t.Errorf("value %s is accepted", value)
		}
	}
}

func TestSelfDescribing(t *testing.T) {
	marked := strings.Replace(anEventSource, "<provider ", `<provider etwgen:events="self-describing" `, 1)
	for _, tt := range []struct {
		src  string
		opts Options
	}{{marked, Options{}}, {anEventSource, Options{SelfDescribing: true}}} {
		p := mustParse(t, tt.src, tt.opts).Providers[0]
		if got, want := layoutsOf(p)["Dump"], "isLast:bool8 data:win:CountedBinary dataSize:win:Int32"; got != want || !p.SelfDescribing {
			t.Errorf("fields %q, want %q", got, want)
		}
		again := mustParse(t, string((&Manifest{Providers: []*Provider{p}}).AppendXML(nil, "")), Options{Lenient: true}).Providers[0]
		if diff := cmp.Diff(layoutsOf(p), layoutsOf(again)); diff != "" || !again.SelfDescribing {
			t.Errorf("written and read again (-want +got)\n%s", diff)
		}
	}
}

// Two events of one symbol are two types of one name.
func TestTwins(t *testing.T) {
	events := `<events><event value="1" symbol="Start"/><event value="1" version="1" symbol="Start_V1"/>§1<event value="2" symbol="Start"/></events>`
	src, places := unmark(t, withStrings(events, ""))
	checkDiagnostics(t, src, places, Options{}, nil, []string{
		`1: symbol "Start" of event 2 is also that of the event at t.man:2:9, and a type or a macro in C is for one; change the symbol of one`})
	checkDiagnostics(t, src, places, Options{Lenient: true}, nil, nil)
}

// TestCostly: a keyword by which a session changes a program.
func TestCostly(t *testing.T) {
	src := withStrings(`<keywords><keyword name="Collect" mask="0x2" etwgen:costly="true"/><keyword name="Look" mask="0x1"/></keywords>`, "")
	m := mustParse(t, src, Options{})
	if k := m.Providers[0].Keywords; len(k) != 2 || !k[0].Costly || k[1].Costly {
		t.Errorf("keywords are %+v", k)
	}
	src, places := unmark(t, withStrings(`<keywords>§1<keyword name="Collect" mask="0x2" etwgen:costly="no"/></keywords>`, ""))
	checkDiagnostics(t, src, places, Options{}, []string{`1: etwgen:costly of keyword "Collect" is "no"; it is true, or not there`}, nil)
}

// TestNamed: an event that records identify by its name.
func TestNamed(t *testing.T) {
	src := withStrings(`<events>
<event value="1" symbol="E" etwgen:named="Shop/Sold &quot;now&quot;"/><event value="2" version="1" symbol="E_V1" etwgen:named="Shop/Sold &quot;now&quot;"/>
<event value="3" symbol="F"/></events>`, "")
	m := mustParse(t, src, Options{})
	for _, m := range []*Manifest{m, mustParse(t, string(m.AppendXML(nil, "")), Options{})} {
		for i, e := range m.Describe()[0].Events {
			if want := [...]string{`Shop/Sold "now"`, `Shop/Sold "now"`, "F"}[i]; e.Name != want || e.Named != (i < 2) {
				t.Errorf("event %d is %q, named %t; want %q", e.ID, e.Name, e.Named, want)
			}
		}
	}
	for events, want := range map[string]string{
		`§1<event value="1" etwgen:named=""/>`:                                     "1: etwgen:named of event 1 is empty; write the name that traces have",
		`<event value="1" etwgen:named="E"/>§1<event value="2" etwgen:named="E"/>`: `1: etwgen:named "E" of event 2 is also that of the event at t.man:2:9; change the name or the version of one`,
	} {
		src, places := unmark(t, withStrings("<events>"+events+"</events>", ""))
		checkDiagnostics(t, src, places, Options{}, []string{want}, nil)
	}
}

// TestSessionLevel: a provider looks for a higher level than that of its event.
func TestSessionLevel(t *testing.T) {
	src := withStrings(`<levels><level name="L" value="17"/></levels><events>
<event value="1" symbol="E" level="win:LogAlways" etwgen:level="win:Informational"/><event value="2" symbol="F" etwgen:level="L"/>
<event value="3" symbol="G" level="win:Error"/></events>`, "")
	m := mustParse(t, src, Options{})
	for _, m := range []*Manifest{m, mustParse(t, string(m.AppendXML(nil, "")), Options{})} {
		for i, d := range m.Describe()[0].Events {
			if want := [...]etw.Level{4, 17, 2}[i]; d.Enable().Level != want {
				t.Errorf("%s asks for level %d, want %d", d.Name, d.Enable().Level, want)
			}
		}
	}
	for events, want := range map[string]string{
		`§1<event value="1" etwgen:level="4"/>`:                              `1: etwgen:level of event 1 is "4"; write win:Critical to win:Verbose, or a level of the provider`,
		`§1<event value="1" level="win:Error" etwgen:level="win:Critical"/>`: `1: etwgen:level "win:Critical" of event 1 is not above its level; leave it out`,
	} {
		src, places := unmark(t, withStrings("<events>"+events+"</events>", ""))
		checkDiagnostics(t, src, places, Options{}, []string{want}, nil)
	}
}

func TestOverrides(t *testing.T) {
	fields := `<data name="A" inType="win:Int32"/><data name="B" inType="win:Int64"/><data name="S" inType="win:UnicodeString"/>
<data name="N" inType="win:UInt16"/><data name="D" inType="win:Binary" length="N"/>`
	for _, tt := range []struct{ list, want string }{
		{"A=win:Int64 B", "A:win:Int64 B:win:Int64"},
		{"B A", "B:win:Int64 A:win:Int32"},
		{"none", ""},
		{"N=win:UInt32 D S New=win:GUID", "N:win:UInt32 D:win:Binary S:win:UnicodeString New:win:GUID"},
		{"A=bool8", "A:bool8"},
		{"S=win:Int64 D", `!length of field D: field "N" does not come before it; list both`},
		{"N=win:Int32 D", `!length of field D: field "N" of type win:Int32 is no number`},
		{"A A", `!the template has no field "A", or no further one; give its type, as in A=win:Int64`},
		{"A=win:Int", `!unknown type "win:Int" of field "A"; use one that Windows defines, such as win:UInt32, or bool8, varint or varuint`},
		{"A=win:Binary", `!field "A" of type win:Binary has no length; only one that is declared has`},
		{"", `!the list of fields is empty; write none where there are none`},
	} {
		src := strings.Replace(inTemplate(fields), `symbol="E"`, `symbol="E" etwgen:fields="`+tt.list+`"`, 1)
		m, _, err := Parse("t.man", []byte(src), Options{})
		if text, bad := strings.CutPrefix(tt.want, "!"); bad {
			if err == nil || !strings.HasSuffix(err.Error(), "etwgen:fields of event 1: "+text) {
				t.Errorf("%s: %v, want %s", tt.list, err, text)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", tt.list, err)
			continue
		}
		p := m.Providers[0]
		if got := layoutsOf(p)["E"]; got != tt.want {
			t.Errorf("%s: fields %q, want %q", tt.list, got, tt.want)
		}
		if o := p.Events[0].Overridden; o == nil || o.Declared != p.Templates[0] {
			t.Errorf("%s: overridden %+v", tt.list, o)
		}
		again := mustParse(t, string(m.AppendXML(nil, "")), Options{}).Providers[0]
		if got := layoutsOf(again)["E"]; got != tt.want {
			t.Errorf("%s: written and read again %q", tt.list, got)
		}
		if d := p.Describe().Events[0]; len(d.Fields) != len(fieldsOf(p.Events[0])) {
			t.Errorf("%s: described as %+v", tt.list, d.Fields)
		}
	}
}

func TestOverridesFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "P.man")
	write := func(name, text string) {
		testio.Write(t, filepath.Join(dir, name), []byte(text))
	}
	read := func() (string, ErrorList, error) {
		m, warnings, err := ParseFile(path, Options{})
		if err != nil {
			return "", warnings, err
		}
		return layoutsOf(m.Providers[0])["E"], warnings, nil
	}
	write("P.man", inTemplate(`<data name="A" inType="win:Int32"/>`))
	if got, _, err := read(); got != "A:win:Int32" || err != nil {
		t.Errorf("without a file: %q, %v", got, err)
	}
	for _, event := range []string{"Test-Provider 1", "test-provider 1.0", `"Test-Provider"  E`, "{0f3e1c7a-52b4-4c1e-9d20-6a7b8c9d0e1f} E"} {
		write("P.overrides", "# what is written\n\n"+event+"\tA=win:Int64\n")
		if got, warnings, err := read(); got != "A:win:Int64" || err != nil || len(warnings) > 0 {
			t.Errorf("%s: %q, %v, %v", event, got, warnings, err)
		}
	}
	write("P.overrides", "Test-Provider 2 none\nOther 1 none\n")
	if got, warnings, err := read(); got != "A:win:Int32" || err != nil || len(warnings) != 2 {
		t.Errorf("overrides of nothing: %q, %v, %v", got, warnings, err)
	}
	for text, want := range map[string]string{
		"Test-Provider 1 B\n":    "P.overrides:1:1: the template has no field",
		"\nTest-Provider 1\n":    "P.overrides:2:1: a line has a provider",
		"\"Test-Provider 1 none": "P.overrides:1:1: the name of the provider has no closing quote",
	} {
		write("P.overrides", text)
		if _, _, err := read(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// TestEventSourceCorpus: strict mode accepts every manifest of an EventSource.
func TestEventSourceCorpus(t *testing.T) {
	files, n := corpus.Glob(t, "eventsource/*.man"), 0
	for _, path := range files {
		m, _, err := ParseFile(path, Options{})
		if err != nil {
			t.Error(err)
			continue
		}
		p := m.Providers[0]
		if n++; !p.EventSource {
			t.Errorf("%s is not taken for one of an EventSource", path)
		}
		again, _, err := Parse(path, m.AppendXML(nil, ""), Options{})
		if err != nil {
			t.Errorf("written and read again: %v", err)
		} else if diff := cmp.Diff(layoutsOf(p), layoutsOf(again.Providers[0])); diff != "" {
			t.Errorf("%s differs when it is written and read again\n%s", path, diff)
		}
		for _, e := range p.Events {
			for _, f := range fieldsOf(e) {
				if f.Type == etw.InNull {
					t.Errorf("%s: %s.%s has no type", path, e.Symbol, f.Name)
				}
			}
		}
	}
	t.Logf("strict mode reads %d of %d manifests", n, len(files))
}
