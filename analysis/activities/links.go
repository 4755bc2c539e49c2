package activities

// links are an activity's place in the tree of those that are on, and the threads that work
// for it: lists from which each member can leave at once, however long they are.
type links struct {
	child          *Activity // the first of those that are on, or have parts that are
	next, previous *Activity // parts of the same parent
	worker         *thread   // the first that works for it
}

func (x *Activity) link(parent *Activity) {
	x.Parent = parent
	x.next, x.previous = parent.child, nil
	if x.next != nil {
		x.next.previous = x
	}
	parent.child = x
}

// unlink takes an activity out of its parent's parts, unless it has parts that are on. It
// keeps its parent.
func (x *Activity) unlink() {
	for parent := x.Parent; parent != nil && x.child == nil; x, parent = parent, parent.Parent {
		if x.previous == nil && parent.child != x {
			return // it is out already
		}
		if x.previous != nil {
			x.previous.next = x.next
		} else {
			parent.child = x.next
		}
		if x.next != nil {
			x.next.previous = x.previous
		}
		x.next, x.previous = nil, nil
		if !parent.Over {
			return
		}
	}
}

// join has a thread work for an activity.
func (t *thread) join(x *Activity) {
	t.cur = x
	if x == nil {
		return
	}
	t.next, t.previous = x.worker, nil
	if t.next != nil {
		t.next.previous = t
	}
	x.worker = t
}

// leave has a thread work for nobody.
func (t *thread) leave() {
	if t.cur == nil {
		return
	}
	if t.previous != nil {
		t.previous.next = t.next
	} else {
		t.cur.worker = t.next
	}
	if t.next != nil {
		t.next.previous = t.previous
	}
	t.cur, t.next, t.previous = nil, nil, nil
}

// gather calls do for an activity and for its parts that are on.
func (x *Activity) gather(do func(*Activity)) {
	do(x)
	for c := x.child; c != nil; c = c.next {
		c.gather(do)
	}
}
