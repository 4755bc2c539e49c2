package waits

import (
	"cmp"
	"slices"
	"sort"

	"github.com/etwgen/etwgen/analysis/contention"
	"github.com/etwgen/etwgen/analysis/internal/hear"
	"github.com/etwgen/etwgen/analysis/internal/when"
	"github.com/etwgen/etwgen/analysis/need"
	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/analysis/table"
	"github.com/etwgen/etwgen/analysis/threads"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/clr/rundown"
	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Paths follows, from the end of a time backwards, for which other threads one waited: who
// held a lock, as the events of .NET tell, or who made it ready, as those of the kernel do.
// The work of that thread meanwhile is then the cause of the first one's wait.
type Paths struct {
	waits map[threadID][]blocked
	open  map[threadID]blocked
	over  map[int64]int64    // when the rundown of a process began, which ends its session
	told  map[threadID]times // which switches tell of
	last  func() []threads.State
	dark  func() func(from, to int64) bool // whether a thread that waits may have run
	count int
	lost  int

	machine *system.Machine
}

// A threadID is a thread of one of the processes that had an id in turn.
type threadID struct {
	process, id int64
	life        int
}

// Times are the first and the last moment of a time.
type times struct{ first, last int64 }

// A blocked is a time in which a thread could not go on. Times are nanoseconds since 1970.
type blocked struct {
	from, till int64
	readied    int64 // when it could run again, the same as till where nothing tells
	kind       string
	of         string
	by         threadID // that let it go on, if its id is not 0
	waker      threads.Waker
}

// letGo returns who let a thread go on, whose id is 0 if that is not known.
func (b *blocked) letGo() threadID {
	if t := b.waker.Thread(); t != nil {
		return idOf(t)
	}
	return b.by
}

// maxBlocked bounds how many waits are kept.
const maxBlocked = 1 << 20

// NeedsPath are waits for locks with their owners, and for other things.
var NeedsPath = slices.Concat(contention.Needs, Needs)

// NewPaths returns an analysis whose handlers are registered at mux.
func NewPaths(mux *etw.Mux) *Paths {
	defer need.Ask(mux, NeedsPath)()
	p := &Paths{waits: make(map[threadID][]blocked), open: make(map[threadID]blocked), over: make(map[int64]int64), told: make(map[threadID]times), machine: system.Of(mux)}
	hear.On(mux, func(r *etw.Record, _ *rundown.AnyDCEndInit) { p.over[r.ProcessID] = when.Of(r) })
	hear.On(mux, func(r *etw.Record, e *clr.AnyContentionStart) { p.begin(r, "lock", "", int64(e.LockOwnerThreadID)) })
	etw.Handle(mux, func(r *etw.Record, _ *clr.AnyContentionStop) error { return p.end(r) })
	hear.On(mux, func(r *etw.Record, e *clr.AnyWaitHandleWaitStart) {
		if _, ok := p.open[p.id(r, r.ThreadID)]; !ok { // else it is how a lock waits
			p.begin(r, "wait", e.WaitSource.String(), 0)
		}
	})
	etw.Handle(mux, func(r *etw.Record, _ *clr.AnyWaitHandleWaitStop) error {
		if p.open[p.id(r, r.ThreadID)].kind == "wait" {
			return p.end(r)
		}
		return nil
	})
	switched := threads.New(mux)
	switched.SumsOnly()
	switched.OnOff(func(t *system.Thread, from, readied, till int64, by threads.Waker) {
		id := idOf(t)
		p.tell(id, from, till)
		p.keep(id, blocked{from: from, readied: readied, till: till, kind: "off", waker: by})
	})
	switched.OnRun(func(t *system.Thread, from, to int64) { p.tell(idOf(t), from, to) })
	p.last, p.dark = switched.Last, switched.Unseen
	return p
}

// tell takes that switches tell of a time of a thread. Between two of them nobody knows.
func (p *Paths) tell(id threadID, from, to int64) {
	t, ok := p.told[id]
	if !ok {
		t = times{from, to}
	} else if t.last < from {
		p.keep(id, blocked{from: t.last, readied: from, till: from, kind: untold})
	}
	t.last = max(t.last, to)
	p.told[id] = t
}

func idOf(t *system.Thread) threadID {
	id := threadID{process: -1, id: t.TID}
	if t.Process != nil {
		id.process, id.life = t.Process.PID, t.Process.Life()
	}
	return id
}

// id returns a thread of the process of a record.
func (p *Paths) id(r *etw.Record, thread int64) threadID {
	id := threadID{process: r.ProcessID, id: thread}
	if of := p.machine.Process(r.ProcessID); of != nil {
		id.life = of.Life()
	}
	return id
}

// program returns the name of the process of a thread, and of one that had its number in turn with
// others the name for people.
func (p *Paths) program(id threadID) (name, shown string) {
	if list := p.machine.Lives(id.process); id.life < len(list) {
		if name = list[id.life].Name; len(list) > 1 {
			shown = list[id.life].Called()
		}
	}
	return name, shown
}

func (p *Paths) begin(r *etw.Record, kind, of string, owner int64) {
	delete(p.over, r.ProcessID) // another session follows
	b := blocked{from: when.Of(r), kind: kind, of: of}
	if owner != 0 {
		b.by = p.id(r, owner)
	}
	if len(p.open) < maxBlocked {
		p.open[p.id(r, r.ThreadID)] = b
	}
}

func (p *Paths) end(r *etw.Record) error {
	id := p.id(r, r.ThreadID)
	if b, ok := p.open[id]; ok {
		delete(p.open, id)
		b.till = when.Of(r)
		b.readied = b.till
		p.keep(id, b)
	}
	return nil
}

func (p *Paths) keep(id threadID, b blocked) {
	switch {
	case b.from >= b.till:
	case p.count >= maxBlocked:
		p.lost++
	default:
		p.count++
		p.waits[id] = append(p.waits[id], b)
	}
}

// A PathResult is the path of one thread.
type PathResult struct {
	Schema int    `json:"schema"`
	Paths  []Path `json:"paths"`
	Lost   int    `json:"lost,omitempty"` // waits for which there was no room
}

// A Path is the use of a time of a thread, in parts that add up to it.
type Path struct {
	PID        int64      `json:"pid"`
	Thread     int64      `json:"tid"`
	StartMS    float64    `json:"startMs"`
	DurationMS float64    `json:"durationMs"`
	Parts      []PathPart `json:"parts"` // the first one first
	// Process is its name, where several had the id in turn.
	Process string `json:"process,omitempty"`
}

// A PathPart is the work of a thread, or its wait: the one that was asked for, or another
// one for which that waited then.
type PathPart struct {
	StartMS    float64 `json:"startMs"`
	DurationMS float64 `json:"durationMs"`
	// Kind is runs, where switches tell that it does, and untold where no event tells: it ran,
	// slept, waited otherwise, or was not there. It is ready, where no processor
	// took it; and lock, wait or off, where it is not known who let it go on.
	Kind   string `json:"kind"`
	Of     string `json:"of,omitempty"` // the source of a wait, or that it is time of who holds a lock
	PID    int64  `json:"pid"`
	Thread int64  `json:"tid"`
	// Process is its name, where several had the id in turn.
	Process string `json:"process,omitempty"`
}

// Result returns the path of one of the threads that has reports: that which waited longest for
// others that are known, or else longest at all, from one time to another, which are
// nanoseconds since 1970 as origin is, from which times count. A rundown is no part of it.
func (p *Paths) Result(origin, from, to int64, has func(pid int64, program string, tid int64) bool) *PathResult {
	res := &PathResult{Schema: 1, Paths: []Path{}, Lost: p.lost}
	last, unseen := p.last(), p.dark() // the first has all be told
	for _, list := range p.waits {
		for i := range list {
			if b := &list[i]; b.kind == "off" && unseen(b.from, b.till) {
				*b = blocked{from: b.from, readied: b.till, till: b.till, kind: untold}
			}
		}
	}
	best, ok := p.longest(from, to, has)
	if !ok {
		return res
	}
	for _, list := range p.waits {
		order.Sort(list, func(a, b blocked) int { return cmp.Or(cmp.Compare(a.till, b.till), cmp.Compare(b.from, a.from)) })
	}
	w := &pathWalk{Paths: p, origin: origin, tails: make(map[threadID]blocked)}
	for _, x := range last {
		kind := "off"
		switch {
		case x.Runs:
			kind = "runs"
		case unseen(x.From, x.End):
			kind, x.To = untold, x.End
		}
		w.tails[idOf(x.Thread)] = blocked{from: x.From, readied: x.To, till: x.End, kind: kind}
	}
	if over, ok := p.over[best.process]; ok && over > from {
		to = min(to, over)
	}
	for id, b := range p.open {
		if w.tails[id].kind != "runs" {
			b.readied, b.till = to, to
			w.tails[id] = b
		}
	}
	w.back(best, "", from, to, 0)
	slices.Reverse(w.parts)
	_, name := p.program(best)
	res.Paths = append(res.Paths, Path{best.process, best.id, float64(from-origin) / 1e6, float64(to-from) / 1e6, w.parts, name})
	return res
}

// A waited is how long a thread waited, how much of that for a thread that is known, and how long
// switches tell of it.
type waited struct{ known, all, told int64 }

// plus adds the part of a wait in a time.
func (w waited) plus(b *blocked, from, to int64) waited {
	n := max(0, to-max(b.from, from))
	if b.kind == untold {
		return w
	}
	w.all += n
	if b.letGo().id != 0 {
		w.known += n
	}
	return w
}

// longest returns the thread that waited longest in a time, if one did or switches tell of one.
func (p *Paths) longest(from, to int64, has func(pid int64, program string, tid int64) bool) (best threadID, ok bool) {
	sums := make(map[threadID]waited)
	for id, t := range p.told {
		sums[id] = waited{told: max(0, min(t.last, to)-max(t.first, from))}
	}
	for id, list := range p.waits {
		for i := range list {
			sums[id] = sums[id].plus(&list[i], from, min(list[i].till, to))
		}
	}
	for id, b := range p.open { // to the end
		sums[id] = sums[id].plus(&b, from, to)
	}
	var most waited
	for id, sum := range sums {
		more := cmp.Or(cmp.Compare(sum.known, most.known), cmp.Compare(sum.all, most.all), cmp.Compare(sum.told, most.told), cmp.Compare(best.process, id.process), cmp.Compare(best.id, id.id), cmp.Compare(best.life, id.life))
		program, _ := p.program(id)
		if has(id.process, program, id.id) && sum != (waited{}) && (!ok || more > 0) {
			best, most, ok = id, sum, true
		}
	}
	return best, ok
}

// untold is the kind of a time of which no event tells.
const untold = "untold"

// held is said of the time of a thread that another one waits for.
const held = "it holds the lock"

type pathWalk struct {
	*Paths
	origin int64
	tails  map[threadID]blocked // what lasts to the end
	parts  []PathPart           // the last one first
}

// maxHops bounds through how many threads it goes that wait for each other.
const maxHops = 32

// back adds the work of a thread from one time to another.
func (w *pathWalk) back(id threadID, why string, from, to int64, hops int) {
	for to > from {
		b := w.before(id, to)
		if b == nil || b.till <= from {
			w.goes(id, why, from, to)
			return
		}
		if b.till < to {
			w.goes(id, why, b.till, to)
			to = b.till
		}
		begin := max(b.from, from)
		if ready := max(b.readied, begin); ready < to {
			w.add(id, "ready", "", ready, to)
			to = ready
		}
		if by := b.letGo(); by.id != 0 && by != id && hops < maxHops {
			why := ""
			if b.kind == "lock" {
				why = held
			}
			w.back(by, why, begin, to, hops+1)
		} else {
			w.add(id, b.kind, b.of, begin, to)
		}
		to = begin
	}
}

// before returns the wait of a thread that was on before a time, or was the last before, or nil.
func (w *pathWalk) before(id threadID, to int64) *blocked {
	if b, ok := w.tails[id]; ok && b.from < to {
		return &b
	}
	list := w.waits[id]
	i := sort.Search(len(list), func(i int) bool { return list[i].till >= to })
	if i == len(list) || list[i].from >= to {
		i--
	}
	if i < 0 {
		return nil
	}
	return &list[i]
}

// goes adds a time in which no event says that a thread waits: it runs as long as switches tell of it.
func (w *pathWalk) goes(id threadID, why string, from, to int64) {
	t := w.told[id]
	first, last := min(max(t.first, from), to), max(min(t.last, to), from)
	w.add(id, untold, why, last, to)
	w.add(id, "runs", why, first, last)
	w.add(id, untold, why, from, first)
}

func (w *pathWalk) add(id threadID, kind, of string, from, to int64) {
	if from >= to {
		return
	}
	ms := float64(to-from) / 1e6
	start := float64(from-w.origin) / 1e6
	_, name := w.program(id)
	if n := len(w.parts); n > 0 && w.parts[n-1].Kind == kind && w.parts[n-1].Of == of && w.parts[n-1].Thread == id.id && w.parts[n-1].PID == id.process && w.parts[n-1].Process == name {
		w.parts[n-1].StartMS, w.parts[n-1].DurationMS = start, w.parts[n-1].DurationMS+ms
		return
	}
	w.parts = append(w.parts, PathPart{start, ms, kind, of, id.process, id.id, name})
}

// Warnings names the unknown parts of the path.
func (r *PathResult) Warnings() []string {
	if r.Lost == 0 {
		return nil
	}
	return []string{"there were more waits than are kept: parts in which a thread runs may be waits"}
}

func (x *Path) pid() int64 { return x.PID }

// Tables returns the parts.
func (r *PathResult) Tables() []table.View {
	var names []string // of the process of each part
	for i := range r.Paths {
		names = append(names, slices.Repeat([]string{r.Paths[i].Process}, len(r.Paths[i].Parts))...)
	}
	return []table.View{table.Each("part", "The path", table.Refs(r.Paths), (*Path).pid, func(x *Path) []*PathPart { return table.Refs(x.Parts) },
		table.Moment("startMs", func(x *PathPart) float64 { return x.StartMS }),
		table.Amount("durationMs", func(x *PathPart) float64 { return x.DurationMS }),
		table.Text("kind", func(x *PathPart) string { return x.Kind }).About(),
		table.ID("tid", func(x *PathPart) int64 { return x.Thread }).About(),
		table.ThreadName("name", func(x *PathPart) int64 { return x.Thread }).IfAny(),
		table.Text("of", func(x *PathPart) string { return x.Of }).IfAny()).Named(func(row int) string { return names[row] })}
}
