package requests

import "fmt"

// Warnings says which numbers mislead, and why.
func (r *Result) Warnings() []string {
	var list []string
	for _, p := range r.Processes {
		where := fmt.Sprintf("process %d: ", p.PID)
		if p.Open > 0 {
			list = append(list, fmt.Sprintf("%sactivities that were not over at the end, and are in no sum: %d", where, p.Open))
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
		if n := p.placeless(); n > 0 {
			list = append(list, fmt.Sprintf("%srequests served whose path is not in the trace: %d; it is in the events of Microsoft.AspNetCore.Hosting, or of %s with lines of FilterAndPayloadSpecs that pass it on: %s", where, n, diagnosticSource, pathSpecs))
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
	"and Microsoft.AspNetCore/Microsoft.AspNetCore.Hosting.HttpRequestIn.Stop@Activity1Stop:-Response.StatusCode"

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
