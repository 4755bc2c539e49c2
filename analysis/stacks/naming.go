package stacks

import (
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/etwgen/etwgen/analysis/symbols"
)

// A namer gives names to the stacks of one Samples.
type namer struct {
	p        *Profile
	s        *Samples
	table    *symbols.Table
	options  Options
	frames   map[frameKey]int32
	nameless map[uint64]int32 // by address
	heavy    map[uint64]bool  // addresses that have frames of their own, however many there are
	others   int32            // the frame of addresses that have none, or 0
	// callers and leaves have what the stacks of s mean: as those who called others,
	// whose addresses are where calls return to, and as the innermost.
	callers, leaves []named
	spans           []span
	spanIDs         map[span]int32
	path            []int32
	pid             int64   // of the stack that is being named
	noStack         int32   // the stack that stands for none, or 0
	pseudos         []int32 // frames of those of s, + 1
	cut             int32   // the stack that stands for a base that is no code, or 0
	tiers           []string
	// reading is what the stacks are read by, if they are, and readStacks what came of it.
	reading    Reading
	readStacks map[readStack]int32
}

// A frameKey identifies a frame while frames are made.
type frameKey struct {
	id    symbols.ID
	guess bool
	file  string
	line  int
	// module and function are those of native code. All of a module of which no
	// functions are known is one frame.
	module, function string
	tier             string // of a method, where tiers are kept apart
}

// A named is the stack of frames for a stack of addresses, for a span of time.
type named struct {
	node int32
	span int32 // from 1 on; 0 if there is none yet
	code code
	tier uint8 // the number of one of the namer's tiers, + 1
}

// A span is a span of time, from included and to excluded.
type span struct{ from, to int64 }

// all adds the samples of one Samples to the profile.
func (n *namer) all() {
	p := n.p
	p.rows.rows = slices.Grow(p.rows.rows, len(n.s.rows.rows))
	p.rows.cut = p.rows.cut || n.s.rows.cut
	p.rows.addRest(n.s.rest)
	labels := make([]LabelSet, len(n.s.labels)+1)
	for i, l := range n.s.labels {
		labels[i+1] = p.Label(labels[l.before], l.Key, l.Value)
	}
	threads := make([]int32, len(n.s.threads))
	for i, t := range n.s.threads {
		threads[i] = p.thread(t.process, t.id)
	}
	for _, x := range n.s.rows.rows {
		leaf := n.stack(int32(x.stack), x.at)
		x.stack = ID(n.read(leaf.node, x.outside))
		if x.pseudo != 0 {
			x.stack = ID(p.tree.child(int32(x.stack), uint64(n.pseudo(x.pseudo))))
			x.pseudo = 0
		}
		x.thread, x.labels = threads[x.thread], n.label(labels[x.labels], leaf)
		p.rows.push(x)
	}
}

// stack returns the named stack of a stack of addresses at a time.
func (n *namer) stack(at int32, time int64) named {
	if n.s.isTop(at) {
		return named{node: n.none()}
	}
	if !n.holds(n.leaves[at], time) {
		n.pid = n.s.pid(at)
		n.leaves[at] = n.extend(n.callerOf(at, time), at, n.s.tree.nodes[at].key, time)
	}
	return n.leaves[at]
}

// noStackName is the frame of samples without a stack, which weigh, too.
const noStackName = "[no stack]"

// none returns the stack of samples without one.
func (n *namer) none() int32 {
	if n.noStack == 0 {
		n.noStack = n.p.tree.child(0, uint64(n.p.pseudo(noStackName)))
	}
	return n.noStack
}

// pseudo returns the frame of a number of the samples.
func (n *namer) pseudo(i int16) int32 {
	if n.pseudos == nil {
		n.pseudos = make([]int32, len(n.s.pseudos)+1)
	}
	if n.pseudos[i] == 0 {
		n.pseudos[i] = n.p.pseudo(n.s.pseudos[i-1]) + 1
	}
	return n.pseudos[i] - 1
}

func (n *namer) holds(x named, time int64) bool {
	if x.span == 0 {
		return false
	}
	s := n.spans[x.span]
	return s.from <= time && time < s.to
}

// callerOf returns the named stack of who called a stack. Code of a program that is below
// that of the kernel did not call it, but was interrupted: its address is where it is.
func (n *namer) callerOf(at int32, time int64) named {
	parent := n.s.tree.nodes[at].parent
	if n.entersKernel(at) {
		return n.stack(parent, time)
	}
	return n.caller(parent, time)
}

// entersKernel reports whether a frame is of the kernel, and the one below it is not.
func (n *namer) entersKernel(at int32) bool {
	parent := n.s.tree.nodes[at].parent
	return isKernel(n.s.tree.nodes[at].key) && !n.s.isTop(parent) && !isKernel(n.s.tree.nodes[parent].key)
}

// caller returns the named stack of one that called another.
func (n *namer) caller(at int32, time int64) named {
	path := n.path[:0]
	n.path = nil // while who is below the kernel is named
	var known named
	for !n.s.isTop(at) {
		if known = n.callers[at]; n.holds(known, time) {
			break
		}
		known = named{}
		path = append(path, at)
		if n.entersKernel(at) {
			known = n.stack(n.s.tree.nodes[at].parent, time)
			break
		}
		at = n.s.tree.nodes[at].parent
	}
	for _, at := range slices.Backward(path) {
		// The call is before the address to which it returns.
		known = n.extend(known, at, n.s.tree.nodes[at].key-1, time)
		n.callers[at] = known
	}
	n.path = path
	return known
}

// extend returns what a stack is that caller calls at an address.
func (n *namer) extend(caller named, at int32, address uint64, ns int64) named {
	if n.s.tree.nodes[at].key == cutKey {
		return named{node: n.p.tree.child(caller.node, uint64(n.p.pseudo(cutName))), span: caller.span}
	}
	s := span{math.MinInt64, math.MaxInt64}
	if caller.span != 0 {
		s = n.spans[caller.span]
	}
	when := time.Unix(0, ns)
	loc := symbols.Location{Address: n.s.tree.nodes[at].key}
	if n.table != nil {
		loc = n.table.Lookup(n.pid, address, when)
		from, to := loc.Holds()
		s = span{max(s.from, from.UnixNano()), min(s.to, to.UnixNano())}
		if loc.Kind == symbols.Unknown {
			loc.Address = n.s.tree.nodes[at].key
		}
	}
	var native symbols.Native
	if loc.Kind == symbols.Unknown && n.options.Native != nil {
		native, _ = n.options.Native(n.pid, address, when)
	}
	id, ok := n.spanIDs[s]
	if !ok {
		id = int32(len(n.spans))
		n.spans = append(n.spans, s)
		n.spanIDs[s] = id
	}
	isCaller := address != n.s.tree.nodes[at].key
	if native.NotCode && isCaller && (caller.node == 0 || caller.node == n.cut) {
		return named{node: n.incomplete(), span: id}
	}
	is := named{node: n.called(caller.node, n.frame(&loc, &native)), span: id}
	if n.s.labelCode && !isCaller {
		is.code, is.tier = codeOf(&loc, &native), n.tier(&loc, &native)
	}
	return is
}

// frame returns the number of the frame of a location.
func (n *namer) frame(loc *symbols.Location, native *symbols.Native) int32 {
	if loc.Kind == symbols.Unknown && native.Module == "" && native.Function == "" {
		return n.namelessFrame(loc, native)
	}
	key := frameKey{id: loc.ID(), guess: loc.Guess}
	if native.Module != "" || native.Function != "" {
		key = frameKey{module: native.Module, function: native.Function}
		if n.options.Tiers {
			key.tier = native.Tier
		}
	}
	if n.options.Source != nil && loc.Kind != symbols.Unknown {
		key.file, key.line, _ = n.options.Source(loc)
	}
	i, ok := n.frames[key]
	if !ok {
		i = int32(len(n.p.Frames))
		n.p.Frames = append(n.p.Frames, n.newFrame(loc, native, key))
		n.frames[key] = i
	}
	return i
}

// called returns the stack of a frame that caller calls. Those that stand for other addresses
// are one.
func (n *namer) called(caller, frame int32) int32 {
	if caller != 0 && frame == n.others && frame != 0 && n.p.tree.nodes[caller].key == uint64(frame) {
		return caller
	}
	return n.p.tree.child(caller, uint64(frame))
}

// namelessFrame returns the number of the frame of an address of which nothing is known. There
// can be millions of them, so they have a map with small keys, and of many the heaviest alone
// have frames of their own.
func (n *namer) namelessFrame(loc *symbols.Location, native *symbols.Native) int32 {
	i, ok := n.nameless[loc.Address]
	switch {
	case ok:
		return i
	case len(n.nameless) >= n.s.nameless && n.heavy != nil && !n.heavy[loc.Address]:
		n.p.rest.Addresses++
		n.others = n.p.pseudo(namelessName)
		return n.others
	}
	i = int32(len(n.p.Frames))
	n.p.Frames = append(n.p.Frames, n.newFrame(loc, native, frameKey{}))
	n.nameless[loc.Address] = i
	return i
}

func (n *namer) newFrame(loc *symbols.Location, native *symbols.Native, key frameKey) Frame {
	if m := native.Method(); m.Named() {
		return n.nameMethod(Frame{Kind: symbols.Managed, Full: m.Full(), Module: key.module, Tier: key.tier}, m)
	}
	if key.module != "" || key.function != "" {
		name := native.Full()
		return Frame{Name: name, Full: name, Module: key.module, Kind: symbols.NativeCode, Nameless: key.function == "" || native.Unnamed}
	}
	if loc.Kind == symbols.Unknown {
		name := "0x" + strconv.FormatUint(loc.Address, 16)
		return Frame{Name: name, Full: name, Address: loc.Address}
	}
	m := loc.Method()
	f := Frame{Kind: loc.Kind, Guess: loc.Guess, File: key.file, Line: key.line, Full: m.Full(), Module: m.Module.ILPath}
	if !m.Named() {
		f.Address = m.Address
	}
	if n.options.Tiers {
		f.Tier = m.Tier().String()
	}
	return n.nameMethod(f, m)
}

// nameMethod returns the frame of a method with its name.
func (n *namer) nameMethod(f Frame, m symbols.Method) Frame {
	if !n.options.Raw {
		m = m.Demangled()
	}
	switch n.options.Names {
	case QualifiedNames:
		f.Name = m.Qualified()
	case ShortNames:
		f.Name = m.Short()
	default:
		f.Name = m.Full()
	}
	if f.Tier != "" {
		f.Name += " [" + f.Tier + "]"
	}
	if f.Guess {
		f.Name += " (?)"
	}
	return f
}
