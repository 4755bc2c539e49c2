package requests

import (
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/runtime/etw"
)

// asyncBuffer makes the payload of an event with a buffer.
func asyncBuffer(version byte, thread uint64, events int) []byte {
	b := append([]byte{version}, make([]byte, asyncHead-1+2*events)...)
	binary.LittleEndian.PutUint32(b[1:], uint32(len(b)))
	binary.LittleEndian.PutUint64(b[9:], thread)
	binary.LittleEndian.PutUint32(b[17:], uint32(events))
	binary.LittleEndian.PutUint64(b[21:], 100)
	binary.LittleEndian.PutUint64(b[29:], 200)
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(b))), b...)
}

// TestRuntimeAsync: buffers of the version that is known are counted, others are told of, and
// damaged ones too, wherever they are cut.
func TestRuntimeAsync(t *testing.T) {
	var mux etw.Mux
	a := New(&mux)
	s := testtrace.NewScript(t, &mux)
	say := func(payload []byte) {
		s.Record(time.Millisecond, 1, &etw.Record{ProviderName: asyncProfiler, ID: 1, Kind: etw.KindManifest, PointerSize: etw.Ptr64, Payload: payload,
			Schema: &etw.EventDesc{Name: "AsyncEvents"}})
	}
	say(asyncBuffer(1, 11, 5))
	say(asyncBuffer(1, 11, 2))
	say(asyncBuffer(1, 12, 0))
	say(asyncBuffer(9, 11, 5))
	whole := asyncBuffer(1, 11, 3)
	for n := range whole {
		say(whole[:n])
	}
	bad := asyncBuffer(1, 11, 3)
	binary.LittleEndian.PutUint32(bad[4+17:], 1<<31)
	say(bad)
	res := a.Result()
	want := RuntimeAsync{Buffers: 3, Events: 7, Threads: 2, Unknown: 1, Version: 9, Damaged: len(whole) + 1}
	if len(res.Processes) != 1 || res.Processes[0].RuntimeAsync == nil || *res.Processes[0].RuntimeAsync != want {
		t.Fatalf("%+v", res.Processes)
	}
	if text := strings.Join(res.Warnings(), "\n"); !strings.Contains(text, "version 9") {
		t.Errorf("nothing is said of version 9: %s", text)
	}
}
