package commandtest

import "github.com/etwgen/etwgen/runtime/nettrace/nettracetest"

// Points returns a stream with three sequence points, events and stacks between them.
func Points() []byte {
	w := nettracetest.NewWriter(4, nettracetest.Trace{ProcessID: 1})
	w.Metadata(nettracetest.Row{ID: 1, Provider: "Test", EventID: 7, Name: "One"})
	for i := range 4 {
		w.Stacks(1, []uint64{uint64(i + 1)})
		for k := range 100 {
			w.Events(nettracetest.Event{Metadata: 1, Time: int64(1000*i + k), Thread: 5, Stack: 1, Payload: make([]byte, 40)})
		}
		if i == 1 {
			w.Metadata(nettracetest.Row{ID: 2, Provider: "Test", EventID: 8, Name: "Two"})
		}
		if i < 3 {
			w.SequencePoint(int64(1000*i+500), 0, nil)
		}
	}
	w.Events(nettracetest.Event{Metadata: 2, Time: 9000, Thread: 5})
	w.End()
	return w.Bytes()
}
