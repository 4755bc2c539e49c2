// Package requests answers how long the activities of a .NET program take: requests that
// it serves and makes, connections, look-ups of names, queries. Whatever an EventSource
// tells as a pair of start and stop events is one. Use it for latencies, and for which
// request was slow.
//
// # Events to enable
//
// The sources themselves, such as Microsoft.AspNetCore.Hosting, System.Net.Http or
// Microsoft-Diagnostics-DiagnosticSource, and the keyword 0x80 of
// System.Threading.Tasks.TplEventSource, without which activities have no ids.
//
// Sources that do not need it tell their activities apart by a field: clients of SQL Server
// (Microsoft-AdoNet-SystemData, Microsoft.Data.SqlClient.EventSource), web requests of .NET
// Framework, connections of System.Net.Http, OpenTelemetry-Sdk, and in .etl files IIS,
// ASP.NET and http.sys. An activity that DiagnosticSource passes on when it is over counts
// with the duration that it says.
//
// Such events are found among the records that no other handler of a [etw.Mux] takes.
package requests

import (
	"cmp"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/analysis/activities"
	"github.com/etwgen/etwgen/analysis/asyncs"
	"github.com/etwgen/etwgen/analysis/cpu"
	"github.com/etwgen/etwgen/analysis/internal/actid"
	"github.com/etwgen/etwgen/analysis/internal/dyn"
	"github.com/etwgen/etwgen/analysis/internal/lives"
	"github.com/etwgen/etwgen/analysis/internal/top"
	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/analysis/need"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/window"
	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/etw"
)

// An Analysis follows activities.
type Analysis struct {
	processes lives.Table[state]
	fields    dyn.Reader
	rules     map[*etw.EventDesc]*rule // of the events that traces describe
	moved     etw.Record               // one that is of another process than it says
	ended     func(pid int64, provider, task string, act Activity)
	most      int // activities that are kept of each task
	flow      *activities.Analysis
	asyncs    *asyncs.Analysis
	explain   func(task, endpoint string, act *Activity) bool // or nil
	tells     bool                                            // those that end say where their time went
	named     func(*stacks.Samples) *stacks.Profile           // or nil
	flags     map[int64]*cpu.Flags                            // of the samples of processes
	halts     *halts
	known     spotsOf                                         // the readings of call stacks, or nil
	held      []func()                                        // ends of activities
	holds     int                                             // how many may be held; -1 if there were more
	choose    func(provider, task string, act *Activity) bool // or nil
	part
}

type process = lives.Runtime[state]

type state struct {
	open                            map[etw.GUID]*activity
	spans                           map[string]*activity  // those on that are spans, by their ids
	requests                        map[etw.GUID]etw.GUID // of http.sys, by the activity ids of their events
	began                           map[int64]etw.GUID    // the last request of http.sys on a thread
	tasks                           map[taskKey]*task
	started, stopped, orphans, lost int
	looked                          int // activities, for stops without a start of their own
	withoutID                       int
	why                             why
}

type taskKey struct{ provider, name string }

// A task is the activities of one kind. Times are ticks.
type task struct {
	taskKey
	durations   []float64
	exclusive   int64
	errors      int
	within      int  // of errors, those of activities whose parent failed, too
	told        bool // of any, whether it failed
	live, most  int
	first, last int64
	statuses    map[string]int
	endpoints   map[string]*endpoint
	slowest     top.List[*activity]
	series      measure.Series
	spent       spent
}

// An activity that has begun. Times are ticks.
type activity struct {
	Activity
	task     *task
	parent   *activity
	id       etw.GUID
	begin    int64
	end      int64
	over     bool
	children int       // that are on
	since    int64     // when the first of them began
	covered  int64     // time in which children were on
	failed   []*task   // those of the children that failed
	told     bool      // whether it failed is known
	chosen   bool      // it counts
	live     bool      // it counts among those that are on
	twin     *activity // that is on under the same id, and began before
	address            // of an HTTP request
}

// Needs are the requests of ASP.NET Core and of HttpClient, and the ids of activities.
var Needs = []need.Need{
	{What: "activities", Provider: "System.Threading.Tasks.TplEventSource", Keywords: 0x80, Names: "TasksFlowActivityIds", Level: etw.LevelInformational, IDs: true},
	{What: "requests that ASP.NET Core serves", Provider: hosting, Keywords: need.All, Level: etw.LevelInformational},
	{What: "requests that HttpClient makes", Provider: "System.Net.Http", Keywords: need.All, Level: etw.LevelInformational},
}

// New returns an analysis whose handlers are registered at mux.
func New(mux *etw.Mux) *Analysis {
	defer need.Ask(mux, Needs)()
	a := &Analysis{flags: make(map[int64]*cpu.Flags), most: slowest, flow: activities.Of(mux), asyncs: asyncs.Of(mux), part: part{window: window.Of(mux)}}
	a.halts = newHalts(mux)
	a.processes.Follow(mux)
	mux.HandleRest(a.record)
	cpu.OnSample(mux, func(r *etw.Record, outside bool) { cpu.Note(a.flags, r.ProcessID, outside) })
	return a
}

// OnEnd has do called for each activity when it is over. The Result has only those of
// them that took longest. They say where their time went if Tell was called, too.
func (a *Analysis) OnEnd(do func(pid int64, provider, task string, act Activity)) { a.ended = do }

// Tell has the activities that OnEnd has say where their time went.
func (a *Analysis) Tell() { a.tells = true }

// record takes a record, whatever it is. It returns nil.
func (a *Analysis) record(r *etw.Record) error {
	a.place(r)
	if x := a.rule(r); x != nil {
		a.follow(r, x)
		return nil
	}
	if r.ProviderName == asyncs.Provider {
		a.processes.At(r, 0)
		return nil
	}
	if r.Schema == nil || r.Kind != etw.KindManifest {
		return nil
	}
	switch op := r.Opcode; {
	case op == etw.OpcodeStart && ofEventSource(r):
		a.start(r)
	case op == etw.OpcodeStop && ofEventSource(r):
		a.stop(r)
	case strings.HasSuffix(r.Schema.Name, "Failed"), r.Schema.Name == "UnhandledException":
		if rt := a.processes.At(r, 0); rt.State.open[r.ActivityID] != nil {
			rt.State.open[r.ActivityID].Failed = true
		}
	}
	return nil
}

// rule returns the role of a record for a source of activities without paths, or nil.
func (a *Analysis) rule(r *etw.Record) *rule {
	if r.Schema == nil {
		return ruleOf(r)
	}
	x, ok := a.rules[r.Schema]
	if !ok {
		if len(a.rules) >= maxRules || a.rules == nil {
			a.rules = make(map[*etw.EventDesc]*rule)
		}
		x = ruleOf(r)
		a.rules[r.Schema] = x
	}
	return x
}

// maxRules bounds the descriptions remembered.
const maxRules = 1 << 14

// ofEventSource reports whether an EventSource wrote a record: it has a GUID made of its
// name, or an activity as EventSources make them, whatever GUID it declares.
func ofEventSource(r *etw.Record) bool {
	return hashed(r.Provider) || actid.IsPath(r.ActivityID, r.ProcessID)
}

// hashed reports whether a provider has a GUID that was made of its name, as an
// EventSource has.
func hashed(g etw.GUID) bool { return g[7]>>4 == 5 }

func (a *Analysis) start(r *etw.Record) {
	if r.Provider == insights && !r.RelatedActivityID.IsZero() {
		return
	}
	key, name, span := taskKey{r.ProviderName, actid.TaskName(r.Schema)}, "", ""
	var to address
	if a.fields.Read(r) {
		name, to = a.about()
		if r.ProviderName == diagnosticSource {
			key.name, name, to = a.bridged(key.name)
			span = a.argument("SpanId")
		}
	}
	id := r.ActivityID
	if !actid.IsPath(id, r.ProcessID) {
		if span == "" {
			a.processes.At(r, 0).State.withoutID += a.of(nil)
			return
		}
		id = spanID(span)
	}
	c := a.begin(r, id, key)
	c.Name, c.address = name, to
	a.began(r, c)
	if c.Flow = a.flow.Lookup(r, r.ActivityID); c.Flow != nil {
		c.Flow.Name, c.Flow.AllLate = c.label(), []*int64{&c.task.spent.late}
	}
	if span != "" {
		c.SpanID = span
		a.processes.At(r, 0).State.spans[span] = c
	}
}

// about returns the subject of an activity by its start event: a request to an address, one
// for a path, or else the first field of text.
func (a *Analysis) about() (string, address) {
	f := &a.fields
	if scheme, path := f.Text("scheme"), f.Text("pathAndQuery"); scheme != "" && path != "" {
		host := f.Text("host")
		if port := f.Value("port"); port.Kind() != etw.ValueNone {
			host += ":" + port.String()
		}
		return scheme + "://" + host + path, address{host: host, path: path, client: true}
	}
	if method, path := f.Text("method"), f.Text("path"); method != "" && path != "" {
		return method + " " + path, address{method: method, path: path}
	}
	to := a.placed()
	if field, text := f.FirstText(); field != "" {
		return field + "=" + socketAddress(text), to
	}
	return "", to
}

// begin begins an activity, which is a part of the one that is related to it.
func (a *Analysis) begin(r *etw.Record, id etw.GUID, key taskKey) *activity {
	rt := a.processes.At(r, 0)
	s := &rt.State
	old := s.open[id]
	if old != nil && (old.Flow == nil || old.Flow.Over || old.twins() >= maxTwins || a.flow.Layer(r.ProcessID) != activities.Flow) {
		s.lost += a.of(old)
		s.forget(old)
		a.leave(rt, old)
		old = old.twin
	}
	c := &activity{id: id, begin: rt.Now, parent: s.open[r.RelatedActivityID], twin: old}
	c.task = s.task(key, a.most)
	if p := c.parent; p != nil {
		if p.children == 0 {
			p.since = rt.Now
		}
		p.children++
	}
	s.open[id] = c
	return c
}

// maxTwins bounds how many activities are on under one id.
const maxTwins = 256

// twins returns how many activities are on under the id of one.
func (c *activity) twins() (n int) {
	for ; c != nil; c = c.twin {
		n++
	}
	return n
}

// saw notes that there was something of a task.
func (t *task) saw(now int64) {
	if t.first == 0 && t.last == 0 {
		t.first = now
	}
	t.first, t.last = min(t.first, now), max(t.last, now)
}

// task returns the task with a name.
func (s *state) task(k taskKey, most int) *task {
	if s.open == nil {
		s.open, s.tasks, s.spans = make(map[etw.GUID]*activity), make(map[taskKey]*task), make(map[string]*activity)
	}
	t := s.tasks[k]
	if t == nil {
		t = &task{taskKey: k, slowest: top.List[*activity]{N: most}}
		s.tasks[k] = t
	}
	return t
}

func (a *Analysis) stop(r *etw.Record) {
	rt := a.processes.At(r, 0)
	read, bridged := a.fields.Read(r), r.ProviderName == diagnosticSource
	span := ""
	if read && bridged {
		span = a.argument("SpanId")
	}
	c := rt.State.take(r.ActivityID, span, a.flow.Stopped(), taskKey{r.ProviderName, actid.TaskName(r.Schema)})
	switch {
	case c != nil && span == "" && c.Flow != nil && c.Flow.OneOf:
		rt.State.stopped += a.of(c)
		rt.State.lost += a.of(c)
		rt.State.orphans += a.of(c)
		a.leave(rt, c)
	case c != nil:
		if read {
			a.outcome(c)
		}
		a.finish(rt, r, c)
		rt.State.stopped += a.of(c)
	case bridged && read && a.told(r):
	case r.Provider == insights: // of an activity within another one
	case bridged && span != "", actid.IsPath(r.ActivityID, r.ProcessID):
		rt.State.stopped += a.of(nil)
		rt.State.orphans += a.of(nil)
	}
}

// finish ends an activity that was taken.
func (a *Analysis) finish(rt *process, r *etw.Record, c *activity) {
	parent := c.parent
	if parent != nil {
		c.Parent, c.AfterParent = parent.task.name, parent.over
	}
	a.leave(rt, c)
	a.note(rt, r, c, parent)
	if parent != nil && c.Failed && !parent.over {
		parent.failed = append(parent.failed, c.task)
	}
}

// note adds an activity that is over, and was within a parent or none, to the sums of its task:
// of one that has a part in the window, that.
func (a *Analysis) note(rt *process, r *etw.Record, c, parent *activity) {
	c.Thread = r.ThreadID
	t := c.task
	w := rt.Within(a.window)
	from, to := w.Clip(c.begin, c.end)
	ms, exclusive := rt.MS(to-from), to-from-c.covered
	c.fails()
	a.chooses(r, c, parent)
	if !c.chosen || !w.Meets(c.begin, c.end) {
		return
	}
	t.told = t.told || c.told
	if c.Status != "" {
		if t.statuses == nil {
			t.statuses = make(map[string]int)
		}
		t.statuses[c.Status]++
	}
	if c.Failed {
		t.errors++
		for _, child := range c.failed {
			child.within++
		}
	}
	e := t.reach(c, ms)
	if c.Flow != nil {
		t.spent.add(c.Flow.Causes)
		if e != nil {
			e.spent.add(c.Flow.Causes)
			c.Flow.AllLate = append(c.Flow.AllLate, &e.spent.late)
		}
	}
	if a.explain != nil {
		a.explained(rt, &rt.State.why, c, parent, r.ProcessID, to-from)
	}
	t.durations = append(t.durations, ms)
	t.exclusive += exclusive
	t.saw(from)
	t.saw(to)
	t.series.Add(rt.At(to), ms)
	slow := t.slowest.Wants(ms)
	if slow || a.ended != nil {
		c.StartMS, c.DurationMS, c.ExclusiveMS = rt.At(c.begin), ms, rt.MS(exclusive)
		c.identify(r.ProcessID)
		c.Endpoint = c.place()
	}
	if slow {
		t.slowest.Add(ms, c)
	}
	if a.ended != nil {
		a.over(rt, c)
	}
}

// Result returns the findings so far. It shares no memory that changes with the analysis.
func (a *Analysis) Result() *Result {
	res, at := &Result{Schema: Schema, Processes: []*Process{}}, a.spots()
	for _, rt := range a.processes.All() {
		s := &rt.State
		var async *asyncs.Runtime
		if a.choose == nil {
			async = a.asyncs.Result(rt.PID, rt.Life, func(places []uint64) []string { return a.places(rt, places) })
		}
		w := rt.Within(a.window)
		on, lost := on(rt, w)
		if s.started+s.stopped+s.withoutID == 0 && async == nil && !s.any(on) {
			continue
		}
		out := &Process{PID: rt.PID, Life: rt.Life, Started: s.started, Stopped: s.stopped,
			StopsWithoutStart: s.orphans, LostStops: s.lost + lost, WithoutID: s.withoutID, Tasks: []Task{}}
		for _, t := range s.tasks {
			if out.Open += len(on[t]); len(t.durations)+len(on[t]) > 0 || !a.window.Chosen() && a.choose == nil {
				row := t.result(rt, at)
				t.unended(rt, w, &row, on[t])
				out.Tasks = append(out.Tasks, row)
			}
		}
		order.Sort(out.Tasks, func(a, b Task) int {
			return cmp.Or(cmp.Compare(b.DurationMS.Total, a.DurationMS.Total), cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.Task, b.Task))
		})
		layer := a.flow.Layer(rt.PID)
		out.CausesFrom, out.RuntimeAsync = layer.String(), async
		if ms := float64(a.halts.sums[rt.PID]) / 1e6; ms*manyHalts > rt.MS(rt.Span()) && a.flow.SeesSwitches(rt.PID) {
			out.HaltedMS = ms
		}
		out.NativeUntold = layer != activities.None && !a.tellsNative(rt.PID) && !a.flow.SeesSwitches(rt.PID)
		out.WaitsUntold = layer != activities.None && !a.flow.SeesWaits(rt.PID)
		if why := a.whyNow(rt, w, on); why.durations != nil {
			res.Why = append(res.Why, why.result(rt, at))
		}
		res.Processes = append(res.Processes, out)
	}
	return res
}

func (t *task) result(rt *process, at spotsOf) Task {
	out := Task{Provider: t.provider, Task: t.name, Count: len(t.durations), Errors: failures(t.errors, t.told),
		ErrorsWithin: t.within, Endpoints: t.reached(rt, at),
		DurationMS: measure.Summarize(slices.Clone(t.durations)), ExclusiveMS: rt.MS(t.exclusive), MaxConcurrency: t.most,
		Series: t.series.Clone(), Slowest: []Activity{}}
	out.PerSec = measure.Ratio(measure.Known(1e3*float64(out.Count)), measure.Known(rt.MS(t.last-t.first)))
	out.Statuses = statuses(t.statuses)
	out.Causes, out.CausedBy = t.spent.result(rt, at)
	for _, c := range t.slowest.All() {
		c.tell(rt, at)
		out.Slowest = append(out.Slowest, c.Activity)
	}
	return out
}
