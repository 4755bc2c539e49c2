package findings

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/analysis/activities"
	"github.com/etwgen/etwgen/analysis/exceptions"
	"github.com/etwgen/etwgen/analysis/jit"
	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/analysis/requests"
	"github.com/etwgen/etwgen/internal/order"
)

// Exceptions says how many exceptions a runtime threw, and which most often.
func Exceptions(r *exceptions.Runtime) []Finding {
	f := &finder{part: "exceptions"}
	if len(r.Types) == 0 {
		return nil
	}
	var peak float64
	for _, n := range r.Series.Counts {
		peak = max(peak, 1000*float64(n)/max(r.Series.WidthMS, leastRateMS))
	}
	top := r.Types[0]
	text, args := "%s thrown; most often %s, %s.", []any{things("count", r.Throws(), "exception was", "exceptions were"), top.Type, times("topCount", top.Throws())}
	if r.Untold > 0 {
		text += " Of these %s thrown before, and passed on: the trace does not tell."
		args = append(args, things("untold", r.Untold, "may have been", "may have been"))
	}
	f.add("exceptions.thrown", atLeast(peak, manyExceptions, Look, Note), text, args...)
	if n := len(r.Uncaught); n > 0 {
		x := &r.Uncaught[n-1]
		f.add("exceptions.uncaught", Look, "No block had caught %s when the trace ended, the last one at %s in thread %s: %s. Such an exception ends the process.",
			things("uncaught", n, "exception", "exceptions"), moment("uncaughtMs", x.AtMS), number("uncaughtThread", float64(x.Thread)), strings.TrimSpace(x.Type+" "+x.Message))
	}
	return f.list
}

// JIT says how long a runtime compiled.
func JIT(r *jit.Runtime) []Finding {
	f := &finder{part: "jit"}
	if r.Count > 0 {
		f.add("jit.compiled", atLeast(r.ExclusiveMS, longCompiling, Look, Note), "Compiling %s took %s of threads' wall-clock time.",
			things("count", r.Count, "method", "methods"), span("exclusiveMs", r.ExclusiveMS))
	}
	return f.list
}

// Requests says which activities of a process failed, and which requests that it served failed
// within them: what failed as a part of another is counted once; where the time of the slowest
// endpoint went; and how much of the time threads were blocked for tasks.
func Requests(p *requests.Process) []Finding {
	f := &finder{part: "requests"}
	failed, which, within := 0, []string{}, []string{}
	for _, x := range p.Tasks {
		n := int(x.Errors.Or(0)) - x.ErrorsWithin
		if failed += n; n > 0 {
			which = append(which, fmt.Sprintf("%d of %s/%s%s", n, x.Provider, x.Task, failing(&x)))
		}
		if at := failing(&x); x.ErrorsWithin > 0 && n <= 0 && at != "" {
			within = append(within, fmt.Sprintf("%d of %s/%s%s", x.ErrorsWithin, x.Provider, x.Task, at))
		}
	}
	if len(which) > failuresNamed {
		which = append(which[:failuresNamed], "and others")
	}
	if failed > 0 {
		more := ""
		if len(within) > 0 {
			more = " Within them: " + strings.Join(within[:min(len(within), failuresNamed)], ", ") + "."
		}
		f.add("requests.failed", Look, "%s failed: %s.%s", things("errors", failed, "activity", "activities"), strings.Join(which, ", "), more)
	}
	f.slowest(p)
	f.unended(p)
	f.onTasks(p)
	return f.list
}

// onTasks adds the task in whose time threads were blocked longest until tasks were over.
func (f *finder) onTasks(p *requests.Process) {
	var most *requests.Task
	for i := range p.Tasks {
		if x := &p.Tasks[i]; x.Causes != nil && x.Causes.OnTasksMS >= leastRequest && (most == nil || x.Causes.OnTasksMS > most.Causes.OnTasksMS) {
			most = x
		}
	}
	if most == nil {
		return
	}
	all, first := 0.0, ""
	for _, ms := range most.Causes.Parts() {
		all += ms
	}
	if i := slices.IndexFunc(most.CausedBy, func(c requests.Cause) bool { return c.OnTask }); i >= 0 {
		first = most.CausedBy[i].Name
	}
	percent := 100 * most.Causes.OnTasksMS / all
	f.add("requests.syncOverAsync", atLeast(percent, muchOnTasks, Look, Note), "Threads were blocked for tasks for %s of the time of %s/%s (%s), longest in %s: sync over async, which keeps workers of the thread pool from other work.",
		span("onTasksMs", most.Causes.OnTasksMS), most.Provider, most.Task, share("onTasksPercent", percent), first)
}

// failing names the endpoints of a task with most failures, in brackets.
func failing(x *requests.Task) string {
	list := order.Delete(slices.Clone(x.Endpoints), func(e requests.Endpoint) bool { return e.Errors.Or(0) == 0 })
	if len(list) == 0 {
		return ""
	}
	order.Sort(list, func(a, b requests.Endpoint) int {
		return cmp.Or(cmp.Compare(b.Errors.Or(0), a.Errors.Or(0)), strings.Compare(a.Endpoint, b.Endpoint))
	})
	var names []string
	for _, e := range list[:min(len(list), failuresNamed)] {
		names = append(names, fmt.Sprintf("%s %.0f", e.Endpoint, e.Errors.Or(0)))
	}
	if len(list) > failuresNamed {
		names = append(names, "and others")
	}
	return " (" + strings.Join(names, ", ") + ")"
}

// slowest adds the endpoint whose slow requests took longest, with the largest cause where the
// trace tells of any.
func (f *finder) slowest(p *requests.Process) {
	slow, rare := slowestOf(p, (*requests.Task).Serves) // whom clients in the process may wait for
	if slow == nil {
		slow, rare = slowestOf(p, func(*requests.Task) bool { return true })
	}
	if slow == nil {
		return
	}
	most := slow.DurationMS.P95.Or(0)
	text := "The slowest endpoint "
	if rare > most {
		text += fmt.Sprintf("of %d requests or more ", enoughRequests)
	}
	text += "is " + strings.ReplaceAll(slow.Endpoint, "%", "%%")
	if slow.Endpoint == requests.NoEndpoint {
		text = "The slowest requests are those whose endpoint is not in the trace"
	}
	text += ": %s of %s on average, 5 %% of them of %s or longer"
	args := []any{things("count", slow.Count, "request", "requests"), span("meanMs", slow.DurationMS.Mean.Or(0)), span("p95Ms", most)}
	more, figures := mainCause(slow.CausedBy)
	text, args = text+more, append(args, figures...)
	f.add("requests.slowest", atLeast(most, slowRequest, Look, Note), text+".", args...)
}

// slowestOf returns the endpoint of some tasks whose slow requests took longest, or nil, and how long
// those took of which there are too few.
func slowestOf(p *requests.Process, has func(*requests.Task) bool) (slow *requests.Endpoint, rare float64) {
	most := leastRequest
	for i := range p.Tasks {
		for j := range p.Tasks[i].Endpoints {
			e := &p.Tasks[i].Endpoints[j]
			switch p95 := e.DurationMS.P95.Or(0); {
			case !has(&p.Tasks[i]):
			case e.Count < enoughRequests:
				rare = max(rare, p95)
			case p95 >= most && (slow == nil || p95 > most):
				slow, most = e, p95
			}
		}
	}
	return slow, rare
}

// unended adds the endpoint whose requests were not over at the end for longest, if none that was over
// had taken so long.
func (f *finder) unended(p *requests.Process) {
	var worst *requests.Endpoint
	for i := range p.Tasks {
		for j := range p.Tasks[i].Endpoints {
			e := &p.Tasks[i].Endpoints[j]
			if ms := e.OpenMS.Or(0); ms >= slowRequest && ms > e.DurationMS.Max.Or(0) && (worst == nil || ms > worst.OpenMS.Or(0)) {
				worst = e
			}
		}
	}
	if worst == nil {
		return
	}
	text, args := "Not over at the end: %s of %s, the longest after %s", []any{things("open", worst.Open, "request", "requests"), worst.Endpoint, span("openMs", worst.OpenMS.Or(0))}
	if most, ok := worst.DurationMS.Max.Get(); ok {
		text += "; of those that were over the longest took %s"
		args = append(args, span("maxMs", most))
	}
	f.add("requests.open", Look, text+".", args...)
}

// mainCause says of which kind most of the time of requests was, and of that the longest cause
// that has a name.
func mainCause(list []requests.Cause) (text string, args []any) {
	told, main, sums, longest, parts := 0.0, "", map[string]float64{}, map[string]requests.Cause{}, map[string]int{}
	for _, c := range list {
		told += c.TotalMS
		sums[c.Kind] += c.TotalMS
		parts[c.Kind]++
		if main == "" || sums[c.Kind] > sums[main] {
			main = c.Kind
		}
		if c.Name != "" && longest[c.Kind].Name == "" { // the list has the longest first
			longest[c.Kind] = c
		}
	}
	if told == 0 {
		return "", nil
	}
	args = []any{share("causePercent", 100*sums[main]/told), main}
	named := longest[main]
	switch {
	case main == activities.Untold.String():
		return "; of %s of their time it is %s whether threads worked or waited" + strings.ReplaceAll(strings.TrimRight(" "+named.Name, " "), "%", "%%"), args
	case named.Name == "":
		return "; %s of their time was %s", args
	case parts[main] == 1:
		return "; %s of their time was %s %s", append(args, named.Name)
	}
	return "; %s of their time was %s, %s of it %s", append(args, span("causeMs", named.TotalMS), named.Name)
}

// Few reports whether samples of a process are too few to tell of beside those of the one with most: surely
// fewer, and fewer than chance alone adds to these, which is twice the root of their number.
func Few(samples, most int) bool {
	n, m := float64(samples), float64(most)
	return m-n > 2*math.Sqrt(m+n) && n < 2*math.Sqrt(m)
}

// OfAll names samples of a process with their weight of that of all processes, in percent, if there are others.
func OfAll(samples string, percent float64) string {
	if percent > 0 {
		samples += ", " + measure.Percent(percent) + " of that of all processes"
	}
	return samples
}

// Code names the method in which most was spent by itself, of all of the measure of the
// samples, such as Thread time, but that of threads that waited. Nothing is found if all did, or
// where some did and the method has no name, since nothing tells whether threads waited there.
// MayWait says that nothing tells it of most others, and byRuntime that the runtime took the samples, where
// it could stop threads.
func Code(samples, method string, self, all, waiting float64, mayWait, byRuntime bool) []Finding {
	isNameless := strings.HasPrefix(method, "0x")
	if all-waiting <= 0 || waiting > 0 && isNameless {
		return nil
	}
	switch {
	case mayWait:
		samples += ", of most of which nothing tells whether threads worked or waited"
	case waiting > 0:
		samples += " without waiting"
	}
	f, text := &finder{part: "cpu"}, "%s: %s was spent in %s itself."
	if isNameless {
		text = "%s: %s was spent in code at %s, of which the trace has no name."
	}
	if byRuntime {
		text = strings.TrimSuffix(text, ".") + ", by the runtime's sampler, which meets code where it polls or returns."
	}
	f.add("cpu.topMethod", Note, text, samples, share("selfPercent", 100*self/(all-waiting)), method)
	return f.list
}
