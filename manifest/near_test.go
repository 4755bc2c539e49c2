package manifest

import (
	"slices"
	"strings"
	"testing"
)

// TestDidYouMean has a mistake for each kind of name, and the one that is meant.
func TestDidYouMean(t *testing.T) {
	const declarations = `<channels><channel name="Shop/Operational" chid="op" type="Operational"/></channels>
<levels><level name="Chatty" value="16"/></levels>
<keywords><keyword name="Orders" mask="0x1"/><keyword name="Payments" mask="0x2"/></keywords>
<opcodes><opcode name="Resize" value="20"/></opcodes>
<tasks><task name="Catalog" value="1"><opcodes><opcode name="Search" value="11"/></opcodes></task></tasks>
<maps><valueMap name="Reasons"><map value="1" symbol="A"/></valueMap></maps>
<templates><template tid="SearchArgs"><data name="Reason" inType="win:UInt32" map="Reasons"/></template></templates>
`
	for _, tt := range []struct{ attrs, want string }{
		{`task="Katalog"`, `event 1 has task "Katalog", which is not declared; did you mean "Catalog"?`},
		{`task="None"`, `event 1 has task "None", which is not declared; did you mean win:None?`},
		{`level="Error"`, `event 1 has level "Error", which is not declared; did you mean win:Error?`},
		{`level="win:Informatoinal"`, `event 1 has level "win:Informatoinal", which is not declared; did you mean win:Informational?`},
		{`level="Information"`, `event 1 has level "Information", which is not declared; did you mean win:Informational?`},
		{`level="chaty"`, `event 1 has level "chaty", which is not declared; did you mean "Chatty"?`},
		{`keywords="Serch Orders"`, `event 1 has keyword "Serch", which is not declared; declare it in <keywords>`},
		{`keywords="Order"`, `event 1 has keyword "Order", which is not declared; did you mean "Orders"?`},
		{`keywords="SQM"`, `event 1 has keyword "SQM", which is not declared; did you mean win:SQM?`},
		{`keywords="Orders,Payments"`, `event 1 has keywords "Orders,Payments"; separate keywords with spaces`},
		{`keywords="Orders, Payments"`, `event 1 has keywords "Orders, Payments"; separate keywords with spaces`},
		{`opcode="resize"`, `event 1 has opcode "resize", which is not declared; did you mean "Resize"?`},
		{`opcode="start"`, `event 1 has opcode "start", which is not declared; did you mean win:Start?`},
		{`task="Catalog" opcode="Seek"`, `event 1 has opcode "Seek", which is not declared; declare it in <opcodes>`},
		{`task="Catalog" opcode="Saerch"`, `event 1 has opcode "Saerch", which is not declared; did you mean "Search"?`},
		{`channel="Op"`, `event 1 has channel "Op", which is not declared; did you mean "op"?`},
		{`channel="Shop/Operation"`, `event 1 has channel "Shop/Operation", which is not declared; did you mean "Shop/Operational"?`},
		{`template="Search"`, `event 1 has template "Search", which is not declared; did you mean "SearchArgs"?`},
		{`task="A"`, `event 1 has task "A", which is not declared; declare it in <tasks>`},
	} {
		src, places := unmark(t, inProvider(declarations+`<events>§1<event value="1" symbol="E" `+tt.attrs+`/></events>`))
		t.Run(tt.attrs, func(t *testing.T) {
			checkDiagnostics(t, src, places, Options{}, []string{"1: " + tt.want}, nil)
		})
	}
	src, places := unmark(t, inProvider(strings.Replace(declarations, "<data", "§1<data", 1)))
	src = strings.Replace(src, `map="Reasons"`, `map="Reason"`, 1)
	checkDiagnostics(t, src, places, Options{}, []string{`1: field "Reason" has map "Reason", which is not declared; did you mean "Reasons"?`}, nil)
}

// TestNearest has the cases that the guesses depend on.
func TestNearest(t *testing.T) {
	for _, tt := range []struct {
		s     string
		names string
		want  string
	}{
		{"win:Uint32", "win:UInt32 win:Int32", "win:UInt32"},
		{"Start_8_1", "win:Start win:Stop", "win:Start"},
		{"Fooo", "Food Foot Fool", "Food"}, // the first of equals
		{"Eror", "win:Error my:Errors", "win:Error"},
		{"a:Go", "a:God b:Go", "b:Go"},
		{"Go", "Goto", ""}, // too short to be a beginning
		{"", "A", ""},
		{strings.Repeat("a", 65), strings.Repeat("a", 65), ""},
		{strings.Repeat("a", 64), strings.Repeat("a", 65), ""},
	} {
		p := &parser{}
		if got := p.nearest(tt.s, slices.Values(strings.Fields(tt.names))); got != tt.want {
			t.Errorf("%s of %s: got %q, want %q", tt.s, tt.names, got, tt.want)
		}
	}
	p := &parser{guesses: maxGuesses + 1}
	if got := p.nearest("Ordrs", slices.Values([]string{"Orders"})); got != "" {
		t.Errorf("too many guesses: %s", got)
	}
}
