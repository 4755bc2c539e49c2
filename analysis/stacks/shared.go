package stacks

// shared returns the stack of the frames in which a thread was all the time between two stacks:
// those that called from the same place in both, and the one that they called, if it is of the same
// method still. On other lines in both, the line is not known. It reports whether one has no more.
func (n *namer) shared(a, b int32, time int64) (node int32, ends bool) {
	at, nextA, nextB := n.s.tree.common(a, b)
	if !n.s.isTop(at) {
		node = n.caller(at, time).node
	}
	if at == 0 || nextA == 0 || nextB == 0 {
		return node, true
	}
	frameOf := func(next, leaf int32) uint64 {
		if next == leaf {
			return n.p.tree.nodes[n.stack(leaf, time).node].key
		}
		return n.p.tree.nodes[n.caller(next, time).node].key
	}
	x, y := frameOf(nextA, a), frameOf(nextB, b)
	if f, g := n.p.Frames[x].identity(), n.p.Frames[y].identity(); f != g {
		f.File, f.Line, g.File, g.Line = "", 0, "", 0
		if f != g {
			return node, false
		}
		x = uint64(n.lineless(f))
	}
	return n.p.tree.child(node, x), nextA == a || nextB == b
}

// lineless returns the number of a frame without a line.
func (n *namer) lineless(f Frame) int32 {
	if n.unlined == nil {
		n.unlined = make(map[Frame]int32)
	}
	is := once(n.unlined, f, int32(len(n.p.Frames)))
	if int(is) == len(n.p.Frames) {
		n.add(f)
	}
	return is
}
