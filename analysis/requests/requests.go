// Package requests answers how long the activities of a .NET program take: requests
// that it serves and makes, connections, look-ups of names, queries, and whatever
// else an EventSource tells as a pair of start and stop events.
//
// # What must be switched on
//
// The sources themselves, such as Microsoft.AspNetCore.Hosting, System.Net.Http or
// Microsoft-Diagnostics-DiagnosticSource, and the keyword 0x80 of
// System.Threading.Tasks.TplEventSource, without which activities have no ids.
//
// Such events are described by the trace, so that no handler of a [etw.Mux] takes
// them: give [Analysis.Record] all records, or those that are left over:
//
//	c := requests.New()
//	mux.HandleRest(c.Record)
package requests

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strconv"
	"strings"

	"github.com/etwgen/etwgen/analysis/internal/dyn"
	"github.com/etwgen/etwgen/analysis/internal/lives"
	"github.com/etwgen/etwgen/analysis/internal/top"
	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/runtime/etw"
)

// An Analysis follows activities.
type Analysis struct {
	processes lives.Table[state]
	fields    dyn.Reader
}

type process = lives.Runtime[state]

type state struct {
	open                            map[etw.GUID]*activity
	tasks                           map[taskKey]*task
	started, stopped, orphans, lost int
	withoutID                       int
}

type taskKey struct{ provider, name string }

// A task is the activities of one kind. Times are ticks.
type task struct {
	taskKey
	durations   []float64
	exclusive   int64
	errors      int
	live, most  int
	first, last int64
	statuses    map[string]int
	slowest     top.List[*activity]
	series      measure.Series
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
	children int   // that are on
	since    int64 // when the first of them began
	covered  int64 // time in which children were on
}

const diagnosticSource = "Microsoft-Diagnostics-DiagnosticSource"

// New returns an analysis.
func New() *Analysis { return &Analysis{} }

// Record takes a record, whatever it is. It returns nil.
func (a *Analysis) Record(r *etw.Record) error {
	if r.Schema == nil || r.Kind != etw.KindManifest {
		return nil
	}
	switch op := opcode(r); {
	case sqlClients[r.ProviderName] && r.Schema.Name == "BeginExecute":
		a.query(r, a.begin)
	case sqlClients[r.ProviderName] && r.Schema.Name == "EndExecute":
		a.query(r, a.end)
	case op == etw.OpcodeStart && hashed(r.Provider):
		a.start(r)
	case op == etw.OpcodeStop && hashed(r.Provider):
		a.stop(r)
	case strings.HasSuffix(r.Schema.Name, "Failed"), r.Schema.Name == "UnhandledException":
		if rt := a.processes.At(r, 0); rt.State.open[r.ActivityID] != nil {
			rt.State.open[r.ActivityID].Failed = true
		}
	}
	return nil
}

// hashed reports whether a provider has a GUID that was made of its name, as an
// EventSource has.
func hashed(g etw.GUID) bool { return g[7]>>4 == 5 }

// opcode returns that of the record. OpenTelemetry tells starts and stops by the
// names of its events alone.
func opcode(r *etw.Record) etw.Opcode {
	if r.Opcode == etw.OpcodeInfo && r.ProviderName == "OpenTelemetry-Sdk" {
		switch r.Schema.Name {
		case "ActivityStarted":
			return etw.OpcodeStart
		case "ActivityStopped":
			return etw.OpcodeStop
		}
	}
	return r.Opcode
}

// taskName is what start and stop have in common: the name of the task, or that of
// the event without its end.
func taskName(d *etw.EventDesc) string {
	if d.TaskName != "" {
		return d.TaskName
	}
	if d.Name == "BeginExecute" {
		return "Execute"
	}
	name := strings.TrimSuffix(strings.TrimSuffix(d.Name, "Start"), "Stop")
	return cmp.Or(strings.TrimSuffix(name, "/"), d.Name)
}

// sqlClients are the sources of the clients of SQL Server, whose events have no
// activities but numbers of commands.
var sqlClients = map[string]bool{"Microsoft-AdoNet-SystemData": true, "Microsoft.Data.SqlClient.EventSource": true}

// query takes the begin or the end of a command.
func (a *Analysis) query(r *etw.Record, fn func(*etw.Record, etw.GUID)) {
	if !a.fields.Read(r) {
		return
	}
	n, ok := a.fields.Float("objectId").Get()
	if !ok {
		return
	}
	id := etw.GUID{0: noPath}
	binary.LittleEndian.PutUint32(id[12:], uint32(int64(n)))
	fn(r, id)
}

// noPath begins the ids that commands are given here, of their numbers.
const noPath = 0xff

// idText returns the id of an activity for people.
func idText(id etw.GUID, pid int64) string {
	if id[0] == noPath {
		return "command " + strconv.FormatUint(uint64(binary.LittleEndian.Uint32(id[12:])), 10)
	}
	return path(id, pid)
}

func (a *Analysis) start(r *etw.Record) {
	if !isPath(r.ActivityID, r.ProcessID) {
		a.processes.At(r, 0).State.withoutID++
		return
	}
	a.begin(r, r.ActivityID)
}

// begin begins an activity.
func (a *Analysis) begin(r *etw.Record, id etw.GUID) {
	rt := a.processes.At(r, 0)
	s := &rt.State
	s.started++
	if old := s.open[id]; old != nil {
		s.lost++
		old.leave(rt.Now)
	}
	c := &activity{id: id, begin: rt.Now, parent: s.open[r.RelatedActivityID]}
	name := taskName(r.Schema)
	if a.fields.Read(r) {
		if field, text := a.fields.FirstText(); field != "" {
			c.Name = field + "=" + text
		}
		if text := a.fields.Text("commandText"); text != "" {
			c.Name = shortened(text)
		}
		if r.ProviderName == diagnosticSource { // one event for all activities
			name = cmp.Or(a.fields.Text("ActivityName"), a.fields.Text("EventName"), name)
		}
	}
	c.task = s.task(taskKey{r.ProviderName, name})
	t := c.task
	if p := c.parent; p != nil {
		if p.children == 0 {
			p.since = rt.Now
		}
		p.children++
	}
	t.live++
	t.most = max(t.most, t.live)
	if t.first == 0 && t.last == 0 {
		t.first = rt.Now
	}
	t.last = rt.Now
	s.open[id] = c
}

// task returns the task with a name.
func (s *state) task(k taskKey) *task {
	if s.open == nil {
		s.open, s.tasks = make(map[etw.GUID]*activity), make(map[taskKey]*task)
	}
	t := s.tasks[k]
	if t == nil {
		t = &task{taskKey: k, slowest: top.List[*activity]{N: 20}}
		s.tasks[k] = t
	}
	return t
}

// leave takes an activity out of those that are on.
func (c *activity) leave(now int64) {
	c.over, c.end = true, now
	c.task.live--
	if c.children > 0 {
		c.covered += now - c.since
	}
	if p := c.parent; p != nil && !p.over {
		p.children--
		if p.children == 0 {
			p.covered += now - p.since
		}
	}
	c.parent = nil
}

// maxCommand is how much is shown of the text of a command.
const maxCommand = 50

func shortened(text string) string {
	if runes := []rune(text); len(runes) > maxCommand {
		return string(runes[:maxCommand]) + "…"
	}
	return text
}

func (a *Analysis) stop(r *etw.Record) {
	if isPath(r.ActivityID, r.ProcessID) {
		a.end(r, r.ActivityID)
	}
}

// end ends an activity.
func (a *Analysis) end(r *etw.Record, id etw.GUID) {
	rt := a.processes.At(r, 0)
	s := &rt.State
	s.stopped++
	c := s.open[id]
	if c == nil {
		s.orphans++
		return
	}
	delete(s.open, id)
	if c.parent != nil {
		c.Parent = c.parent.task.name
	}
	c.leave(rt.Now)
	c.Thread = r.ThreadID
	if a.fields.Read(r) {
		a.outcome(c)
	}
	t := c.task
	if c.Status != "" {
		if t.statuses == nil {
			t.statuses = make(map[string]int)
		}
		t.statuses[c.Status]++
	}
	if n, err := strconv.Atoi(c.Status); c.Failed || err == nil && (n >= 500 || n < 0) {
		c.Failed = true
		t.errors++
	}
	ms := rt.MS(c.end - c.begin)
	t.durations = append(t.durations, ms)
	t.exclusive += c.end - c.begin - c.covered
	t.last = rt.Now
	t.series.Add(rt.At(rt.Now), ms)
	if t.slowest.Wants(ms) {
		c.StartMS, c.DurationMS, c.ExclusiveMS = rt.At(c.begin), ms, rt.MS(c.end-c.begin-c.covered)
		c.ID = idText(c.id, r.ProcessID)
		t.slowest.Add(ms, c)
	}
}

// outcome reads how an activity ended: of an HTTP client, of a DiagnosticSource, or
// of a span.
func (a *Analysis) outcome(c *activity) {
	if n, ok := a.fields.Float("statusCode").Get(); ok {
		c.Status = strconv.FormatFloat(n, 'f', -1, 64)
	}
	if state, ok := a.fields.Float("compositeState").Get(); ok && int(state)&1 == 0 {
		c.Failed = true
		c.Status = a.fields.Value("sqlExceptionNumber").String()
	}
	for pair := range a.fields.Value("Arguments").Elements() {
		value := dyn.Member(pair, "Value").Text()
		switch dyn.Member(pair, "Key").Text() {
		case "Response.StatusCode", "StatusCode", "http.response.status_code":
			c.Status = value
		case "TraceId":
			c.TraceID = value
		case "SpanId":
			c.SpanID = value
		case "ParentSpanId":
			c.ParentSpanID = value
		case "Tags", "TagObjects":
			c.tags(value)
		case "Status":
			c.Failed = c.Failed || value == "Error"
		}
	}
}

// tags reads the status from tags, such as [http.response.status_code, 200], or
// http.response.status_code:200, network.protocol.version:1.1.
func (c *activity) tags(text string) {
	_, rest, ok := strings.Cut(text, "http.response.status_code")
	if !ok {
		return
	}
	rest = strings.TrimLeft(rest, ":, ")
	if end := strings.IndexAny(rest, ",]"); end >= 0 {
		rest = rest[:end]
	}
	c.Status = rest
}

// Result returns what is known so far. It shares no memory that changes with the
// analysis.
func (a *Analysis) Result() *Result {
	res := &Result{Schema: Schema, Processes: []*Process{}}
	for _, rt := range a.processes.All() {
		s := &rt.State
		if s.started+s.stopped+s.withoutID == 0 {
			continue
		}
		out := &Process{PID: rt.PID, Life: rt.Life, Started: s.started, Stopped: s.stopped,
			StopsWithoutStart: s.orphans, Open: len(s.open), LostStops: s.lost, WithoutID: s.withoutID, Tasks: []Task{}}
		for _, t := range s.tasks {
			out.Tasks = append(out.Tasks, t.result(rt))
		}
		slices.SortFunc(out.Tasks, func(a, b Task) int {
			return cmp.Or(cmp.Compare(b.DurationMS.Total, a.DurationMS.Total), cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.Task, b.Task))
		})
		res.Processes = append(res.Processes, out)
	}
	return res
}

func (t *task) result(rt *process) Task {
	out := Task{Provider: t.provider, Task: t.name, Count: len(t.durations), Open: t.live, Errors: t.errors,
		DurationMS: measure.Summarize(slices.Clone(t.durations)), ExclusiveMS: rt.MS(t.exclusive), MaxConcurrency: t.most,
		Series: t.series.Clone(), Slowest: []Activity{}}
	out.PerSec = measure.Ratio(measure.Known(1e3*float64(out.Count)), measure.Known(rt.MS(t.last-t.first)))
	for status, n := range t.statuses {
		out.Statuses = append(out.Statuses, Status{status, n})
	}
	slices.SortFunc(out.Statuses, func(a, b Status) int { return cmp.Compare(a.Status, b.Status) })
	for _, c := range t.slowest.All() {
		out.Slowest = append(out.Slowest, c.Activity)
	}
	return out
}
