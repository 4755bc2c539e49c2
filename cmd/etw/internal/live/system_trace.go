package live

import (
	"encoding/binary"
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/etwgen/etwgen/generated/universal"
	"github.com/etwgen/etwgen/generated/universal/events"
	"github.com/etwgen/etwgen/internal/perf"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
)

// A systemTrace writes what the kernel of Linux tells as a universal trace.
type systemTrace struct {
	w           *nettrace.Writer
	clock       etw.Clock
	begun, last int64 // times of the kernel
	payload     []byte

	processes map[int32]*traced
	blocked   map[int32]blockedAt // threads that do not run
	files     fileIDs
	mappings  uint64 // how many there are, and the number of the last one
	functions uint64
	kernel    map[uint64]bool // addresses in stacks

	samples, switches, lost int64
	err                     error
}

// A traced is what is known of a process.
type traced struct {
	name     string
	mappings []universal.ProcessMapping // a child has them, too
}

// A blockedAt is since when a thread does not run, and where it stopped.
type blockedAt struct {
	time  int64
	stack []byte
}

func NewSystemTrace(out io.Writer, begun int64, now time.Time) (*systemTrace, error) {
	t := &systemTrace{
		begun: begun, last: begun, clock: etw.Clock{Start: etw.FileTimeOf(now), Origin: begun, Frequency: 1e9},
		processes: make(map[int32]*traced), blocked: make(map[int32]blockedAt), kernel: make(map[uint64]bool),
	}
	var err error
	t.w, err = nettrace.NewWriter(out, nettrace.Header{
		Version: 6, Clock: t.clock, PointerSize: etw.Ptr64, ProcessID: -1, Processors: runtime.NumCPU(), SamplingInterval: systemInterval,
	})
	return t, err
}

func (t *systemTrace) Close() error {
	if err := t.w.Close(); t.err == nil {
		t.err = err
	}
	return t.err
}

// has reports whether a process is in the trace.
func (t *systemTrace) has(pid int) bool { return t.processes[int32(pid)] != nil }

// write writes an event. Threads of which none is told are 0.
func (t *systemTrace) write(e etw.Event, rec *perf.Record, tid int32, stack []byte) {
	if t.err != nil {
		return
	}
	if t.payload, t.err = e.AppendPayload(t.payload[:0], etw.Ptr64); t.err != nil {
		return
	}
	// What comes late, as what a process was before it was met, is told at this time.
	t.last = max(t.last, rec.Time)
	d := e.EventDesc()
	t.err = t.w.Write(&etw.Record{
		Provider: d.Provider.GUID, ProviderName: d.Provider.Name, ID: d.ID, Version: d.Version, Level: d.Level, Schema: d,
		PointerSize: etw.Ptr64, Processor: rec.Processor, ProcessID: int64(rec.PID), ThreadID: int64(tid),
		Timestamp: t.last, Clock: &t.clock, Payload: t.payload, Stack: etw.Stack{Addresses: stack, PtrSize: etw.Ptr64},
	})
}

// about returns a record that tells of a process now.
func (t *systemTrace) about(pid int32) *perf.Record {
	return &perf.Record{PID: pid, Processor: -1, Time: t.last}
}

// Take takes a record of the kernel.
func (t *systemTrace) Take(r *perf.Record) {
	switch r.Kind {
	case perf.Sample:
		t.samples++
		t.meet(r)
		t.hit(r.Stack)
		t.write(&events.CPU{Value: 1}, r, r.TID, r.Stack)
	case perf.Blocked:
		if r.TID > 0 { // else it is that of a processor without work
			t.meet(r)
			t.blocked[r.TID] = blockedAt{r.Time, r.Stack}
		}
	case perf.Resumed:
		if b, ok := t.blocked[r.TID]; ok {
			delete(t.blocked, r.TID)
			t.switches++
			t.hit(b.stack)
			t.write(&events.ContextSwitch{Value: uint64(max(r.Time-b.time, 0))}, r, r.TID, b.stack)
		}
	case perf.Map:
		t.mapped(r)
	case perf.Comm:
		t.renamed(r)
	case perf.Fork:
		t.forked(r)
	case perf.Exit:
		t.exited(r)
	case perf.Lost:
		t.lost += r.Count
		t.w.Lost(-1, -1, r.Count)
	}
}

// kernelSpace is where the memory of the kernel begins.
const kernelSpace = 0xffff800000000000

// hit remembers what is to get a name: functions of the kernel.
func (t *systemTrace) hit(stack []byte) {
	for ; len(stack) >= 8; stack = stack[8:] {
		at := binary.LittleEndian.Uint64(stack)
		if at < kernelSpace {
			return // the kernel's frames come first
		}
		t.kernel[at] = true
	}
}

// meet takes that a process does something. One of which nothing was told is looked up.
func (t *systemTrace) meet(r *perf.Record) {
	if r.PID <= 0 || t.processes[r.PID] != nil {
		return
	}
	t.snapshot(int(r.PID), r)
}

// known returns what is known of a process.
func (t *systemTrace) known(pid int32) *traced {
	p := t.processes[pid]
	if p == nil {
		p = new(traced)
		t.processes[pid] = p
	}
	return p
}

// renamed takes that a thread has another name. That of a process is the name of its first
// thread.
func (t *systemTrace) renamed(r *perf.Record) {
	if r.TID != r.PID {
		return
	}
	p := t.known(r.PID)
	if r.Exec {
		p.mappings = nil
	} else if p.name == r.Name {
		return
	}
	p.name = r.Name
	t.write(&universal.ProcessCreate{NamespaceProcessId: namespacePID(int(r.PID)), Name: etw.ANSI(r.Name), NamespaceName: unknownSpace}, r, 0, nil)
}

// unknownSpace stands for the name of a namespace, as other recorders have it.
var unknownSpace = etw.ANSI("Unknown")

// forked takes that a process has a child, which has its memory.
func (t *systemTrace) forked(r *perf.Record) {
	parent := t.processes[r.Parent]
	if r.PID == r.Parent || parent == nil {
		return
	}
	p := &traced{name: parent.name, mappings: append([]universal.ProcessMapping(nil), parent.mappings...)}
	t.processes[r.PID] = p
	t.write(&universal.ProcessCreate{NamespaceProcessId: namespacePID(int(r.PID)), Name: etw.ANSI(p.name), NamespaceName: unknownSpace}, r, 0, nil)
	for i := range p.mappings {
		t.write(&p.mappings[i], r, 0, nil)
	}
}

// exited takes that a thread has ended, and with the first one its process.
func (t *systemTrace) exited(r *perf.Record) {
	delete(t.blocked, r.TID)
	if r.TID == r.PID {
		t.write(&universal.ProcessExit{}, r, 0, nil)
	}
}

// mapped takes that code is in the memory of a process.
func (t *systemTrace) mapped(r *perf.Record) {
	if r.Start >= kernelSpace || r.Length == 0 || r.PID <= 0 {
		return
	}
	m := Area{Start: r.Start, End: r.Start + r.Length, Offset: r.Offset, Path: r.Name, buildID: r.BuildID}
	if r.File.Inode != 0 { // as the kernel's list of areas has it
		m.Device = fmt.Sprintf("%02x:%02x %d", r.File.Major, r.File.Minor, r.File.Inode)
	}
	if m.Path == "//anon" {
		m.Path = ""
	}
	t.mapping(&m, r)
}

// mapping writes a part of the memory of a process, and what its file is.
func (t *systemTrace) mapping(m *Area, r *perf.Record) {
	id, text := t.files.of(int(r.PID), m)
	if text != "" {
		t.write(&universal.ProcessMappingMetadata{Id: id, SymbolMetadata: etw.ANSI(text)}, r, 0, nil)
	}
	t.mappings++
	e := universal.ProcessMapping{
		Id: t.mappings, StartAddress: m.Start, EndAddress: m.End, FileOffset: m.Offset, FileName: etw.ANSI(m.Path), MetadataId: id,
		HasSymbolMetadata: true, HasVersionMetadata: true,
	}
	p := t.known(r.PID)
	p.mappings = append(p.mappings, e)
	t.write(&e, r, 0, nil)
}

// Function writes what the code at some addresses of a process is called.
func (t *systemTrace) Function(pid int32, start, size uint64, name string) {
	if size == 0 || start+size < start || len(name) > maxFunctionName {
		return
	}
	t.functions++
	t.write(&universal.ProcessSymbol{Id: t.functions, StartAddress: start, EndAddress: start + size - 1, Name: etw.ANSI(name)}, t.about(pid), 0, nil)
}

// maxFunctionName is how long a name can be in a payload.
const maxFunctionName = 0xffff
