package linux

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/linux/internal/perf"
)

// A translator turns records of the kernel into the events that recorders of Linux write.
type translator struct {
	queue queue
	last  int64 // the latest time of the kernel

	processes map[int32]*traced
	rests     rests
	ended     bool // nothing comes from the kernel any more
	files     fileIDs
	mappings  uint64 // how many there are, and the number of the last one
	functions uint64
	kernel    map[uint64]bool // addresses in stacks

	stats Stats
}

// A traced is what is known of a process.
type traced struct {
	name     string
	mappings []mapping // a child has them, too
}

func newTranslator(begun int64) translator {
	return translator{last: begun, processes: make(map[int32]*traced), rests: newRests(), kernel: make(map[uint64]bool)}
}

// write queues an event. Its process and processor are those of rec. Threads of which none
// is told are 0.
func (t *translator) write(d *etw.EventDesc, rec *perf.Record, tid int32, stack []byte, payload func([]byte) []byte) {
	// What comes late, as what a process was before it was met, is told at this time.
	t.last = max(t.last, rec.Time)
	q := &t.queue
	from := len(q.payloads)
	if payload != nil {
		q.payloads = payload(q.payloads)
	}
	q.push(queued{desc: d, time: t.last, pid: rec.PID, tid: tid, processor: rec.Processor, from: from, to: len(q.payloads), stack: stack})
}

// about returns a record that tells of a process now.
func (t *translator) about(pid int32) *perf.Record {
	return &perf.Record{PID: pid, Processor: -1, Time: t.last}
}

// take takes a record of the kernel.
func (t *translator) take(r *perf.Record) {
	switch r.Kind {
	case perf.Sample:
		t.stats.Samples++
		t.contradicted(r.TID)
		t.meet(r)
		t.hit(r.Stack)
		t.write(cpuSample, r, r.TID, r.Stack, func(b []byte) []byte { return append(b, 1) })
	case perf.Blocked:
		t.off(r)
	case perf.Resumed:
		t.back(r)
	case perf.Map:
		t.mapped(r)
	case perf.Comm:
		t.renamed(r)
	case perf.Fork:
		t.forked(r)
	case perf.Exit:
		t.exited(r)
	case perf.Lost:
		t.stats.Lost += r.Count
	}
}

// kernelSpace is where the memory of the kernel begins.
const kernelSpace = 0xffff800000000000

// hit remembers what is to get a name: functions of the kernel.
func (t *translator) hit(stack []byte) {
	for ; len(stack) >= 8; stack = stack[8:] {
		at := binary.LittleEndian.Uint64(stack)
		if at < kernelSpace {
			return // the kernel's frames come first
		}
		t.kernel[at] = true
	}
}

// meet takes that a process does something. One of which nothing was told is looked up.
func (t *translator) meet(r *perf.Record) {
	if r.PID <= 0 || t.processes[r.PID] != nil {
		return
	}
	t.snapshot(int(r.PID), r)
}

// known returns what is known of a process.
func (t *translator) known(pid int32) *traced {
	p := t.processes[pid]
	if p == nil {
		p = new(traced)
		t.processes[pid] = p
	}
	return p
}

// renamed takes that a thread has another name. That of a process is the name of its first
// thread.
func (t *translator) renamed(r *perf.Record) {
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
	t.created(processCreate, r, r.Name)
}

// created tells that there is a process.
func (t *translator) created(d *etw.EventDesc, r *perf.Record, name string) {
	t.write(d, r, 0, nil, func(b []byte) []byte { return appendProcess(b, namespacePID(int(r.PID)), name) })
}

// forked takes that a process has a child, which has its memory.
func (t *translator) forked(r *perf.Record) {
	delete(t.rests.dead, r.TID)
	parent := t.processes[r.Parent]
	if r.PID == r.Parent || parent == nil {
		return
	}
	p := &traced{name: parent.name, mappings: slices.Clone(parent.mappings)}
	t.processes[r.PID] = p
	t.created(processCreate, r, p.name)
	for i := range p.mappings {
		t.write(processMapping, r, 0, nil, p.mappings[i].append)
	}
}

// exited takes that a thread has ended, and with the first one its process.
func (t *translator) exited(r *perf.Record) {
	t.contradicted(r.TID)
	t.rests.dead[r.TID] = struct{}{}
	if r.TID == r.PID {
		t.write(processExit, r, 0, nil, nil)
	}
}

// mapped takes that code is in the memory of a process.
func (t *translator) mapped(r *perf.Record) {
	if r.Start >= kernelSpace || r.Length == 0 || r.PID <= 0 {
		return
	}
	m := area{start: r.Start, end: r.Start + r.Length, offset: r.Offset, path: r.Name, buildID: r.BuildID}
	if r.File.Inode != 0 { // as the kernel's list of areas has it
		m.device = fmt.Sprintf("%02x:%02x %d", r.File.Major, r.File.Minor, r.File.Inode)
	}
	if m.path == "//anon" {
		m.path = ""
	}
	t.mapping(&m, r)
}

// mapping writes a part of the memory of a process, and what its file is.
func (t *translator) mapping(m *area, r *perf.Record) {
	id, text := t.files.of(int(r.PID), m)
	if text != "" {
		t.write(mappingMetadata, r, 0, nil, func(b []byte) []byte { return appendMetadata(b, id, text) })
	}
	t.mappings++
	e := mapping{id: t.mappings, start: m.start, end: m.end, offset: m.offset, path: m.path, file: id}
	p := t.known(r.PID)
	p.mappings = append(p.mappings, e)
	t.write(processMapping, r, 0, nil, e.append)
}

// function writes what the code at some addresses of a process is called.
func (t *translator) function(pid int32, start, size uint64, name string) {
	if size == 0 || start+size < start || len(name) > maxText {
		return
	}
	t.functions++
	t.write(processSymbol, t.about(pid), 0, nil, func(b []byte) []byte { return appendSymbol(b, t.functions, start, size, name) })
}
