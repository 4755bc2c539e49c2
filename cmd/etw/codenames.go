package main

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/analysis/symbols/native"
	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A codeMap learns which code there is, from all records of traces.
type codeMap struct {
	mux     etw.Mux
	code    *symbols.Analysis
	machine *system.Machine
	files   *native.Dir    // files of symbols, or nil
	origins *origins       // nil where nobody asks where names are from
	learnt  *symbols.Table // what all records told, once that was asked for
}

func newCodeMap(files *native.Dir, options ...symbols.Option) *codeMap {
	m := &codeMap{files: files}
	m.machine, m.code = system.Of(&m.mux), symbols.New(&m.mux, options...)
	return m
}

// native returns what is known of native code: what the trace tells, and files of symbols.
func (m *codeMap) native(pid int64, address uint64, at int64) (symbols.Native, bool) {
	n, from, ok := m.find(pid, address, at)
	if m.origins != nil && ok {
		m.origins.note(&n, from)
	}
	return n, ok
}

// find returns also where the name of the function is from.
func (m *codeMap) find(pid int64, address uint64, at int64) (n symbols.Native, from string, ok bool) {
	n, ok = m.code.Native(pid, address, at)
	if !ok {
		if image, found := m.machine.Native(pid, address, at); found {
			image.NotCode = n.NotCode
			n, ok = image, true
		}
	}
	if n.Function != "" || m.files == nil {
		return n, fromRecorder, ok
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

// A codeNamer names the frames of single stacks: with the method of .NET and how far
// in there, or the file and how far in there.
type codeNamer struct {
	*codeMap
	table *symbols.Table
	known map[codePlace]codeName
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

func newCodeNamer(files *native.Dir) *codeNamer {
	return &codeNamer{codeMap: newCodeMap(files), known: make(map[codePlace]codeName)}
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
		if native, ok := n.native(p.pid, address, at); ok {
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

// A symbolFiles holds the flags that say where files of symbols are.
type symbolFiles struct {
	path string
	none bool
}

func (s *symbolFiles) flag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.path, "symbols", "", "name native code also by the files in this `FOLDER` and those below it: PDB,\nELF and .NET files of the same builds, perf-PID.map and kallsyms")
	cmd.Flags().BoolVar(&s.none, "no-symbols", false, "name native code by the trace alone, not by the libraries of this machine that\nare of the same builds")
	completions(cmd, map[string]cobra.CompletionFunc{"symbols": func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return nil, cobra.ShellCompDirectiveFilterDirs
	}})
}

// open returns the files, or nil if none are to be looked at. A server looks at none but
// those in a folder that it was given.
func (s *symbolFiles) open(cmd *cobra.Command) (*native.Dir, error) {
	if s.none && s.path != "" {
		return nil, usagef("--symbols and --no-symbols: one of them")
	}
	options := []native.Option{native.Demangle(demangled)}
	switch {
	case s.none, s.path == "" && isServed(cmd):
		return nil, nil
	case !isServed(cmd):
		options = append(options, native.Usual(usualPlaces()))
	}
	d, err := native.Open(s.path, options...)
	if err != nil {
		return nil, fmt.Errorf("--symbols: %w", err)
	}
	return d, nil
}

// reportFaults says which files of symbols could not be read.
func reportFaults(cmd *cobra.Command, d *native.Dir) {
	if d == nil {
		return
	}
	for _, err := range d.Faults() {
		report(cmd, err)
	}
}
