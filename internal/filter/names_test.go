package filter

import (
	"testing"

	"github.com/etwgen/etwgen/internal/builtin"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/corpus"
)

// TestEventNames checks the meaning of names that people type.
func TestEventNames(t *testing.T) {
	start := &etw.EventInfo{Provider: "Microsoft-Windows-DotNETRuntime", Name: "GCStart_V2", Task: "GarbageCollection", Opcode: "Start"}
	first := &etw.EventInfo{Provider: "Acme", Name: "Made"}
	process := etw.MustParseGUID("3d6fa8d0-fe05-11d0-9dda-00c04fd7ba7c")
	kernel := &etw.EventInfo{Provider: "Process", Name: "Process/Start", Task: "Process", Opcode: "Start"}
	for _, c := range []struct {
		event *etw.EventInfo
		r     etw.Record
		text  string
		want  bool
	}{
		{start, etw.Record{Version: 2}, "GCStart_V2", true}, {start, etw.Record{Version: 2}, "gcstart", true}, {start, etw.Record{Version: 2}, "GC/Start", true},
		{start, etw.Record{Version: 2}, "GarbageCollection/Start", true}, {start, etw.Record{Version: 2}, "GC*", true},
		{start, etw.Record{Version: 2}, "microsoft-windows-dotnetruntime/GC/Start", true}, {start, etw.Record{Version: 2}, "GCBegin", true},
		{start, etw.Record{Version: 2}, "GCStart_V1", false}, {start, etw.Record{Version: 2}, "GCStart_V0", false}, {start, etw.Record{Version: 2}, "GCStop", false},
		{first, etw.Record{}, "Made_V0", true}, {first, etw.Record{Version: 1}, "Made_V0", false}, {first, etw.Record{}, "Acme/Made", true},
		{kernel, etw.Record{Kind: etw.KindClassic, Provider: process}, "Windows Kernel/Process/Start", true},
		{kernel, etw.Record{}, "Windows Kernel/Process/Start", false},
	} {
		if got := ParseEvent(c.text).Match(&c.r, c.event); got != c.want {
			t.Errorf("%s matches %s: %v", c.text, c.event.Name, got)
		}
	}
}

// otherNames are names of TraceEvent that do not lead to the event, with reasons.
var otherNames = map[string]string{
	"EventID(200)": "TraceEvent has no name for it",
	"EventID(201)": "TraceEvent has no name for it",
}

// TestTraceEventNames takes the names that TraceEvent has for the events of real
// traces: each leads to the event.
func TestTraceEventNames(t *testing.T) {
	names := 0
	for _, path := range corpus.Glob(t, "traceevent", "*.json.gz") {
		var dump struct {
			Counts []struct {
				ID       int
				Version  int
				Name     string
				Provider string
			}
		}
		testio.JSON(t, testio.Unpacked(t, path), &dump)
		for _, c := range dump.Counts {
			for _, b := range builtin.Providers {
				if b.Desc.Name != c.Provider || c.Provider == "Universal.Events" { // whose numbers each recording gives anew
					continue
				}
				for _, d := range b.Events {
					if int(d.ID) != c.ID || int(d.Version) != c.Version {
						continue
					}
					names++
					if !ParseEvent(c.Name).MatchDesc(d) && otherNames[c.Name] == "" {
						t.Errorf("%s does not lead to %s (%d)", c.Name, d.Title(), d.ID)
						otherNames[c.Name] = "reported"
					}
				}
			}
		}
	}
	if names < 500 {
		t.Errorf("only %d names", names)
	}
}
