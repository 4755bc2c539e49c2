package requests

import (
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/internal/actid"
	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/runtime/etw"
)

// TestAgain: an activity that begins again within itself is stopped by the runtime, which gives the stops
// of those around the id of the activity around all of them: that is not over by it.
func TestAgain(t *testing.T) {
	var mux etw.Mux
	a := New(&mux)
	s := testtrace.NewScript(t, &mux)
	event := func(ms int, name, task string, op etw.Opcode, id byte) {
		s.Activity, s.Related = actid.Make(1, id), etw.GUID{}
		if op == etw.OpcodeStart && id != 0x10 {
			s.Related = actid.Make(1, 0x10)
		}
		s.Record(time.Duration(ms)*time.Millisecond, 7, &etw.Record{ProviderName: "Shop", Schema: &etw.EventDesc{Name: name, TaskName: task}, Kind: etw.KindManifest, Opcode: op, PointerSize: etw.Ptr64})
	}
	event(0, "RequestStart", "Request", etw.OpcodeStart, 0x10)
	event(10, "CallStart", "Call", etw.OpcodeStart, 0x11)
	event(20, "CallStart", "Call", etw.OpcodeStart, 0x12)
	event(30, "CallStart", "Call", etw.OpcodeStart, 0x13)
	event(40, "CallStop", "Call", etw.OpcodeStop, 0x13)
	event(50, "CallStop", "Call", etw.OpcodeStop, 0x10)
	event(60, "CallStop", "Call", etw.OpcodeStop, 0x10)
	event(65, "CallStop", "Call", etw.OpcodeStop, 0x10) // of none
	event(70, "OtherStop", "Other", etw.OpcodeStop, 0x10)
	p := a.Result().Processes[0]
	got := make(map[string][2]float64)
	for _, x := range p.Tasks {
		got[x.Task] = [2]float64{float64(x.Count), x.DurationMS.Total}
	}
	// A stop that has another name than any start is that of the activity with its id.
	if want := (map[string][2]float64{"Request": {1, 70}, "Call": {3, 10 + 30 + 50}}); len(got) != 2 || got["Request"] != want["Request"] || got["Call"] != want["Call"] || p.Open != 0 || p.StopsWithoutStart != 1 {
		t.Errorf("%v, want %v: %d open, %d without a start", got, want, p.Open, p.StopsWithoutStart)
	}
}
