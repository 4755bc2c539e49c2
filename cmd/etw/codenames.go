package main

import (
	"strconv"

	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A codeNamer names the frames of single stacks: with the method of .NET and how far
// in there, or the file and how far in there.
type codeNamer struct {
	mux     etw.Mux
	code    *symbols.Analysis
	machine *system.Machine
	table   *symbols.Table
	known   map[codePlace]codeName
}

// A codePlace is an address of a process.
type codePlace struct {
	pid     int64
	address uint64
	leaf    bool
}

// A codeName is what an address is called for a time.
type codeName struct {
	text     string
	from, to int64
}

func newCodeNamer() *codeNamer {
	n := &codeNamer{known: make(map[codePlace]codeName)}
	n.code, n.machine = symbols.New(&n.mux), system.New(&n.mux)
	n.mux.HandleRest(n.machine.Record)
	return n
}

// learn takes a record of the pass that comes before names are asked for.
func (n *codeNamer) learn(r *etw.Record) error { return n.mux.Dispatch(r) }

// done says that all records were learnt from.
func (n *codeNamer) done() { n.table = n.code.Table() }

// maxKnownNames bounds how many names are kept.
const maxKnownNames = 1 << 16

// append appends the name of a frame of the stack of a record, or its address if it
// has none. The innermost frame is where it ran, others where calls return to.
func (n *codeNamer) append(b []byte, r *etw.Record, frame int) []byte {
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
func (n *codeNamer) processOf(r *etw.Record) int64 {
	if r.ProcessID < 0 && r.ThreadID > 0 {
		if t := n.machine.Thread(r.ThreadID); t != nil && t.Process != nil {
			return t.Process.PID
		}
	}
	return r.ProcessID
}

func (n *codeNamer) name(p codePlace, at int64) codeName {
	address := p.address
	if !p.leaf && address > 0 {
		address-- // the call is before the address to which it returns
	}
	loc := n.table.Lookup(p.pid, address, at)
	x := codeName{from: loc.From, to: loc.To}
	if loc.Kind == symbols.Unknown {
		x.from, x.to = at, at+1
		if native, ok := n.machine.Native(p.pid, address, at); ok {
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
	x.text = clean(m.Full()) + "+0x" + strconv.FormatUint(offset, 16)
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

// appendFrame appends a frame of the stack of a record: its name if there is a namer,
// or else its address.
func appendFrame(b []byte, n *codeNamer, r *etw.Record, frame int) []byte {
	if n == nil {
		return appendHex(b, r.Stack.At(frame))
	}
	return n.append(b, r, frame)
}
