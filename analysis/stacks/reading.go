package stacks

import "slices"

// A Reading gives the meaning of the stacks of a sampler that can stop threads in some
// places alone, and stops those that wait as those that run.
type Reading struct {
	// Stops reports whether a frame is where a thread could be stopped, on behalf of whoever
	// called it.
	Stops func(*Frame) bool
	// Waits tells the state of a thread whose stack has these frames, the outermost first, and
	// that is outside managed code or not.
	Waits func(stack []*Frame, outside bool) Wait
	// Own reports whether a frame is managed code of the program.
	Own func(*Frame) bool
}

// A Wait says whether a thread waits.
type Wait uint8

const (
	Runs Wait = iota // or nothing tells
	// Waits is a thread that waits since code of the program made it wait.
	Waits
	// Idles is a thread that waits for something to do.
	Idles
)

// WaitingName is the innermost frame of threads that wait. It is the only one of those that
// are idle.
const WaitingName = "[waiting]"

// SetReading has profiles read the stacks of s as a Reading says, of which they ask for one
// each. Their weight in places where threads were stopped goes to the callers of these, and
// threads that wait are in the frame [WaitingName].
func (s *Samples) SetReading(of func() Reading) { s.reading = of }

// SetOutside says that samples with these labels are of threads outside managed code, where they
// may wait.
func (s *Samples) SetOutside(l LabelSet) { s.outside = l }

// SetUntold gives the labels of samples in managed code, and those that profiles have in place
// of these and of those of SetOutside where the runtime of a process cannot tell them apart.
// That of a process of which tells is true can, whatever a part of its samples says.
func (s *Samples) SetUntold(inside, untold LabelSet, tells func(pid int64) bool) {
	s.inside, s.untold, s.tells = inside, untold, tells
}

// A runtime cannot tell managed code if, of so many samples whose innermost frame is managed
// code of the program, it says so of less than one in a hundred. That of .NET 9 says it of none
// but those that it met on the way in or out.
const (
	enoughOwn = 100
	mostLost  = 100
)

// doubt gives the samples of processes whose runtimes cannot tell managed code other labels.
func (n *namer) doubt(r Reading) {
	if n.s.untold == 0 {
		return
	}
	p := n.p
	own, stacks := make([]bool, len(p.Frames)), make([]uint8, len(p.into)) // 1: it ends in such code
	for i := range p.Frames {
		own[i] = r.Own(&p.Frames[i])
	}
	for i, id := range p.into {
		if id > 0 && own[p.tree.nodes[id].key] {
			stacks[i] = 1
		}
	}
	tags := make([]int, len(p.tags))
	for k := range p.pieces {
		b := p.pieces[k].block
		for i, id := range b.stack {
			tags[b.tag[i]] += int(stacks[id])
		}
	}
	inside, outside := n.labels[n.s.inside], n.labels[n.s.outside]
	type count struct{ own, inside int }
	counts := make(map[int64]count)
	for i := range p.tags {
		t := &p.tags[i]
		c := counts[p.threads[t.thread].process]
		if t.labels == inside {
			c.inside += tags[i]
		}
		if t.labels == inside || t.labels == outside {
			c.own += tags[i]
		}
		counts[p.threads[t.thread].process] = c
	}
	for i := range p.tags {
		t := &p.tags[i]
		c := counts[p.threads[t.thread].process]
		if c.own >= enoughOwn && c.inside*mostLost < c.own && !n.s.tells(p.threads[t.thread].process) && (t.labels == inside || t.labels == outside) {
			t.labels = n.labels[n.s.untold]
		}
	}
}

// Threads are busy where so many more samples are in managed code than outside it. One that waits
// is outside, and met in managed code only as it comes back.
const enoughBusy = 10

// isBusy reports whether threads with a stack of addresses are busy.
func (n *namer) isBusy(stack ID) bool {
	if n.inside == nil {
		n.inside = make([]int64, len(n.stacks))
		for k := range n.s.pieces {
			b := n.s.pieces[k].block
			for i, id := range b.stack {
				if e := &n.s.ends[id]; e.outside {
					n.inside[e.stack] -= b.values[0].get(i)
				} else {
					n.inside[e.stack] += b.values[0].get(i) // 0 of a pause
				}
			}
		}
	}
	return n.inside[stack] >= enoughBusy
}

// read returns the meaning of a stack, which is that of an end.
func (n *namer) read(node int32, of *end) int32 {
	if n.reading.Stops == nil || node == 0 {
		return node
	}
	known, busy := &n.readStacks[0], false
	if of.outside {
		known = &n.readStacks[1]
	} else if busy = n.isBusy(of.stack); busy {
		known = &n.readStacks[2]
	}
	if int(node) >= len(*known) {
		*known = append(*known, make([]int32, n.p.tree.size()-len(*known))...)
	}
	if (*known)[node] == 0 {
		into := n.meaning(node, of.outside, busy) // which may add stacks
		(*known)[node] = into + 1
	}
	return (*known)[node] - 1
}

func (n *namer) meaning(node int32, outside, busy bool) int32 {
	p := n.p
	frame := func(node int32) *Frame { return &p.Frames[p.tree.nodes[node].key] }
	for parent := p.tree.nodes[node].parent; parent != 0 && n.reading.Stops(frame(node)); parent = p.tree.nodes[node].parent {
		node = parent
	}
	var stack []*Frame
	for at := node; at != 0; at = p.tree.nodes[at].parent {
		stack = append(stack, frame(at))
	}
	slices.Reverse(stack)
	switch n.reading.Waits(stack, outside) {
	case Waits:
		if busy { // such as in a loop of Sleep(0)
			return node
		}
		return p.tree.child(node, uint64(p.pseudo(WaitingName)))
	case Idles:
		return p.tree.child(0, uint64(p.pseudo(WaitingName)))
	}
	return node
}

// prune leaves out stacks that no sample has, with their frames: those that were read as
// others.
func (p *Profile) prune() {
	used := make([]bool, p.tree.size())
	for _, id := range p.into {
		used[max(id, 0)] = true
	}
	for n := len(used) - 1; n > 0; n-- { // callers have smaller numbers
		if used[n] {
			used[p.tree.nodes[n].parent] = true
		}
	}
	old, frames := p.tree, p.Frames
	p.tree, p.Frames = tree{}, nil
	into, number := make([]ID, len(used)), make([]int, len(frames)) // numbers + 1
	for n := 1; n < len(old.nodes); n++ {
		x := old.nodes[n]
		if !used[n] {
			continue
		}
		if number[x.key] == 0 {
			p.Frames = append(p.Frames, frames[x.key])
			number[x.key] = len(p.Frames)
		}
		into[n] = ID(p.tree.child(int32(into[x.parent]), uint64(number[x.key]-1)))
	}
	p.become(into)
}

// Waiting returns the sums of the samples of threads that wait.
func (p *Profile) Waiting() []int64 {
	sums, t := make([]int64, len(p.Types)), p.summed()
	for _, id := range t.order {
		if p.IsWaiting(id) {
			addTo(sums, t.of[id].values)
		}
	}
	return sums
}

// IsWaiting reports whether threads with a stack of the profile wait.
func (p *Profile) IsWaiting(id ID) bool {
	return id != 0 && p.Frames[p.tree.nodes[id].key].Waiting
}
