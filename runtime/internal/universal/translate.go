package universal

import (
	"encoding/binary"
	"fmt"

	"github.com/etwgen/etwgen/internal/unwind"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/eventheader"
	"github.com/etwgen/etwgen/runtime/internal/perfevent"
)

// A Translator turns records of the kernel into the events that recorders of Linux write.
type Translator struct {
	// Ended says that nothing comes from the kernel any more.
	Ended bool
	// Stats are counts of the records taken.
	Stats Stats

	host  Host
	queue queue
	last  int64 // the latest time of the kernel

	processes map[int32]*traced
	inherited int
	rests     rests
	files     fileIDs
	mappings  uint64 // how many there are, and the number of the last one
	functions uint64
	kernel    map[uint64]bool // addresses in stacks
	unwinder  unwinder
	headers   eventheader.Decoder
}

// Stats count the records taken of the kernel.
type Stats struct {
	Samples  int64 // of processors
	Switches int64 // of threads that had stopped, and ran again
	Lost     int64 // records of the kernel that a ring had no room for
	Unwound  int64 // samples and switches whose copies of the stack have told the callers
	Traced   int64 // events of tracepoints
	Garbled  int64 // of these, those of EventHeader that make no sense
}

// A Host knows facts that the kernel does not tell.
type Host interface {
	// Meet is called for a process that does something, and of which nothing was told.
	Meet(r *perfevent.Record)
	// Identify returns the identity of the file of an area, as JSON, "" if nothing does.
	Identify(pid int32, a *Area) string
	// NamespacePID returns the number that a process has for itself.
	NamespacePID(pid int32) uint64
	// Code returns how the code in an area is unwound, or nil.
	Code(pid int32, a *Area) *unwind.File
}

// A traced is the state of a process.
type traced struct {
	name     string
	mappings []mapping // a child has them, too, in the same memory
	sorted   []int     // the numbers of mappings by their starts, as far as they were sorted
}

// NewTranslator returns a Translator of a recording that began at a time of the kernel.
func NewTranslator(host Host, begun int64) Translator {
	return Translator{host: host, last: begun, processes: make(map[int32]*traced), rests: rests{make(map[int32]int), make(map[int32]struct{})}, kernel: make(map[uint64]bool)}
}

// Has reports whether something was told of a process.
func (t *Translator) Has(pid int32) bool { return t.processes[pid] != nil }

// Only leaves the names of the kernel's functions out.
func (t *Translator) Only() { t.kernel = nil }

// Clear forgets undelivered records.
func (t *Translator) Clear() { t.queue.clear() }

// write queues an event. Its process and processor are those of rec. Threads of which none
// is told are 0.
func (t *Translator) write(d *etw.EventDesc, rec *perfevent.Record, tid int32, stack []byte, payload func([]byte) []byte) *queued {
	// A late fact, such as the state of a process before it was met, is told at this time.
	t.last = max(t.last, rec.Time)
	q := &t.queue
	from := len(q.payloads)
	if payload != nil {
		q.payloads = payload(q.payloads)
	}
	n := q.push(queued{desc: d, time: t.last, pid: rec.PID, tid: tid, processor: rec.Processor, from: from, to: len(q.payloads), stack: stack})
	return q.of(n)
}

// About returns a record that tells of a process now.
func (t *Translator) About(pid int32) *perfevent.Record {
	return &perfevent.Record{PID: pid, Processor: -1, Time: t.last}
}

// Take takes a record of the kernel.
func (t *Translator) Take(r *perfevent.Record) {
	switch r.Kind {
	case perfevent.Sample:
		t.Stats.Samples++
		t.Event(CPUSample, r, nil, func(b []byte) []byte { return append(b, 1) })
	case perfevent.Blocked:
		t.off(r)
	case perfevent.Resumed:
		t.back(r)
	case perfevent.Map:
		t.mapped(r)
	case perfevent.Comm:
		t.renamed(r)
	case perfevent.Fork:
		t.forked(r)
	case perfevent.Exit:
		t.exited(r)
	case perfevent.Lost:
		t.Stats.Lost += r.Count
	}
}

// Activities are those of an event.
type Activities struct{ ID, Related etw.GUID }

// Event takes that an event happened on a thread, where its stack is.
func (t *Translator) Event(d *etw.EventDesc, r *perfevent.Record, a *Activities, payload func([]byte) []byte) {
	t.contradicted(r.TID)
	t.meet(r)
	if t.unwinder.run != nil {
		t.unwinder.run(t, r)
	}
	t.hit(r.Stack)
	t.write(d, r, r.TID, r.Stack, payload).acts = a
}

// kernelSpace is where the memory of the kernel begins.
const kernelSpace = 0xffff800000000000

// hit remembers addresses that are to get a name: functions of the kernel.
func (t *Translator) hit(stack []byte) {
	for ; t.kernel != nil && len(stack) >= 8; stack = stack[8:] {
		at := binary.LittleEndian.Uint64(stack)
		if at < kernelSpace {
			return // the kernel's frames come first
		}
		t.kernel[at] = true
	}
}

// meet takes that a process does something. One of which nothing was told is looked up.
func (t *Translator) meet(r *perfevent.Record) {
	if r.PID <= 0 || t.processes[r.PID] != nil {
		return
	}
	t.host.Meet(r)
}

// known returns the state of a process.
func (t *Translator) known(pid int32) *traced {
	p := t.processes[pid]
	if p == nil {
		p = new(traced)
		t.processes[pid] = p
	}
	return p
}

// Existing takes that a process was there before, and has a name.
func (t *Translator) Existing(r *perfevent.Record, name string) {
	t.known(r.PID).name = name
	t.created(ExistingProcess, r, name)
}

// renamed takes that a thread has another name. That of a process is the name of its first
// thread.
func (t *Translator) renamed(r *perfevent.Record) {
	if r.TID != r.PID {
		return
	}
	p := t.known(r.PID)
	if r.Exec {
		p.mappings, p.sorted = nil, nil
	} else if p.name == r.Name {
		return
	}
	p.name = r.Name
	t.created(ProcessCreate, r, r.Name)
}

// created tells that there is a process.
func (t *Translator) created(d *etw.EventDesc, r *perfevent.Record, name string) {
	t.write(d, r, 0, nil, func(b []byte) []byte { return appendProcess(b, t.host.NamespacePID(r.PID), name) })
}

// maxInherited bounds how many mappings are told again of children: each fork of a process
// that has many is a record of a few bytes.
const maxInherited = 1 << 22

// forked takes that a process has a child, which has its memory.
func (t *Translator) forked(r *perfevent.Record) {
	delete(t.rests.dead, r.TID)
	parent := t.processes[r.Parent]
	if r.PID == r.Parent || parent == nil {
		return
	}
	p := &traced{name: parent.name}
	t.processes[r.PID] = p
	t.created(ProcessCreate, r, p.name)
	if t.inherited += len(parent.mappings); t.inherited > maxInherited {
		return
	}
	n := len(parent.mappings)
	p.mappings = parent.mappings[:n:n]
	for i := range p.mappings {
		t.write(ProcessMapping, r, 0, nil, p.mappings[i].append)
	}
}

// exited takes that a thread has ended, and with the first one its process.
func (t *Translator) exited(r *perfevent.Record) {
	t.contradicted(r.TID)
	t.rests.dead[r.TID] = struct{}{}
	if r.TID == r.PID {
		t.write(ProcessExit, r, 0, nil, nil)
	}
}

// mapped takes that code is in the memory of a process.
func (t *Translator) mapped(r *perfevent.Record) {
	if r.Start >= kernelSpace || r.Length == 0 || r.Data || r.PID <= 0 {
		return
	}
	m := Area{Start: r.Start, End: r.Start + r.Length, Offset: r.Offset, Path: r.Name, BuildID: r.BuildID}
	if r.File.Inode != 0 { // as the kernel's list of areas has it
		m.Device = fmt.Sprintf("%02x:%02x %d", r.File.Major, r.File.Minor, r.File.Inode)
	}
	if m.Path == "//anon" {
		m.Path = ""
	}
	t.Map(&m, r)
}

// An Area is a part of the memory of a process.
type Area struct {
	Start, End, Offset uint64
	Path               string
	Device             string // and the number of the file there
	BuildID            []byte // if the kernel told
}

// Map writes a part of the memory of a process, and its file.
func (t *Translator) Map(m *Area, r *perfevent.Record) {
	id, text := t.files.of(t.host, r.PID, m)
	if text != "" {
		t.write(MappingMetadata, r, 0, nil, func(b []byte) []byte { return appendMetadata(b, id, text) })
	}
	t.mappings++
	e := mapping{id: t.mappings, start: m.Start, end: m.End, offset: m.Offset, path: m.Path, device: m.Device, file: id}
	p := t.known(r.PID)
	p.mappings = append(p.mappings, e)
	t.write(ProcessMapping, r, 0, nil, e.append)
}

// Function writes the name of the code at some addresses of a process.
func (t *Translator) Function(pid int32, start, size uint64, name string) {
	if size == 0 || start+size < start || len(name) > maxText {
		return
	}
	t.functions++
	t.write(ProcessSymbol, t.About(pid), 0, nil, func(b []byte) []byte { return appendSymbol(b, t.functions, start, size, name) })
}
