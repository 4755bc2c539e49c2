package requests

import (
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/internal/actid"
	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/runtime/etw"
)

// TestTwins: two activities are on at once under one id, as requests of one connection of
// HTTP/2 on .NET 10. Where threads tell which of them stops, each has its own time, and where
// they do not, neither has one.
func TestTwins(t *testing.T) {
	tasks := etw.MustParseGUID("2e5dba47-a3d2-4d16-8ee0-6671ffdcd7b5")
	for _, told := range []bool{true, false} {
		var mux etw.Mux
		a := New(&mux)
		s := testtrace.NewScript(t, &mux)
		id := actid.Make(1, 0x10)
		at := time.Duration(0)
		works := func(thread int64, id etw.GUID) {
			at += 10 * time.Microsecond
			s.Record(at, thread, &etw.Record{Provider: tasks, ProviderName: "System.Threading.Tasks.TplEventSource", ID: 25, Kind: etw.KindManifest, PointerSize: etw.Ptr64, Payload: id[:]})
		}
		say := func(thread int64, op etw.Opcode, name string) {
			if told {
				works(thread, map[etw.Opcode]etw.GUID{etw.OpcodeStart: id}[op])
			}
			at += 10 * time.Microsecond
			s.Activity = id
			s.Record(at, thread, &etw.Record{Provider: etw.GUID{7: 0x50}, ProviderName: "Shop", Kind: etw.KindManifest, Opcode: op, PointerSize: etw.Ptr64,
				Schema: &etw.EventDesc{Name: "Request" + op.String(), TaskName: "Request"}})
			s.Activity = etw.GUID{}
			at += time.Duration(len(name)) * time.Millisecond
		}
		works(9, actid.Make(1, 0x20))
		say(1, etw.OpcodeStart, "22")
		say(2, etw.OpcodeStart, "333")
		say(1, etw.OpcodeStop, "4444")
		say(2, etw.OpcodeStop, "")
		res := a.Result().Processes[0]
		if told {
			// The first was on for 2 + 3 ms, the second for 3 + 4, and some tens of µs.
			if x := res.Tasks[0]; x.Count != 2 || x.DurationMS.Total < 12 || x.DurationMS.Total > 12.2 || x.DurationMS.Max.Or(0) > 7.1 || res.LostStops != 0 || res.Open != 0 {
				t.Errorf("%+v, %d lost, %d open", x, res.LostStops, res.Open)
			}
			continue
		}
		if x := res.Tasks[0]; x.Count != 0 || res.LostStops != 2 || res.StopsWithoutStart != 2 || res.Open != 0 {
			t.Errorf("%d ended, %d lost, %d open", x.Count, res.LostStops, res.Open)
		}
	}
}
