package session

import (
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/eventrecord"
)

// TestForeignRecord: an EVENT_RECORD gives the record that it was made of.
func TestForeignRecord(t *testing.T) {
	var r etw.Record
	clock := &etw.Clock{Start: 1, Origin: 2, Frequency: 3}
	for _, want := range []*etw.Record{
		{Provider: etw.GUID{1}, ID: 2, Version: 3, Channel: 4, Level: 5, Opcode: 6, Task: 7, Keywords: 8, PointerSize: 4, Processor: 300,
			ProcessID: 10, ThreadID: 11, Timestamp: 12, Clock: clock, ActivityID: etw.GUID{13}, RelatedActivityID: etw.GUID{14}, Payload: []byte{15},
			Extended: []etw.ExtendedItem{{Type: etw.ExtSID, Data: []byte{1, 2}}, {Type: etw.ExtSchema, Data: []byte{3}}}},
		{Kind: etw.KindClassic, Provider: etw.MustParseGUID("3d6fa8d1-fe05-11d0-9dda-00c04fd7ba7c"),
			Version: 3, Opcode: 36, PointerSize: 8, Processor: 1, ProcessID: -1, ThreadID: -1, Timestamp: 12, Clock: clock, Payload: []byte{15, 16},
			Stack: etw.Stack{Addresses: []byte{1, 2, 3, 4, 5, 6, 7, 8}, PtrSize: 8}},
		{Kind: etw.KindMessage, Provider: etw.GUID{1}, ID: 2, PointerSize: 8, Clock: clock},
	} {
		e := newEvent(want)
		eventrecord.Of(&r, unsafe.Pointer(&e.Record), clock)
		if diff := cmp.Diff(want, &r); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	e := newEvent(&etw.Record{Timestamp: int64(etw.FileTimeOf(r.Time())), Extended: []etw.ExtendedItem{{Type: etw.ExtSID, Data: []byte{1}}}})
	eventrecord.Of(&r, unsafe.Pointer(&e.Record), nil)
	if r.Time() != r.Clock.FileTime(e.Header.TimeStamp).Time() || r.Clock.FileTime(7) != 7 {
		t.Errorf("the time is %v", r.Time())
	}
	if n := testing.AllocsPerRun(100, func() { eventrecord.Of(&r, unsafe.Pointer(&e.Record), nil) }); n != 0 {
		t.Errorf("it allocates %v times", n)
	}
}
