package windows

import (
	"testing"

	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/internal/filter"
)

// TestForEvents: an event is asked for without the keywords by which a process collects or
// dumps its heap, if it has others, and at the level at which it comes.
func TestForEvents(t *testing.T) {
	for event, want := range map[string]string{
		"GCDynamicEvent": "Microsoft-Windows-DotNETRuntime:0x1:4",
		"GCBulkNode":     "Microsoft-Windows-DotNETRuntime:0x100000:4",
	} {
		list := ForEvents(&pick.Selector{Header: filter.Header{Events: []filter.Event{filter.ParseEvent(event)}}})
		if len(list) != 1 || list[0].String() != want {
			t.Errorf("%s: %v; want %s", event, list, want)
		}
	}
}

// TestEnables reads providers as people write them.
func TestEnables(t *testing.T) {
	for text, want := range map[string]string{
		"clr:gc+exception:verbose":          "Microsoft-Windows-DotNETRuntime:0x8001:5",
		"Microsoft-Windows-DotNETRuntime":   "Microsoft-Windows-DotNETRuntime:0xffffffffffffffff:5",
		"My-Source":                         "My-Source:0xffffffffffffffff:5",
		"My-Source:f00:4":                   "My-Source:0xf00:4",
		"My-Source::4:A=1;B=\"x:y\"":        "My-Source:0xffffffffffffffff:4:A=1;B=\"x:y\"",
		" System.Runtime:0x0:Informational": "System.Runtime:0x0:4",
	} {
		p, err := parseEnable(text)
		if err != nil || p.String() != want {
			t.Errorf("%s: %v, %v; want %s", text, p, err, want)
		}
	}
	for _, text := range []string{"", ":1:4", "clr:nothing", "My-Source:gc", "clr:gc:6", "clr:gc:loud"} {
		if p, err := parseEnable(text); err == nil {
			t.Errorf("%s: %v", text, p)
		}
	}
	if got := splitProviders(`A:1:4,B:1:4:X="1,2",C`); len(got) != 3 {
		t.Errorf("%q", got)
	}
}
