package analysis

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/clr/private"
	"github.com/etwgen/etwgen/generated/clr/rundown"
	"github.com/etwgen/etwgen/runtime/etw"
)

// FuzzRecords gives records of the runtime's events with payloads of any bytes to
// all analyses. Nothing panics, and whatever comes out is JSON.
func FuzzRecords(f *testing.F) {
	f.Add([]byte("\x00\x01\x08abcdefgh\x05\x00\x04\x01\x02\x03\x04"))
	f.Add([]byte(strings.Repeat("\x10\x03\x20\x00\x00\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x01\x00\x02\x00\x03\x00\x04\x00\x05\x00\x06", 8)))
	var events []*etw.EventDesc
	for _, p := range []*etw.Provider{clr.Provider, private.Provider, rundown.Provider} {
		events = append(events, p.Events...)
	}
	f.Fuzz(func(t *testing.T, script []byte) {
		var mux etw.Mux
		set := New(&mux)
		clock := &etw.Clock{Frequency: 1e9}
		now := int64(0)
		for len(script) >= 4 {
			d := events[(int(script[0])|int(script[3])<<8)%len(events)]
			size := min(int(script[2]), len(script)-4)
			now += int64(script[1] >> 3)
			r := &etw.Record{Provider: d.Provider.GUID, ProviderName: d.Provider.Name, ID: d.ID, Version: d.Version, Opcode: d.Opcode,
				Schema: d, PointerSize: etw.Ptr64, ProcessID: int64(script[1] >> 6), ThreadID: int64(script[1] % 4),
				Timestamp: now, Clock: clock, Payload: script[4 : 4+size]}
			script = script[4+size:]
			if err := mux.Dispatch(r); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 { // a result does not change what comes next
			b, err := json.Marshal(set.Result())
			if err != nil || strings.Contains(string(b), "NaN") {
				t.Fatalf("%s, %v", b, err)
			}
		}
	})
}
