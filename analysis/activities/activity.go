package activities

import (
	"cmp"

	"github.com/etwgen/etwgen/analysis/internal/actid"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/runtime/etw"
)

// An Activity is work with a start and a stop. It may be met before its start, which the
// runtime writes after it has changed for whom the thread works.
type Activity struct {
	Provider, Task string // "" until it has started
	Name           string // that whoever reads the trace gives it
	ID             etw.GUID
	Parent         *Activity
	Begin, End     int64 // ticks of the trace
	Started, Over  bool
	// Implied says that no stop was there: the enclosing activity ended, or another of its
	// kind began.
	Implied bool
	Late    int64    // ticks that threads worked for it after its end
	AllLate []*int64 // to which Late is added as well
	Causes  *Causes
	// OneOf says that others were on under its id at once, and that it was not always told
	// which of them it was: so of its time nothing is told.
	OneOf bool

	twin *Activity // that is on under the same id, and began before

	links
	number uint32 // of those of the process
	depth  int
	pieces []piece // that are over, of it and of children that are over
	states []state
	parts  []part // activities within it that are over
	cut    bool   // there were more of them than are kept
}

// A piece is a time in which a thread worked for an activity. item is the work item it took
// from the queue before, busy the time since it did something else, and await the await
// after which it goes on.
type piece struct {
	thread   int64
	from, to int64
	busy     int64
	item     item
	await    *await
	code     stacks.ID // with which it began
	of       uint32    // the activity, by its number
}

// maxDepth bounds how deep activities nest, maxLive how many there are at a time, and
// maxPieces the pieces of each.
const (
	maxDepth  = 64
	maxLive   = 1 << 16
	maxPieces = 1 << 14
)

// meet returns the activity with an id that a thread works for now, or nil. The program may
// not have told of its start yet.
func (p *process) meet(id etw.GUID, t *thread) *Activity {
	if id.IsZero() {
		return nil
	}
	// Ids are used again. The work goes on for whom it was queued or awaited.
	for _, x := range [...]*Activity{t.hint, t.before} {
		if x != nil && x.ID == id && !x.Over {
			return x
		}
	}
	x := p.live[id]
	if x == nil {
		return p.add(id)
	}
	if x.twin != nil { // what they are parts of is sure
		t.unsure = x
		return x.Parent.on()
	}
	return x
}

// follow has an activity be on together with others under its id.
func (x *Activity) follow(old *Activity) {
	x.twin = old
	n := 1
	for last := x; last.twin != nil; last = last.twin {
		if n++; n > maxTwins {
			last.twin = nil
			break
		}
	}
}

// unsettle notes that it is not told which of the activities that are on under an id it was.
func (x *Activity) unsettle() {
	for ; x != nil; x = x.twin {
		x.OneOf = true
	}
}

// maxTwins bounds how many activities are on under one id.
const maxTwins = 256

func (p *process) add(id etw.GUID) *Activity {
	if len(p.live) >= maxLive {
		return nil
	}
	if p.live == nil {
		p.live = make(map[etw.GUID]*Activity)
	}
	p.activities++
	x := &Activity{ID: id, number: p.activities}
	p.live[id] = x
	return x
}

// start takes the start of an activity.
func (a *Analysis) start(rt *runtime, t *thread, r *etw.Record) {
	p := &rt.State
	x := p.live[r.ActivityID]
	if x == nil || x.Started {
		if x = p.begin(rt, t, r.ActivityID); x == nil {
			return
		}
	}
	x.Started, x.Begin, x.Provider, x.Task = true, rt.Now, r.ProviderName, actid.TaskName(r.Schema)
	put(&p.begun, varietyOf(r), true)
	x.below(p.above(r))
	p.replace(rt.Now, t, x)
	if p.layer() == Tasks {
		a.work(rt, t, x)
	}
}

// begin makes an activity under an id that another one has, or that nobody has met. If the
// thread began to work for that id just now, it works for this one.
func (p *process) begin(rt *runtime, t *thread, id etw.GUID) *Activity {
	old := p.live[id]
	delete(p.live, id)
	x := p.add(id)
	if x == nil || old == nil {
		return x
	}
	if p.flow { // else nothing tells them apart
		x.follow(old)
	}
	if (t.cur == old || t.unsure == old) && rt.Now-t.since < rt.Ticks(justNow) {
		t.leave()
		t.join(x)
		t.unsure = nil
	}
	return x
}

// above returns the activity that one is started in: the related one, or else the nearest
// that is on and that its id is below.
func (p *process) above(r *etw.Record) *Activity {
	if !r.RelatedActivityID.IsZero() {
		return p.live[r.RelatedActivityID]
	}
	for id := range actid.Parents(r.ActivityID, r.ProcessID) {
		if x := p.live[id]; x != nil && x.Started {
			return x
		}
	}
	return nil
}

func (x *Activity) below(parent *Activity) {
	if parent == nil || parent == x || parent.Over || parent.depth >= maxDepth || parent.isIn(x) {
		return
	}
	x.depth = parent.depth + 1
	x.link(parent)
}

// isIn reports whether x is other or a part of it.
func (x *Activity) isIn(other *Activity) bool {
	for ; x != nil; x = x.Parent {
		if x == other {
			return true
		}
	}
	return false
}

// Within reports whether match is true for x or for one that it is a part of.
func (x *Activity) Within(match func(*Activity) bool) bool {
	for ; x != nil; x = x.Parent {
		if match(x) {
			return true
		}
	}
	return false
}

// replace ends an activity of the same kind that the thread worked for, and which x is not
// below, though it began within it: the runtime stops that without an event.
func (p *process) replace(now int64, t *thread, x *Activity) {
	for old := t.before; old != nil && old != x; old = old.Parent {
		if old.Over || !old.Started || old.Task != x.Task || old.Provider != x.Provider {
			continue
		}
		for id := range actid.Parents(x.ID, 0) {
			if samePath(id, old.ID) {
				return
			}
		}
		if x.Parent == old {
			x.unlink()
			x.Parent, x.depth = nil, 0
			x.below(old.Parent)
		}
		p.endImplied(now, t.before, old)
		return
	}
}

// samePath compares ids without their check sums.
func samePath(a, b etw.GUID) bool { return [12]byte(a[:12]) == [12]byte(b[:12]) }

// endImplied ends the activities from x up to last, without an event.
func (p *process) endImplied(now int64, x, last *Activity) {
	for ; x != nil; x = x.Parent {
		if !x.Over && x.Started {
			x.Implied = true
			p.end(now, x, nil)
		}
		if x == last {
			return
		}
	}
}

// isOther reports whether a stop is not that of an activity: it is of one within it that began again within
// itself, for which the runtime stopped it.
func (p *process) isOther(x *Activity, r *etw.Record) bool {
	k := varietyOf(r)
	return x != nil && x.Started && (x.Provider != k.provider || x.Task != k.task) && p.begun[k]
}

// stop takes the stop of an activity.
func (a *Analysis) stop(rt *runtime, t *thread, r *etw.Record) {
	p := &rt.State
	x := p.live[r.ActivityID]
	switch b := t.before; {
	case b != nil && b.ID == r.ActivityID && !b.Over:
		x = b
	case t.cur != nil && t.cur.ID == r.ActivityID && !t.cur.Over:
		x = t.cur
	case x != nil && x.twin != nil:
		x.unsettle()
		for x.twin != nil { // whichever it was
			x = x.twin
		}
	}
	if p.isOther(x, r) {
		x = nil
	}
	a.stopped = x
	if x == nil || x.Over {
		return
	}
	// The runtime says a moment before for whom the thread works next.
	if from := t.before; from != nil && t.cur != from && rt.Now-t.since < rt.Ticks(justNow) && from.isIn(x) {
		a.prolong(rt, t)
		if from != x { // what this flow began within x, and did not stop, stops with it
			p.endImplied(rt.Now, from, from.topBelow(x))
		}
	}
	p.end(rt.Now, x, t)
	if p.layer() == Tasks {
		a.work(rt, t, x.on())
	}
}

// topBelow returns the part of other that x is in.
func (x *Activity) topBelow(other *Activity) *Activity {
	for x.Parent != other {
		x = x.Parent
	}
	return x
}

// on returns the nearest activity that x is a part of and that is not over, or nil.
func (x *Activity) on() *Activity {
	for ; x != nil; x = x.Parent {
		if !x.Over {
			return x
		}
	}
	return nil
}

// end ends an activity, at a stop that a thread wrote, or without one.
func (p *process) end(now int64, x *Activity, t *thread) {
	x.Over, x.End = true, now
	p.bury(x)
	if x.Started && !x.OneOf && p.layer() != None && !x.isContainer() {
		x.Causes = p.causes(x, t, nil)
	}
	if up := x.on(); up != nil {
		up.keep(x.pieces, x.states)
	}
	if up := x.Parent; up != nil && !up.Over && !up.isContainer() && x.Started && len(up.parts)+len(x.parts) < maxPieces {
		up.parts = append(append(up.parts, x.parts...), x.part(now))
	}
	x.pieces, x.states, x.parts = nil, nil, nil
	x.unlink()
}

// part returns an activity as that within another one.
func (x *Activity) part(now int64) part {
	return part{x.Begin, now, cmp.Or(x.Name, x.Task), x.Name != "", x.number, x.Parent.number}
}

// bury takes an activity out of those that are on under its id.
func (p *process) bury(x *Activity) {
	switch at := p.live[x.ID]; {
	case at == x && x.twin != nil:
		p.live[x.ID] = x.twin
	case at == x:
		delete(p.live, x.ID)
	default:
		for ; at != nil; at = at.twin {
			if at.twin == x {
				at.twin = x.twin
				break
			}
		}
	}
	x.twin = nil
}

// keep adds an activity that is over, as far as there is room.
func (x *Activity) keep(pieces []piece, states []state) {
	if x.isContainer() {
		return
	}
	if len(x.pieces)+len(pieces) > maxPieces || len(x.states)+len(states) > maxPieces {
		x.cut, x.pieces, x.states = true, nil, nil
	}
	if !x.cut {
		x.pieces, x.states = append(x.pieces, pieces...), append(x.states, states...)
	}
}

// isContainer reports whether x lasts as long as a connection or the program, so that no
// time of its parts is its own.
func (x *Activity) isContainer() bool { return x.Task == "Connection" || x.Task == "Host" }
