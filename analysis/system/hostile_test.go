package system_test

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/runtime/etw"
)

// noise dispatches n made-up records of the kernel to all that a machine can be
// asked, and asks it all. Ids, keys and addresses are few, so that lives, files and
// stacks get into each other's way in every order.
func noise(tb testing.TB, seed uint64, n int) {
	rnd := rand.New(rand.NewPCG(seed, 7))
	var mux etw.Mux
	m := system.Of(&mux)
	usage, files, network := system.NewUsage(&mux), system.FilesOf(&mux), system.NewNetwork(&mux)
	delivered, awaited := 0, 0
	stacks := system.BindStacks(&mux, func(int, system.CallStack) { delivered++ })
	events := kernel.Provider.Events
	clocks := []*etw.Clock{nil, {Frequency: 1e7}, {Start: 1 << 60, Origin: -1 << 62, Frequency: 3}, {Frequency: -5}}
	for i := range n {
		d := events[rnd.IntN(len(events))]
		p := make([]byte, rnd.IntN(120))
		for k := range p {
			p[k] = []byte{0, 0, 0, 4, 8, 0xff, byte(rnd.Uint32())}[rnd.IntN(7)]
		}
		r := &etw.Record{Kind: etw.KindClassic, Provider: d.Class, Opcode: d.Opcode, Version: d.Version + uint8(rnd.IntN(8)/7),
			PointerSize: etw.PtrSize(4 + 4*rnd.IntN(2)), Processor: int32(rnd.IntN(4) - 1), ProcessID: int64(rnd.IntN(4) - 1), ThreadID: int64(rnd.IntN(4) - 1),
			Timestamp: int64(rnd.Uint64() >> rnd.IntN(64)), Clock: clocks[rnd.IntN(len(clocks))], Payload: p}
		if err := mux.Dispatch(r); err != nil {
			tb.Fatal(err)
		}
		if rnd.IntN(8) == 0 {
			stacks.Await(r, r.ThreadID, i)
			awaited++
		}
	}
	stacks.Flush()
	usage.Settle()
	if delivered != awaited {
		tb.Errorf("%d of %d events were delivered", delivered, awaited)
	}
	for _, result := range []any{usage.Result(), m.ImagesResult(), files.Result(), network.Result(), stacks.Stats()} {
		if _, err := json.Marshal(result); err != nil {
			tb.Error(err)
		}
	}
	for _, p := range m.Processes() {
		for address := range uint64(8) {
			m.Image(p, address<<(rnd.IntN(60)), int64(rnd.Uint64()))
		}
		if p.Started && p.Ended && p.End < p.Start {
			tb.Errorf("process %d ends before it starts", p.PID)
		}
	}
	for _, t := range m.Threads() {
		if t.Process != nil && m.ThreadAt(t.TID, t.Start) == nil && t.Started {
			tb.Errorf("thread %d is not found at its start", t.TID)
		}
	}
}

func TestNoise(t *testing.T) {
	for seed := range uint64(20) {
		noise(t, seed, 5000)
	}
}
