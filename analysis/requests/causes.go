package requests

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/etwgen/etwgen/analysis/activities"
	"github.com/etwgen/etwgen/analysis/internal/actid"
	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/window"
	"github.com/etwgen/etwgen/internal/order"
)

// why is a Why that is being made.
type why struct {
	spent
	durations []float64
	open      int
	slowest   *activity
	took      int64 // by that
}

// Explain has the result say where the time of the activities went that match is true for,
// by task and endpoint, both together, and the path of the slowest one. Those within others of
// them do not count again.
func (a *Analysis) Explain(match func(task, endpoint string, act *Activity) bool) { a.explain = match }

// explained has an activity among those that are explained, if it is asked for: maybe by its id. One
// within another that is asked for is a part of that, as a request of Hosting is one of Kestrel's.
func (a *Analysis) explained(rt *process, to *why, c, parent *activity, pid, took int64) {
	asked := func(c *activity) bool {
		c.identify(pid)
		return a.explain(c.task.provider+"/"+c.task.name, c.endpoint(), &c.Activity)
	}
	if !asked(c) {
		return
	}
	for p := parent; p != nil && !p.over; p = p.parent {
		if asked(p) {
			return
		}
	}
	if to.durations = append(to.durations, rt.MS(took)); !c.over {
		to.open++
		if c.Flow != nil {
			c.Flow.Causes = a.flow.SoFar(c.Flow)
		}
	}
	to.explained(c, took)
}

// whyNow returns the explanation with that of the activities that are not over.
func (a *Analysis) whyNow(rt *process, w window.Window, on map[*task][]*activity) why {
	out := rt.State.why
	if a.explain == nil || len(on) == 0 {
		return out
	}
	out.durations, out.causes = slices.Clone(out.durations), make(map[cause]*weight)
	for k, w := range rt.State.why.causes {
		sum := *w
		out.causes[k] = &sum
	}
	for _, list := range on {
		for _, c := range list {
			from, to := w.Clip(c.begin, rt.End())
			a.explained(rt, &out, c, c.parent, rt.PID, to-from)
		}
	}
	return out
}

// identify gives an activity its id as text.
func (c *activity) identify(pid int64) {
	if c.ID == "" && !c.id.IsZero() {
		c.ID = actid.Text(c.id, pid)
	}
}

// explained adds the causes of an activity, if the trace tells them.
func (w *why) explained(c *activity, took int64) {
	if c.Flow == nil || c.Flow.Causes == nil {
		return
	}
	w.add(c.Flow.Causes)
	c.Flow.AllLate = append(c.Flow.AllLate, &w.late)
	if w.slowest == nil || took > w.took {
		w.slowest, w.took = c, took
	}
}

func (w *why) result(rt *process, at spotsOf) *Why {
	out := &Why{PID: rt.PID, Count: len(w.durations), Open: w.open, Untold: len(w.durations) - w.count, DurationMS: measure.Summarize(slices.Clone(w.durations)),
		Path: []Part{}}
	out.Causes, out.CausedBy = w.spent.result(rt, at)
	if c := w.slowest; c != nil {
		act := c.Activity
		act.StartMS, act.DurationMS, act.Open = rt.At(c.begin), rt.MS(w.took), !c.over
		if act.ID == "" {
			act.ID = actid.Text(c.id, rt.PID)
		}
		out.Slowest, out.Task, out.Path = &act, c.task.name, path(rt, c.Flow.Causes, at)
	}
	return out
}

// spent sums up where the time of activities went. Times are ticks.
type spent struct {
	count          int // of activities of which the trace tells
	parallel, late int64
	causes         map[cause]*weight
}

type cause struct {
	kind       activities.Kind
	name       string
	code, wait stacks.ID
	onTask     bool // it waited for a task, by its call stack
}

// causeOf returns the cause of a part of time, before call stacks have names.
func causeOf(p *activities.Part) cause {
	return cause{kind: p.Kind, name: partName(p), code: p.Code, wait: p.Wait}
}

type weight struct {
	parts      int
	total, max int64
}

// maxCauses bounds how many things are told apart that activities waited for.
const maxCauses = 1000

func (s *spent) add(c *activities.Causes) {
	if c == nil {
		return
	}
	s.count++
	s.parallel += c.Parallel
	if s.causes == nil {
		s.causes = make(map[cause]*weight)
	}
	for i := range c.Path {
		p := &c.Path[i]
		n := p.To - p.From
		put(s.causes, causeOf(p), weight{1, n, n})
	}
}

// put adds to the sums of a cause. Of those for which there is no room one is made.
func put(causes map[cause]*weight, k cause, more weight) {
	w := causes[k]
	if w == nil && len(causes) >= maxCauses {
		k = cause{kind: k.kind, name: "(others)"}
		w = causes[k]
	}
	if w == nil {
		w = new(weight)
		causes[k] = w
	}
	w.parts, w.total, w.max = w.parts+more.parts, w.total+more.total, max(w.max, more.max)
}

// result returns the sums, or nil if the trace tells of no activity, and the causes of the
// time, the longest first.
func (s *spent) result(rt *process, at spotsOf) (*Causes, []Cause) {
	list := []Cause{}
	if s.count == 0 {
		return nil, list
	}
	var by sums
	told := make(map[cause]*weight)
	for k, w := range maps.All(s.causes) {
		k = at.of(k)
		by.add(&k, w.total)
		put(told, k, *w)
	}
	for k, w := range maps.All(told) {
		list = append(list, Cause{k.kind.String(), k.name, k.onTask, w.parts, rt.MS(w.total), rt.MS(w.max)})
	}
	order.Sort(list, func(a, b Cause) int {
		return cmp.Or(cmp.Compare(b.TotalMS, a.TotalMS), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	return causesOf(rt, &by, s.parallel, s.late), list
}

// sums are ticks by kind, and those in which threads waited for tasks.
type sums struct {
	by      [activities.Kinds]int64
	onTasks int64
}

func (s *sums) add(c *cause, n int64) {
	s.by[c.kind] += n
	if c.onTask {
		s.onTasks += n
	}
}

func causesOf(rt *process, of *sums, parallel, late int64) *Causes {
	ms := func(k activities.Kind) float64 { return rt.MS(of.by[k]) }
	return &Causes{RunningMS: ms(activities.Running), GCMS: ms(activities.GC), JITMS: ms(activities.JIT), LockMS: ms(activities.Lock),
		BlockedMS: ms(activities.Blocked), OnTasksMS: rt.MS(of.onTasks), ReadyMS: ms(activities.Ready), QueuedMS: ms(activities.Queued), OthersMS: ms(activities.Others),
		AwaitingMS: ms(activities.Awaiting), UntoldMS: ms(activities.Untold), ParallelMS: rt.MS(parallel), LateMS: rt.MS(late)}
}

// partName returns the name of the awaited task, or who held the lock.
func partName(p *activities.Part) string {
	if p.Kind == activities.Lock && p.Owner != 0 {
		return "held by thread " + strconv.FormatInt(p.Owner, 10)
	}
	return p.Name
}

// tell has an activity say where its time went, if the trace tells.
func (c *activity) tell(rt *process, at spotsOf) {
	if c.Flow == nil || c.Flow.Causes == nil {
		return
	}
	of := c.Flow.Causes
	var by sums
	c.Path = make([]Part, 0, len(of.Path))
	for i := range slices.Backward(of.Path) {
		p := &of.Path[i]
		k := at.of(causeOf(p))
		by.add(&k, p.To-p.From)
		part := Part{StartMS: rt.At(p.From), DurationMS: rt.MS(p.To - p.From), Kind: k.kind.String(), Name: k.name, Thread: p.Thread}
		if k.kind == activities.Running || k.kind == activities.Ready {
			part.Code = p.Code
		}
		c.Path = append(c.Path, part)
	}
	c.Causes = causesOf(rt, &by, of.Parallel, c.Flow.Late)
}

// path returns the parts of the time of an activity, the first one first. Code that ran on a
// thread, was compiled there, stopped for collections and had no processor is one part.
func path(rt *process, c *activities.Causes, at spotsOf) []Part {
	list := make([]Part, 0, len(c.Path))
	var by [activities.Kinds]int64 // of the last part, if that is of code that ran
	for i := range slices.Backward(c.Path) {
		p := &c.Path[i]
		c := at.of(causeOf(p))
		k := c.kind
		if k > activities.JIT && k != activities.Ready {
			by = [activities.Kinds]int64{}
			list = append(list, Part{StartMS: rt.At(p.From), DurationMS: rt.MS(p.To - p.From), Kind: k.String(), Name: c.name, Thread: p.Thread})
			continue
		}
		if n := len(list); n == 0 || list[n-1].Kind != activities.Running.String() || list[n-1].Thread != p.Thread {
			by = [activities.Kinds]int64{}
			list = append(list, Part{StartMS: rt.At(p.From), Kind: activities.Running.String(), Thread: p.Thread})
		}
		by[k] += p.To - p.From
		last := &list[len(list)-1]
		last.DurationMS, last.Name = rt.MS(by[activities.Running]+by[activities.GC]+by[activities.JIT]+by[activities.Ready]), ofIt(rt, by[:])
	}
	return list
}

// ofIt says how much of the running time was no code of the program.
func ofIt(rt *process, by []int64) string {
	var list []string
	for _, k := range []activities.Kind{activities.JIT, activities.GC, activities.Ready} {
		if by[k] > 0 {
			list = append(list, fmt.Sprintf("%.3f ms %s", rt.MS(by[k]), k))
		}
	}
	if list == nil {
		return ""
	}
	return "of it " + strings.Join(list, ", ")
}
