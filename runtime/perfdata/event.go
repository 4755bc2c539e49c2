package perfdata

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/etwgen/etwgen/internal/unwind"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/internal/perfevent"
	"github.com/etwgen/etwgen/runtime/internal/universal"
)

// An event is one that perf recorded.
type event struct {
	attr
	at   int64  // where the file has it
	name string // as perf prints it

	resolved bool
	role     role
	desc     *etw.EventDesc
	point    *universal.Tracepoint // of traced
}

// A role is the kind of record that samples of an event become.
type role uint8

const (
	counted  role = iota // an event of perf's own
	timed                // a sample of the processor
	blocking             // a thread goes off its processor
	traced               // a tracepoint
)

// addEvent adds an event with its numbers, of 8 bytes each.
func (r *Reader) addEvent(a attr, ids []byte) error {
	if r.ids += len(ids) / 8; int64(r.ids) > r.size/8 {
		return fmt.Errorf("%w: its events have more numbers than the file has room for", ErrFormat)
	}
	e := &event{attr: a}
	r.events = append(r.events, e)
	for ; len(ids) >= 8; ids = ids[8:] {
		if r.byID == nil {
			r.byID = make(map[uint64]*event)
		}
		r.byID[r.order.Uint64(ids)] = e
	}
	return nil
}

// setCodeRegister says where the address of the code is, once the file has told which
// machine it is of.
func (r *Reader) setCodeRegister() {
	if n, ok := codeRegisters[r.header.Arch]; ok {
		for _, e := range r.events {
			e.layout.CodeRegister = n
		}
	}
}

// title returns the name of an event, by its number if the file has none.
func (e *event) title() string {
	if e.name != "" {
		return e.name
	}
	return fmt.Sprintf("%d:%#x", e.kind, e.config)
}

// isTime reports whether the counter goes on while a processor works.
func (e *event) isTime() bool {
	number := uint64(uint32(e.config)) // above it, which of the kinds of processors
	base := e.name
	if _, after, ok := strings.Cut(base, "/"); ok { // cpu_core/cycles/
		base, _, _ = strings.Cut(after, "/")
	}
	base, _, _ = strings.Cut(base, ":")
	switch {
	case e.kind == kindSoftware:
		return e.config == cpuClock || e.config == taskClock
	case e.kind == kindHardware:
		return number == cycles || number == refCycles
	}
	return e.kind != kindTracepoint && (base == "cycles" || base == "cpu-cycles" || base == "ref-cycles")
}

// resolve finds the role of samples of an event, at the first one.
func (r *Reader) resolve(e *event) {
	e.resolved = true
	group, name, isNamed := strings.Cut(e.title(), ":")
	switch {
	case e.kind == kindTracepoint:
		e.role = traced
		desc := r.formats[uint16(e.config)]
		if desc == nil || isNamed && e.name != "" && desc.Provider.Name != group {
			if e.name == "" {
				group, name = "tracepoint", fmt.Sprint(e.config)
			}
			desc = &etw.EventDesc{Provider: r.provider(group), ID: uint16(e.config), Name: name, Named: true}
		}
		e.point = universal.NewTracepoint(desc)
	case e.kind == kindSoftware && e.config == minorFaults:
		e.desc = universal.SoftFault
	case e.kind == kindSoftware && e.config == majorFaults:
		e.desc = universal.HardFault
	case e.kind == kindSoftware && e.config == contextSwitches && !e.isFrequency && e.period == 1 && r.tellsSwitches():
		e.role, r.seesBlocking = blocking, true
	case e.isTime() && e.like(r.clockEvent()):
		e.role = timed
	default:
		e.desc = &etw.EventDesc{Provider: r.provider("perf"), Name: e.title(), Named: true, Fields: universal.CPUSample.Fields}
	}
}

// tellsSwitches reports whether the kernel told of switches.
func (r *Reader) tellsSwitches() bool {
	return slices.ContainsFunc(r.events, func(e *event) bool { return e.switches })
}

// like reports whether an event is the same as another, or the same for another kind of
// processors of the machine.
func (e *event) like(x *event) bool {
	return e == x || e.kind == kindHardware && x.kind == kindHardware && uint32(e.config) == uint32(x.config) && e.config != x.config
}

// clockEvent returns the first event whose samples are those of processors.
func (r *Reader) clockEvent() *event {
	for _, e := range r.events {
		if e.isTime() {
			return e
		}
	}
	return nil
}

// interval returns the time between two samples, if perf was asked for one.
func (e *event) interval() time.Duration {
	switch {
	case e == nil || e.period == 0:
		return 0
	case e.isFrequency:
		return time.Second / time.Duration(min(e.period, 1e9))
	case e.kind == kindSoftware:
		return time.Duration(min(e.period, 1<<62))
	}
	return 0
}

// sample takes a sample of an event.
func (r *Reader) sample(e *event, rec *perfevent.Record) {
	if !e.resolved {
		r.resolve(e)
	}
	if rec.UserStack {
		r.stats.Copies++
	}
	switch r.stats.Samples++; e.role {
	case timed:
		r.translator.Take(rec)
	case blocking:
		rec.Kind = perfevent.Blocked
		r.translator.Take(rec)
	case traced:
		r.traced(e, rec)
	default:
		r.translator.Event(e.desc, rec, nil, func(b []byte) []byte { return binary.AppendUvarint(b, max(rec.Period, 1)) })
	}
}

// traced takes a sample of a tracepoint.
func (r *Reader) traced(e *event, rec *perfevent.Record) {
	var turn func([]byte)
	if r.header.BigEndian {
		turn = func(b []byte) { littleEndian(b, e.point.Desc.Fields) }
	}
	if err := r.translator.Traced(e.point, rec, turn); err != nil {
		r.damaged(fmt.Sprintf("an event of %s, which is delivered as the kernel has it: %v", e.title(), err))
	}
}

// littleEndian turns the numbers among fields of a structure around.
func littleEndian(b []byte, fields []etw.FieldDesc) {
	for i := range fields {
		f := &fields[i]
		size := f.Type.Size(etw.Ptr64)
		if f.Type == etw.InDataLoc || f.Type == etw.InRelLoc {
			size = 4
		}
		count := 1
		switch {
		case f.Type == etw.InAnsiString:
			size = int(f.Room)
		case f.Type == etw.InBinary:
			size = int(f.Length.N)
		case f.Count.Kind == etw.SizeConst:
			count = int(f.Count.N)
		}
		if size*count > len(b) {
			return
		}
		for n := range count {
			if f.Type != etw.InAnsiString && f.Type != etw.InBinary {
				turn(b[n*size:][:size])
			}
		}
		b = b[max(size*count, min(int(f.Room), len(b))):]
	}
}

func turn(b []byte) {
	for i, j := 0, len(b)-1; i < j; i, j = i+1, j-1 {
		b[i], b[j] = b[j], b[i]
	}
}

// A host knows the file's facts about processes.
type host struct{ *Reader }

func (h host) Meet(rec *perfevent.Record) {}

// Code asks the caller for the file. One that is of another build tells nothing.
func (h host) Code(_ int32, a *universal.Area) (f *unwind.File) {
	var id elfID
	if json.Unmarshal([]byte(h.Identify(0, a)), &id) != nil {
		return nil
	}
	if file := h.open(Code{a.Path, id.BuildID, a.Device}); file != nil {
		defer file.Close()
		f, _ = unwind.Open(file) // others than ELF files do not tell
	}
	return f
}

// An elfID is the identity of a file that is mapped.
type elfID struct {
	BuildID string `json:"build_id"`
}

func (h host) NamespacePID(pid int32) uint64 { return uint64(uint32(pid)) }

// Identify returns the kind of a file with code, and its build id if the file has it.
func (h host) Identify(_ int32, a *universal.Area) string {
	kind, id := "ELF", h.buildIDs[a.Path]
	if lower := strings.ToLower(a.Path); strings.HasSuffix(lower, ".dll") || strings.HasSuffix(lower, ".exe") {
		kind = "PE"
	}
	if len(a.BuildID) > 0 && !bytes.Equal(a.BuildID, make([]byte, len(a.BuildID))) {
		id = fmt.Sprintf("%x", a.BuildID)
	}
	return fmt.Sprintf(`{"type":%q,"build_id":%q}`, kind, id)
}
