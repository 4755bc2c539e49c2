package adapters

import (
	"testing"
	"time"
	"unsafe"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
)

// An eventRecord is the EVENT_RECORD of Windows, as these packages declare it.
type eventRecord struct {
	size, headerType, flags, property uint16
	thread, process                   uint32
	time                              int64
	provider                          etw.GUID
	id                                uint16
	version, channel, level, opcode   uint8
	task                              uint16
	keywords                          uint64
	times                             uint64
	activity                          etw.GUID
	buffer                            uint32
	extendedCount, userDataLength     uint16
	extended, userData, context       unsafe.Pointer
}

// An event keeps its own copy.
type event struct {
	Header      struct{ Time time.Time }
	eventRecord *eventRecord
}

// TestDispatch: a callback of another package calls a typed handler.
func TestDispatch(t *testing.T) {
	when := time.Date(2024, 5, 6, 7, 8, 9, 1000, time.UTC)
	var mux etw.Mux
	n := 0
	etw.Handle(&mux, func(r *etw.Record, e *clr.AnyGCStart) error {
		if n++; e.Count != 7 || r.ProcessID != 42 || !r.Time().Equal(when) || r.ActivityID != (etw.GUID{9}) {
			t.Errorf("got %v of %+v at %v", e, r, r.Time())
		}
		return nil
	})
	e := &clr.GCStartV1{Count: 7}
	d := e.EventDesc()
	payload, err := e.AppendPayload(nil, etw.Ptr64)
	if err != nil {
		t.Fatal(err)
	}
	record := &eventRecord{
		flags: 0x40, process: 42, time: int64(etw.FileTimeOf(when)), provider: d.Provider.GUID, id: d.ID, version: d.Version, level: uint8(d.Level),
		activity: etw.GUID{9}, userDataLength: uint16(len(payload)), userData: unsafe.Pointer(&payload[0]),
	}
	for _, p := range []unsafe.Pointer{unsafe.Pointer(record), Inside(&event{eventRecord: record}), Inside(&event{}), Inside(7), Inside(struct{ eventRecord int }{})} {
		if err := Dispatch(&mux, p); err != nil {
			t.Error(err)
		}
	}
	if n != 2 {
		t.Errorf("%d events were handled, want 2", n)
	}
}
