package etw

import (
	"fmt"
	"testing"
)

func TestEnablementIsSorted(t *testing.T) {
	var m Mux
	for _, name := range []string{"C", "A", "B"} {
		m.ask((&EventDesc{Provider: &ProviderDesc{Name: name, GUID: GUID{name[0]}}}).Enable())
	}
	if got := fmt.Sprint(m.Enablement()); got != "[A:0x0:1 B:0x0:1 C:0x0:1]" {
		t.Errorf("got %s", got)
	}
}

// An event asks for the least that brings it.
func TestEnable(t *testing.T) {
	costly := &ProviderDesc{Name: "P", Costly: 0x30}
	source := &ProviderDesc{Name: "P", EventSource: true}
	for _, test := range []struct {
		desc    EventDesc
		want    string
		changes uint64
	}{
		{EventDesc{Provider: costly, Keywords: 0x31, Level: 4}, "P:0x1:4", 0},
		{EventDesc{Provider: costly, Keywords: 0x3, Level: 5}, "P:0x3:5", 0},
		{EventDesc{Provider: costly, Keywords: 0x30}, "P:0x30:1", 0x30},
		{EventDesc{Provider: costly, Keywords: 0x31, SessionLevel: 4}, "P:0x1:4", 0},
		{EventDesc{Provider: costly}, "P:0x0:1", 0},
		{EventDesc{Provider: costly, Kind: KindClassic}, "P:0x0:0", 0},
		{EventDesc{Provider: source, Keywords: 4}, "P:0x4:0", 0},
		{EventDesc{Provider: source, Keywords: 4 | SessionKeywords}, "P:0x4:0", 0},
		{EventDesc{Provider: source}, "P:0xf00000000000:0", 0},
	} {
		got := test.desc.Enable()
		if fmt.Sprint(got) != test.want || got.Changes() != test.changes {
			t.Errorf("keywords %#x of %+v: %v, which changes by %#x; want %s and %#x",
				test.desc.Keywords, *test.desc.Provider, got, got.Changes(), test.want, test.changes)
		}
	}
	if (Enable{Keywords: 1}).Changes() != 0 {
		t.Error("a provider that nobody describes has costly keywords")
	}
}

// A session enables the settings given in place of the events, with the requests of handlers
// before and behind.
func TestAskFor(t *testing.T) {
	var m Mux
	p, q, other := &ProviderDesc{Name: "P", GUID: GUID{1}}, &ProviderDesc{Name: "Q", GUID: GUID{2}}, &ProviderDesc{Name: "R", GUID: GUID{3}}
	handle := func(p *ProviderDesc, keyword uint64, level Level) {
		m.exact(&EventDesc{Provider: p, ID: uint16(keyword), Keywords: keyword, Level: level}, func(*Record) error { return nil })
	}
	handle(p, 1, 2)
	end := m.AskFor(Enable{p, 0x10, 4}, Enable{other, 0x20, 3})
	handle(p, 2, 5)
	handle(q, 4, 5)
	end()
	handle(p, 8, 1)
	if got := fmt.Sprint(m.Enablement()); got != "[P:0x19:4 R:0x20:3]" {
		t.Errorf("got %s", got)
	}
}
