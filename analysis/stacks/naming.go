package stacks

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/etwgen/etwgen/analysis/symbols"
)

// A namer gives names to the stacks of one Samples.
type namer struct {
	p        *Profile
	s        *Samples
	table    *symbols.Table
	options  Options
	frames   *frameSet
	heavy    map[uint64]bool // addresses that have frames of their own, however many there are; nil until that is asked
	others   int32           // the frame of addresses that have none, or 0
	stacks   []meant         // of s
	spans    []span
	spanIDs  map[span]int32
	path     []int32
	pid      int64            // of the stack that is being named
	loc      symbols.Location // of the frame that is
	native   symbols.Native
	pids     []int64         // of all stacks of s
	noStack  int32           // the stack that stands for none, or 0
	pseudos  []int32         // frames of those of s, + 1
	unlined  map[Frame]int32 // those without lines of frames with them
	cut      int32           // the stack that stands for a base that is no code, or 0
	tiers    []string
	marks    map[mark]int16
	known    []mark    // by number
	tags     [][]int32 // by mark and tag of s: the tag in p, + 1
	sameTags bool      // tags of s have the same numbers in p
	threads  []int32   // in p, of those of s
	labels   []LabelSet
	ended    []ended // of ends of s, whose numbers begin with base in p
	base     ID
	met      ID   // how many ends of s have a meaning
	hold     span // in which that of all of them holds
	moved    bool // some have other numbers in p
	// reading is the rule to read stacks by, if there is one, and readStacks the results, + 1,
	// of threads in managed code, outside it, and in managed code that is busy.
	reading    Reading
	readStacks [3][]int32
	inside     []int64 // by stacks of s, samples in managed code less those outside it
}

func newNamer(p *Profile, s *Samples, table *symbols.Table, o Options, frames *frameSet) *namer {
	size := s.tree.size()
	p.tree.reserve(size)
	n := &namer{p: p, s: s, table: table, options: o, stacks: make([]meant, size), hold: always,
		spans: []span{{}, always}, spanIDs: map[span]int32{always: 1}, marks: make(map[mark]int16), pids: make([]int64, size), frames: frames}
	if room := min(size, 1<<15); room > len(frames.recent) {
		frames.recent = make([]recentFrame, room)
	}
	for i := 1; i < size; i++ { // callers have smaller numbers
		if x := &s.tree.nodes[i]; x.parent == 0 {
			n.pids[i] = s.pids[x.key]
		} else {
			n.pids[i] = n.pids[x.parent]
		}
	}
	n.markOf(mark{}) // that of most
	return n
}

// A meant has the meanings of a stack of addresses: as one that called another, whose address is
// where the call returns to, and as the innermost.
type meant struct{ caller, leaf named }

// A named is the stack of frames for a stack of addresses, for a span of time.
type named struct {
	node int32
	span int32 // from 1 on; 0 if there is none yet
	mark int16
}

// An ended is the meaning of an end from a time on, until another: a place in the profile's into.
type ended struct {
	span
	number ID
	mark   int16
	known  bool
}

// all adds the samples of one Samples to the profile, which has their columns, but for those in
// which something else is to stand.
func (n *namer) all() {
	p, s := n.p, n.s
	p.rows.cut = p.rows.cut || s.rows.cut
	p.rows.AddRest(s.rest)
	atomic.StoreUint32(&s.shared, 1)
	n.takeTags()
	n.ended, n.base = make([]ended, len(s.ends)), ID(len(p.into))
	for range s.ends {
		p.into = append(p.into, leftOut) // if no sample has it
	}
	n.moved = n.base > 0
	fits := p.takeAll(s.sums)
	d := new(decoder)
	for k := range s.pieces {
		b := n.block(s.pieces[k].block, d)
		if fits {
			p.pieces = append(p.pieces, piece{block: b})
			p.rows.count += len(b.stack)
			continue
		}
		for _, x := range (&store{pieces: []piece{{block: b}}}).each(nil) {
			p.push(*x)
		}
	}
}

// takeTags gives the profile the threads and the labels of the samples. Tags by their code are
// known only later.
func (n *namer) takeTags() {
	p, s := n.p, n.s
	n.labels, n.threads = make([]LabelSet, len(s.labels)+1), make([]int32, len(s.threads))
	for i, l := range s.labels {
		n.labels[i+1] = p.Label(n.labels[l.before], l.Key, l.Value)
	}
	for i, t := range s.threads {
		n.threads[i] = p.thread(t.process, t.id)
	}
	if n.sameTags = !s.labelCode; !n.sameTags {
		return
	}
	for i := range s.tags {
		n.sameTags = n.tagOf(0, int32(i)) == int32(i) && n.sameTags
	}
}

// block returns the block of the profile for a block of samples.
func (n *namer) block(from *block, d *decoder) *block {
	to := &block{from: from.from, to: from.to, at: from.at.clip(), stack: slices.Clip(from.stack), tag: slices.Clip(from.tag)}
	for v := range to.values {
		to.values[v] = from.values[v].clip()
	}
	if n.meet(from) && !n.moved && n.sameTags {
		return to
	}
	at := from.at.read(d.at[:len(from.stack)])
	ownStacks, ownTags := false, false
	for i, id := range from.stack {
		e := &n.ended[id]
		if at[i] < e.from || at[i] >= e.to {
			n.nameEnd(id, at[i])
		}
		if e.number != id {
			if !ownStacks {
				to.stack, ownStacks = slices.Clone(from.stack), true
			}
			to.stack[i] = e.number
		}
		if n.sameTags {
			continue
		}
		if !ownTags {
			to.tag, ownTags = slices.Clone(from.tag), true
		}
		to.tag[i] = n.tagOf(e.mark, from.tag[i])
	}
	return to
}

// meet names the ends that a block is the first to have, whose numbers go up by one. It reports
// whether the meanings of all ends hold in all of its time, as those of most do.
func (n *namer) meet(b *block) bool {
	for i, id := range b.stack {
		for ; n.met <= id; n.met++ {
			n.nameEnd(n.met, b.at.get(i))
		}
	}
	return n.hold.from <= b.from && b.to < n.hold.to
}

// tagOf returns the tag in the profile of a sample with a tag in s, of code with a mark.
func (n *namer) tagOf(mark int16, i int32) int32 {
	known := &n.tags[mark][i]
	if *known == 0 {
		t := &n.s.tags[i]
		*known = n.p.tag(tag{thread: n.threads[t.thread], labels: n.label(n.labels[t.labels], mark)}) + 1
	}
	return *known - 1
}

// nameEnd gives an end its meaning at a time. If it meant something else before, it has
// another number from then on.
func (n *namer) nameEnd(id ID, time int64) {
	e, was := &n.s.ends[id], &n.ended[id]
	leaf, reads := n.stack(int32(e.stack), time), true
	holds := n.spans[leaf.span]
	if e.pseudo != 0 && e.other != e.stack {
		holds = n.spans[n.stack(int32(e.other), time).span].within(holds)
		leaf = named{}
		leaf.node, reads = n.shared(int32(e.stack), int32(e.other), time)
	}
	stack := leaf.node
	if reads { // callers say nothing of the thread
		stack = n.read(stack, e)
	}
	if e.pseudo != 0 && !(n.s.pseudos[e.pseudo-1] == WaitingName && (n.options.AsSampled || n.p.IsWaiting(ID(stack)))) {
		stack = n.p.tree.child(stack, uint64(n.pseudo(e.pseudo)))
	}
	is := ended{holds, n.base + id, leaf.mark, true}
	switch {
	case !was.known:
		n.p.into[is.number] = ID(stack)
	case n.p.into[was.number] == ID(stack):
		is.number = was.number
	default:
		is.number, n.moved = ID(len(n.p.into)), true
		n.p.into = append(n.p.into, ID(stack))
	}
	*was, n.hold = is, n.hold.within(is.span)
}

// nameLeaf names a stack of addresses as it is at a time.
func (n *namer) nameLeaf(at int32, time int64) {
	if n.s.isTop(at) {
		n.stacks[at].leaf = named{node: n.none(), span: 1}
		return
	}
	n.pid = n.pids[at]
	n.stacks[at].leaf = n.extend(n.callerOf(at, time), at, n.s.tree.nodes[at].key, time)
}

// stack returns the named stack of a stack of addresses at a time.
func (n *namer) stack(at int32, time int64) named {
	if !n.holds(&n.stacks[at].leaf, time) {
		n.nameLeaf(at, time)
	}
	return n.stacks[at].leaf
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

func (n *namer) holds(x *named, time int64) bool {
	if x.span <= 1 {
		return x.span == 1
	}
	s := &n.spans[x.span]
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
		if known = n.stacks[at].caller; n.holds(&known, time) {
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
		n.stacks[at].caller = known
	}
	n.path = path
	return known
}

// extend returns the stack in which caller calls an address.
func (n *namer) extend(caller named, at int32, address uint64, ns int64) named {
	within := max(caller.span, 1)
	if n.s.tree.nodes[at].key == cutKey {
		return named{node: n.p.tree.child(caller.node, uint64(n.p.pseudo(cutName))), span: within}
	}
	s := n.spans[within]
	when := time.Unix(0, ns)
	loc, native := &n.loc, &n.native // not of their own each: others have pointers to them
	*loc, *native = symbols.Location{Address: n.s.tree.nodes[at].key}, symbols.Native{}
	if n.table != nil {
		*loc = n.table.Lookup(n.pid, address, when)
		from, to := loc.Holds()
		s = s.within(span{from.UnixNano(), to.UnixNano()})
		if loc.Kind == symbols.Unknown {
			loc.Address = n.s.tree.nodes[at].key
		}
	}
	if loc.Kind == symbols.Unknown && n.options.Native != nil {
		*native, _ = n.options.Native(n.pid, address, when)
		if native.From != native.To {
			s = s.within(span{native.From, native.To})
		}
	}
	id := within
	if s != n.spans[within] {
		if id = once(n.spanIDs, s, int32(len(n.spans))); int(id) == len(n.spans) {
			n.spans = append(n.spans, s)
		}
	}
	isCaller := address != n.s.tree.nodes[at].key
	if native.NotCode && isCaller && (caller.node == 0 || caller.node == n.cut) {
		return named{node: n.incomplete(), span: id}
	}
	is := named{node: n.called(caller.node, n.frame(loc, native)), span: id}
	if n.s.labelCode && !isCaller {
		is.mark = n.markOf(mark{codeOf(loc, native), n.tier(loc, native)})
	}
	return is
}

// called returns the stack of a frame that caller calls. Those that stand for other addresses
// are one.
func (n *namer) called(caller, frame int32) int32 {
	if caller != 0 && frame == n.others && frame != 0 && n.p.tree.nodes[caller].key == uint64(frame) {
		return caller
	}
	return n.p.tree.child(caller, uint64(frame))
}
