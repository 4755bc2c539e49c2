package requests

import (
	"fmt"
	"slices"
)

// Warnings says which numbers mislead, and why.
func (r *Result) Warnings() []string {
	var list []string
	for _, p := range r.Processes {
		where := fmt.Sprintf("process %d: ", p.PID)
		if p.Open > 0 {
			but := ""
			if slices.ContainsFunc(r.Why, func(w *Why) bool { return w.PID == p.PID && w.Open > 0 }) {
				but = " but of those asked for"
			}
			list = append(list, fmt.Sprintf("%sactivities that were not over at the end, and are in no sum%s: %d", where, but, p.Open))
		}
		if p.LostStops > 0 {
			list = append(list, fmt.Sprintf("%sactivities whose end was lost, and that are in no sum: %d", where, p.LostStops))
		}
		if p.StopsWithoutStart > 0 {
			list = append(list, fmt.Sprintf("%sactivities whose begin was not seen, and that are in no sum: %d", where, p.StopsWithoutStart))
		}
		if p.WaitsUntold {
			list = append(list, where+"no event tells when threads waited: time running has it, too (etw collect --profile cause records them)")
		}
		if p.HaltedMS > 0 {
			list = append(list, fmt.Sprintf("%sthe program was stopped for %.3f ms for other reasons than collections, most likely by the sampler of the recording: time blocked (futex) has that, too", where, p.HaltedMS))
		}
		if p.NativeUntold && p.running() > 0 {
			list = append(list, where+"hardly any sample of threads at work is said to be in managed code, as of .NET 9, or where threads wait: time running may have waits in the runtime itself, such as for the loading of types (etw collect --system beside it tells them)")
		}
		if ms, all := p.untold(); ms > 0.05*all {
			list = append(list, fmt.Sprintf("%suntold are %.3f of %.3f ms, in native code that managed code called, or while the sampler did not look: threads may have worked or waited, and nothing tells which", where, ms, all))
		}
		if n := p.placeless(); n > 0 {
			list = append(list, fmt.Sprintf("%srequests served whose path is not in the trace: %d; it is in the events of Microsoft.AspNetCore.Hosting, or of %s with lines of FilterAndPayloadSpecs that pass it on: %s", where, n, diagnosticSource, pathSpecs))
		}
		if n := p.statusless(); n > 0 && p.placeless() == 0 {
			list = append(list, fmt.Sprintf("%srequests served whose status is not in the trace: %d; it is in events of %s with a line of FilterAndPayloadSpecs that passes it on: %s", where, n, diagnosticSource, statusSpec))
		}
		if p.WithoutID > 0 {
			list = append(list, fmt.Sprintf("%sbegins without an activity, so that nothing tells which end is theirs (record System.Threading.Tasks.TplEventSource:0x80:4, too): %d", where, p.WithoutID))
		}
		for _, text := range p.RuntimeAsync.Warnings() {
			list = append(list, where+text)
		}
	}
	return list
}

// pathSpecs pass on the paths of the requests that ASP.NET Core serves, and their statuses.
const pathSpecs = "Microsoft.AspNetCore/Microsoft.AspNetCore.Hosting.HttpRequestIn.Start@Activity1Start:-Request.Method;Request.Path " +
	"and " + statusSpec
const statusSpec = "Microsoft.AspNetCore/Microsoft.AspNetCore.Hosting.HttpRequestIn.Stop@Activity1Stop:-Response.StatusCode"

// statusless is how many requests were served, where the trace has the status of none.
func (p *Process) statusless() (n int) {
	for i := range p.Tasks {
		switch t := &p.Tasks[i]; {
		case t.Serves() && len(t.Statuses) > 0:
			return 0
		case t.Serves():
			n += t.Count
		}
	}
	return n
}

// untold returns how much of the time of tasks, of which the trace tells where it went, is untold.
func (p *Process) running() (ms float64) {
	for _, t := range p.Tasks {
		if t.Causes != nil {
			ms += t.Causes.RunningMS
		}
	}
	return ms
}

func (p *Process) untold() (ms, all float64) {
	for _, t := range p.Tasks {
		if t.Causes != nil {
			ms, all = ms+t.Causes.UntoldMS, all+t.DurationMS.Total
		}
	}
	return ms, all
}

// placeless is how many requests were served of which the trace has no endpoint.
func (p *Process) placeless() (n int) {
	for _, t := range p.Tasks {
		for _, e := range t.Endpoints {
			if t.Provider == diagnosticSource && e.Endpoint == NoEndpoint {
				n += e.Count
			}
		}
	}
	return n
}
