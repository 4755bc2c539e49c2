package frames

import (
	"cmp"
	"strconv"
	"time"

	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/analysis/symbols/native"
	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A CodeMap learns which code there is, from all records of traces.
type CodeMap struct {
	Mux     etw.Mux
	Code    *symbols.Analysis
	machine *system.Machine
	files   *native.Dir    // files of symbols, or nil
	Origins *Origins       // nil where nobody asks where names are from
	learnt  *symbols.Table // the names that records told, once they were asked for
}

// NewCodeMap returns a map that knows nothing yet, with files of symbols.
func NewCodeMap(files *native.Dir, options ...symbols.Option) *CodeMap {
	m := &CodeMap{files: files}
	m.machine, m.Code = system.Of(&m.Mux), symbols.New(&m.Mux, options...)
	return m
}

// Native returns the facts about native code: those of the trace, and of files of symbols.
func (m *CodeMap) Native(pid int64, address uint64, at time.Time) (symbols.Native, bool) {
	n, from, ok := m.find(pid, address, at)
	if m.Origins != nil && ok {
		m.Origins.note(&n, from)
	}
	return n, ok
}

// Recorded returns the facts that the trace has about native code.
func (m *CodeMap) Recorded(pid int64, address uint64, at time.Time) (symbols.Native, bool) {
	n, ok := m.Code.Native(pid, address, at)
	if !ok {
		image, found := m.machine.Native(pid, address, at)
		image.NotCode = n.NotCode
		n, ok = image, found
	}
	return n, ok
}

// find returns also where the name of the function is from.
func (m *CodeMap) find(pid int64, address uint64, at time.Time) (n symbols.Native, from string, ok bool) {
	n, ok = m.Recorded(pid, address, at)
	if n.Function != "" || m.files == nil {
		return n, FromRecorder, ok
	}
	if jitted, found := m.files.Jitted(pid, address); found {
		jitted.Module = cmp.Or(jitted.Module, n.Module)
		return jitted, native.FromPerfMap.String(), true
	}
	if kernel, found := m.files.Kernel(address); found {
		return kernel, native.FromKernel.String(), true
	}
	return n, m.files.Name(&n).String(), ok
}

// A CodeNamer names the frames of single stacks: with the method of .NET and how far
// in there, or the file and how far in there.
type CodeNamer struct {
	*CodeMap
	table *symbols.Table
	known map[codePlace]codeName
}

// A codePlace is an address of a process.
type codePlace struct {
	pid     int64
	address uint64
	leaf    bool
}

// A codeName is the name of an address for a time.
type codeName struct {
	text     string
	from, to int64
}

// NewCodeNamer returns a namer, with files of symbols.
func NewCodeNamer(files *native.Dir) *CodeNamer {
	return &CodeNamer{CodeMap: NewCodeMap(files), known: make(map[codePlace]codeName)}
}

// learn takes a record of the pass that comes before names are asked for.
func (n *CodeNamer) learn(r *etw.Record) error { return n.Mux.Dispatch(r) }

// done says that all records were learnt from.
func (n *CodeNamer) done() { n.table = n.Code.Table() }

// maxKnownNames bounds how many names are kept.
const maxKnownNames = 1 << 16

// Append appends the name of a frame of the stack of a record, or its address if it
// has none. The innermost frame is where it ran, others where calls return to.
func (n *CodeNamer) Append(b []byte, r *etw.Record, frame int) []byte {
	place := codePlace{n.processOf(r), r.Stack.At(frame), frame == 0}
	at := nanoseconds(r)
	x, ok := n.known[place]
	if !ok || at < x.from || at >= x.to {
		if len(n.known) >= maxKnownNames {
			clear(n.known)
		}
		x = n.name(place, at)
		n.known[place] = x
	}
	return append(b, x.text...)
}

// processOf returns the process of a record, by its thread if nothing else tells.
func (n *CodeNamer) processOf(r *etw.Record) int64 {
	if r.ProcessID < 0 && r.ThreadID > 0 {
		if t := n.machine.Thread(r.ThreadID); t != nil && t.Process != nil {
			return t.Process.PID
		}
	}
	return r.ProcessID
}

func (n *CodeNamer) name(p codePlace, at int64) codeName {
	address := p.address
	if !p.leaf && address > 0 {
		address-- // the call is before the address to which it returns
	}
	when := time.Unix(0, at)
	loc := n.table.Lookup(p.pid, address, when)
	from, to := loc.Holds()
	x := codeName{from: from.UnixNano(), to: to.UnixNano()}
	if loc.Kind == symbols.Unknown {
		x.from, x.to = at, at+1
		if native, ok := n.Native(p.pid, address, when); ok {
			x.text = native.Text(p.address - address)
		} else {
			x.text = "0x" + strconv.FormatUint(p.address, 16)
		}
		return x
	}
	m := loc.Method()
	offset := loc.Offset()
	if !p.leaf {
		offset++
	}
	x.text = cli.Clean(m.Full()) + "+0x" + strconv.FormatUint(offset, 16)
	if loc.Guess {
		x.text += " (?)"
	}
	return x
}

// nanoseconds returns the time of a record since 1970.
func nanoseconds(r *etw.Record) int64 {
	if r.Clock == nil {
		return r.Timestamp
	}
	return r.Clock.Start.Time().UnixNano() + int64(r.Clock.Elapsed(r.Timestamp))
}

// AppendFrame appends a frame of the stack of a record: its name if there is a namer,
// or else its address.
func AppendFrame(b []byte, n *CodeNamer, r *etw.Record, frame int) []byte {
	if n == nil {
		return show.AppendHex(b, r.Stack.At(frame))
	}
	return n.Append(b, r, frame)
}

// Below returns samples with names: all, or those below code that matches the patterns of
// root.
func (m *CodeMap) Below(root string, samples ...*stacks.Samples) *stacks.Profile {
	if m.learnt == nil {
		m.learnt = m.Code.Table()
	}
	p := stacks.NewProfile(m.learnt, stacks.Options{Names: stacks.QualifiedNames, Native: m.Native}, samples...)
	if match, err := stacks.Match(root); err == nil && root != "" {
		return p.Below(match)
	}
	return p
}

// Forget is for whoever asked for names before all records came: names are looked up anew.
func (m *CodeMap) Forget() { m.learnt = nil }
