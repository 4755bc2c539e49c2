package requests

import (
	"iter"
	"strings"
	"time"

	"github.com/etwgen/etwgen/analysis/activities"
	"github.com/etwgen/etwgen/analysis/asyncs"
	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/analysis/stacks"
)

// Schema is the version of the JSON form of a [Result]. Fields may be added to a
// version; one that is removed, or changes its meaning, makes a new version.
const Schema = 1

// A Result is what is known of activities in a trace.
type Result struct {
	Schema    int        `json:"schema"`
	Processes []*Process `json:"processes"`
	Why       []*Why     `json:"why,omitempty"` // of what was asked for, if anything was
}

// Recorded says for how long one process recorded itself: counts per second are of that.
func (r *Result) Recorded(took time.Duration) {
	for _, p := range r.Processes {
		for i := range p.Tasks {
			t := &p.Tasks[i]
			t.PerSec = measure.Ratio(measure.Known(float64(t.Count)), measure.Known(took.Seconds()))
		}
	}
}

// A Process is the activities of one process.
type Process struct {
	PID  int64 `json:"pid"`
	Life int   `json:"life,omitempty"`
	// Started and Stopped count the events of activities that begin and end. A stop
	// without a start is ignored. Open activities had not ended at the end; of
	// LostStops another one began under the same id.
	Started           int `json:"started"`
	Stopped           int `json:"stopped"`
	StopsWithoutStart int `json:"stopsWithoutStart,omitempty"`
	Open              int `json:"open,omitempty"`
	LostStops         int `json:"lostStops,omitempty"`
	// WithoutID are starts of which the runtime kept no activity: the keyword 0x80 of
	// System.Threading.Tasks.TplEventSource was off.
	WithoutID int `json:"withoutId,omitempty"`
	// CausesFrom says how the trace tells for whom threads work: flow, exactly; tasks, most
	// of it; or none.
	CausesFrom string `json:"causesFrom"`
	// WaitsUntold says that the trace does not tell when threads wait: time running has it, too.
	WaitsUntold bool `json:"waitsUntold,omitempty"`
	// HaltedMS is how long the program was stopped for other reasons than collections, such as by the sampler
	// of the recording, if that was much, and switches of a kernel show its threads blocked then.
	HaltedMS float64 `json:"haltedMs,omitempty"`
	// NativeUntold says that the samples of its runtime do not tell managed code from native code: time
	// running has waits in the runtime itself, too, where no switches of a kernel tell them.
	NativeUntold bool   `json:"nativeUntold,omitempty"`
	Tasks        []Task `json:"tasks"` // by total time
	// RuntimeAsync has async methods, where a runtime of .NET 11 tells of them.
	RuntimeAsync *asyncs.Runtime `json:"runtimeAsync,omitempty"`
}

// A Task is the activities of one kind, such as the requests that Kestrel serves.
type Task struct {
	Provider string `json:"provider"`
	Task     string `json:"task"`
	Count    int    `json:"count"` // that ended
	Open     int    `json:"open,omitempty"`
	// Errors are those that failed, or ended with a status of 500 or more, of clients 400 or
	// more. ErrorsWithin of them are parts of activities that failed, too. Errors are unknown
	// where no event tells how any of them ended, as none does of those that ASP.NET Core serves.
	Errors       measure.Float `json:"errors,omitzero"`
	ErrorsWithin int           `json:"errorsWithin,omitempty"`
	// DurationMS is the time from start to stop; ExclusiveMS the sum without the
	// times in which activities were on that these had begun.
	DurationMS  measure.Summary `json:"durationMs"`
	ExclusiveMS float64         `json:"exclusiveMs"`
	// PerSec is Count by the time from the first start to the last stop, or that which
	// [Result.Recorded] says.
	PerSec         measure.Float  `json:"perSec,omitzero"`
	MaxConcurrency int            `json:"maxConcurrency"`
	Statuses       []Status       `json:"statuses,omitempty"`
	Series         measure.Series `json:"series"` // of ms, by the stop
	Endpoints      []Endpoint     `json:"endpoints,omitempty"`
	// Causes are where the time of all went, in parts that add up to DurationMS.Total if the
	// trace tells of all; CausedBy is it in detail.
	Causes   *Causes    `json:"causes,omitempty"`
	CausedBy []Cause    `json:"causedBy,omitempty"`
	Slowest  []Activity `json:"slowest"` // the twenty that took longest, or as many as were asked for
	// Unended are those of Open that had taken longest at the end, as many at most.
	Unended []Activity `json:"unended,omitempty"`
}

// Serves reports whether they are the requests that ASP.NET Core serves.
func (x *Task) Serves() bool { return x.Provider == hosting || strings.HasPrefix(x.Task, hosting) }

// An Endpoint is the HTTP requests to one place: with a method, where the trace has it, and
// the route, or else the path with * for parts that look like a number or an id.
type Endpoint struct {
	Endpoint   string          `json:"endpoint"`
	Count      int             `json:"count"` // that ended
	Open       int             `json:"open,omitempty"`
	OpenMS     measure.Float   `json:"openMs,omitzero"` // how long the longest of Open had taken at the end
	Errors     measure.Float   `json:"errors,omitzero"` // as those of the task
	DurationMS measure.Summary `json:"durationMs"`
	Statuses   []Status        `json:"statuses,omitempty"`
	Causes     *Causes         `json:"causes,omitempty"`
	CausedBy   []Cause         `json:"causedBy,omitempty"`
}

// An Activity is one activity.
type Activity struct {
	// Name is of the start event: of a request its method and path, or the address that it
	// goes to, otherwise the first field of text, such as host=example.org.
	Name string `json:"name,omitempty"`
	// ID is its place in the tree of activities, such as /#4711/1/3/, or its GUID, or
	// the field by which the source tells its activities apart.
	ID         string  `json:"id"`
	StartMS    float64 `json:"startMs"`
	DurationMS float64 `json:"durationMs"`
	// ExclusiveMS is DurationMS without the time in which an activity was on that
	// this one had begun.
	ExclusiveMS float64 `json:"exclusiveMs"`
	// Parent is the task of the activity that began it.
	Parent string `json:"parent,omitempty"`
	// AfterParent says that this one was over before it.
	AfterParent bool   `json:"afterParent,omitempty"`
	Status      string `json:"status,omitempty"`
	Failed      bool   `json:"failed,omitempty"`
	Open        bool   `json:"open,omitempty"` // it was not over at the end, and DurationMS is until then
	Thread      int64  `json:"tid"`            // of the stop
	// TraceID and the others are those of a span.
	TraceID      string `json:"traceId,omitempty"`
	SpanID       string `json:"spanId,omitempty"`
	ParentSpanID string `json:"parentSpanId,omitempty"`
	// Endpoint is where it went, or other work, as [Endpoint] has it; or "".
	Endpoint string `json:"-"`
	// Kind is Server, Client, Producer, Consumer or Internal, and Source the
	// ActivitySource, where the trace has them; OK is that the program itself calls the
	// activity a success. They are for spans alone.
	Kind   string `json:"-"`
	Source string `json:"-"`
	OK     bool   `json:"-"`
	// Causes are where its time went, and Path the parts of that, the first one first, where
	// the trace tells.
	Causes *Causes `json:"causes,omitempty"`
	Path   []Part  `json:"-"`
	// Flow is for whom threads worked, where the trace tells; nil otherwise.
	Flow *activities.Activity `json:"-"`
}

// hosting is the provider of the requests that ASP.NET Core serves.
const hosting = "Microsoft.AspNetCore.Hosting"

// Causes are where time went, in parts that add up to it, along the path that the end of an
// activity waited for.
type Causes struct {
	RunningMS  float64 `json:"runningMs"` // in code, with a processor, or without one where no switches are told
	GCMS       float64 `json:"gcMs"`
	JITMS      float64 `json:"jitMs"`
	LockMS     float64 `json:"lockMs"`
	BlockedMS  float64 `json:"blockedMs"`         // threads that waited for something else
	OnTasksMS  float64 `json:"onTasksMs"`         // of BlockedMS, that for tasks: sync over async, as far as call stacks tell
	ReadyMS    float64 `json:"readyMs,omitempty"` // threads had no processor, by the switches that a kernel tells of
	QueuedMS   float64 `json:"queuedMs"`          // in the queue of the thread pool
	OthersMS   float64 `json:"othersMs"`          // other threads worked, not for the activity, and let it go on
	AwaitingMS float64 `json:"awaitingMs"`
	UntoldMS   float64 `json:"untoldMs,omitempty"` // in native code that managed code called, or while the sampler did not look: threads may have worked or waited
	// ParallelMS is how long threads worked for it beside that path, and LateMS how long
	// after its end. They are no parts of its time.
	ParallelMS float64 `json:"parallelMs"`
	LateMS     float64 `json:"lateMs"`
}

// Parts returns the kinds of time that add up to that of an activity, under their names.
func (c *Causes) Parts() iter.Seq2[string, float64] {
	return func(yield func(string, float64) bool) {
		for k, ms := range [...]float64{c.RunningMS, c.GCMS, c.JITMS, c.LockMS, c.BlockedMS, c.ReadyMS, c.QueuedMS, c.OthersMS, c.AwaitingMS, c.UntoldMS} {
			if !yield(activities.Kind(k).String(), ms) {
				return
			}
		}
	}
}

// A Cause is all time of one kind that went for one thing.
type Cause struct {
	Kind    string  `json:"kind"`
	Name    string  `json:"name,omitempty"`   // of what was awaited, or who held a lock
	OnTask  bool    `json:"onTask,omitempty"` // a thread was blocked until a task was over
	Parts   int     `json:"parts"`
	TotalMS float64 `json:"totalMs"`
	MaxMS   float64 `json:"maxMs"`
}

// A Part is a time on the path that the end of an activity waited for.
type Part struct {
	StartMS    float64 `json:"startMs"`
	DurationMS float64 `json:"durationMs"`
	Kind       string  `json:"kind"`
	// Name is of what was awaited, who held the lock, or how much of what ran was compiling,
	// collections and without a processor.
	Name   string `json:"name,omitempty"`
	Thread int64  `json:"tid,omitempty"` // that worked or waited

	// Code is a call stack, where that may tell more once all is read: see [Analysis.Kinds].
	Code stacks.ID `json:"-"`
}

// A Why is where the time of those activities went that were asked for, in one process.
type Why struct {
	PID        int64           `json:"pid"`
	Count      int             `json:"count"`
	Open       int             `json:"open,omitempty"`   // of Count, those that were not over at the end: their time is that until then
	Untold     int             `json:"untold,omitempty"` // of Count, those of which the trace does not tell
	DurationMS measure.Summary `json:"durationMs"`
	Causes     *Causes         `json:"causes,omitempty"`
	CausedBy   []Cause         `json:"causedBy"`
	// Slowest is the one of the told that took longest; Path are the parts of its time.
	Task    string    `json:"task,omitempty"`
	Slowest *Activity `json:"slowest,omitempty"`
	Path    []Part    `json:"path"`
}
