package gc

import (
	"encoding/binary"
	"io"

	"github.com/etwgen/etwgen/analysis/internal/hear"
	"github.com/etwgen/etwgen/analysis/internal/lives"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
)

// The kernel's events of sampling: a sample, and the interval between two.
const (
	opSample          etw.Opcode = 46
	opSetInterval     etw.Opcode = 72
	opCollectionStart etw.Opcode = 73
)

// defaultInterval is a millisecond, in units of 100 ns.
const defaultInterval = 10000

// A perfInfo is one of the kernel's events of sampling, of which only numbers are
// read that all versions have.
type perfInfo struct {
	etw.Empty // nothing is described
	thread    int64
	interval  int64 // 100 ns; of a timer only
}

var kernel = etw.ProviderDesc{Name: "Windows Kernel Trace", GUID: etw.MustParseGUID("9e814aad-3204-11d2-9a82-006008a86939")}

var perfInfoClass = etw.MustParseGUID("ce1dbfb4-137e-4da6-87b0-3f59aa102cbc")

func perfInfoDesc(op etw.Opcode, name string) *etw.EventDesc {
	return &etw.EventDesc{Provider: &kernel, Kind: etw.KindClassic, Class: perfInfoClass, Opcode: op, Name: name}
}

// Samples and intervals are two types, since their layouts differ.
type (
	sample   struct{ perfInfo }
	interval struct{ perfInfo }
)

var (
	sampleDescs   = []*etw.EventDesc{perfInfoDesc(opSample, "PerfInfo/Sample")}
	intervalDescs = []*etw.EventDesc{perfInfoDesc(opSetInterval, "PerfInfo/SetInterval"), perfInfoDesc(opCollectionStart, "PerfInfo/CollectionStart")}
)

func (*sample) EventDesc() *etw.EventDesc      { return sampleDescs[0] }
func (*sample) EventDescs() []*etw.EventDesc   { return sampleDescs }
func (*interval) EventDesc() *etw.EventDesc    { return intervalDescs[0] }
func (*interval) EventDescs() []*etw.EventDesc { return intervalDescs }

// DecodeVersion reads the thread, which comes after the instruction pointer.
func (e *sample) DecodeVersion(_ uint8, p []byte, ptr etw.PtrSize) (int, error) {
	n := ptr.Bytes()
	if len(p) < n+4 {
		return 0, io.ErrUnexpectedEOF
	}
	e.thread = int64(binary.LittleEndian.Uint32(p[n:]))
	return n + 4, nil
}

// DecodeVersion reads the new interval of the timer, which is source 0.
func (e *interval) DecodeVersion(_ uint8, p []byte, _ etw.PtrSize) (int, error) {
	if len(p) < 8 {
		return 0, io.ErrUnexpectedEOF
	}
	e.interval = 0
	if binary.LittleEndian.Uint32(p) == 0 {
		e.interval = int64(binary.LittleEndian.Uint32(p[4:]))
	}
	return 8, nil
}

// cpu is the processor time that samples stand for, in units of 100 ns.
type cpu struct {
	sampled   bool
	all, ofGC int64
	atLastEnd int64 // all of it when the last collection ended
	// collectors are the threads that have done the work of a blocking collection,
	// background those of a background one.
	collectors, background map[int64]bool
}

func (a *Analysis) handleSamples(mux *etw.Mux) {
	every := int64(defaultInterval)
	hear.On(mux, func(_ *etw.Record, e *interval) {
		if e.interval > 0 {
			every = e.interval
		}
	})
	hear.On(mux, func(r *etw.Record, e *sample) {
		if !a.window.HasRecord(r) {
			return
		}
		// Samples of a process before its first event of the runtime are of no use.
		for rt := range a.runtimes.OfProcess(r.ProcessID) {
			rt.State.sample(e.thread, every)
		}
	})
	lives.On(&a.runtimes, mux, func(rt *runtime, r *etw.Record, _ *clr.AnyGCCreateConcurrentThread) {
		rt.State.cpu.worker(&rt.State.cpu.background, r.ThreadID)
	})
}

// worker notes that a thread works on collections.
func (*cpu) worker(threads *map[int64]bool, thread int64) {
	switch {
	case (*threads)[thread]:
		return
	case *threads == nil:
		*threads = make(map[int64]bool)
	}
	(*threads)[thread] = true
}

// sample adds a sample of a thread of the process.
func (s *state) sample(thread, every int64) {
	s.cpu.sampled = true
	s.cpu.all += every
	switch {
	case s.current != nil && s.cpu.collectors[thread]:
		s.current.cpu += every
	case s.bgc != nil && s.cpu.background[thread]:
		s.bgc.cpu += every
	default:
		return
	}
	s.cpu.ofGC += every
}
