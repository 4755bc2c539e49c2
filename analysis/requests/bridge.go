package requests

import (
	"cmp"
	"math"
	"strconv"
	"strings"

	"github.com/etwgen/etwgen/analysis/internal/actid"
	"github.com/etwgen/etwgen/analysis/internal/dyn"
	"github.com/etwgen/etwgen/runtime/etw"
)

// diagnosticSource is the EventSource that passes on the events of libraries by
// DiagnosticSource and ActivitySource. It passes on texts in pairs of key and value, which
// the session chooses.
const diagnosticSource = "Microsoft-Diagnostics-DiagnosticSource"

// arguments calls do for each pair that was passed on.
func (a *Analysis) arguments(do func(key, value string)) {
	for pair := range a.fields.Value("Arguments").Elements() {
		do(dyn.Member(pair, "Key").Text(), dyn.Member(pair, "Value").Text())
	}
}

// argument returns the value of a key that was passed on, or "".
func (a *Analysis) argument(key string) (text string) {
	a.arguments(func(k, value string) {
		if k == key {
			text = value
		}
	})
	if strings.Trim(text, "0") == "" { // as spans without one have it
		return ""
	}
	return text
}

// spanID makes an id of that of a span, which is no path.
func spanID(span string) etw.GUID { return (&source{provider: diagnosticSource}).keyID(span) }

// bridgedNames are the arguments that an activity is called by, the best one first.
var bridgedNames = []string{"DisplayName", "Request.Path", "Path", "url.full", "RequestUri", "Request.RequestUri", "LogCommandText", "CommandText", "OperationName"}

// bridged returns the task and the name of the event that was passed on.
func (a *Analysis) bridged(task string) (string, string, address) {
	for _, field := range []string{"ActivityName", "EventName"} {
		if text := a.fields.Text(field); text != "" {
			task = actid.WithoutEnd(text)
			break
		}
	}
	best, name, method := len(bridgedNames), "", ""
	client := false
	a.arguments(func(key, value string) {
		for i, k := range bridgedNames[:best] {
			if k == key && value != "" {
				best, name = i, value
			}
		}
		switch key {
		case "Method", "Request.Method":
			method = value + " "
		case "Kind":
			client = value == "Client"
		}
	})
	switch {
	case best == len(bridgedNames):
		return task, "", address{client: client}
	case strings.HasSuffix(bridgedNames[best], "CommandText"):
		return task, cutAfter(name, maxCommand), address{client: client, work: foldedText(name)}
	}
	to := addressOf(method + name)
	to.client = client || strings.HasSuffix(bridgedNames[best], "RequestUri")
	return task, method + name, to
}

// statusFields are those in which the end of an activity of any EventSource has a status of HTTP, if
// it is one. Names are in any case.
var statusFields = []string{"statusCode", "httpStatusCode", "httpStatus", "responseStatusCode", "responseStatus", "responseCode", "status"}

// outcome reads how an activity ended: of an HTTP client, of a DiagnosticSource, or of a span.
func (a *Analysis) outcome(c *activity) {
	if n, ok := a.fields.Float("statusCode").Get(); ok {
		c.Status = strconv.FormatFloat(n, 'f', -1, 64)
	} else if n, ok := a.fields.AnyFloat(statusFields).Get(); ok && n >= 100 && n < 600 {
		c.Status = strconv.FormatFloat(n, 'f', -1, 64)
	}
	if a.fields.Text("ActivityName") != "" {
		c.Source = a.fields.Text("SourceName")
	}
	status := ""
	a.arguments(func(key, value string) {
		switch key {
		case "Response.StatusCode", "StatusCode", "http.response.status_code":
			c.Status = value
		case "TraceId":
			c.TraceID = value
		case "SpanId":
			c.SpanID = value
		case "ParentSpanId":
			c.ParentSpanID = value
		case "Kind":
			c.Kind = value
		case "Tags", "TagObjects":
			c.tags(value)
		case "DisplayName":
			c.rename(value, "")
		case "Status":
			status = value
		}
	})
	// ASP.NET Core leaves the status of a request unset that it answers by 500.
	c.told = c.told || status != "" && (status != "Unset" || c.Kind != "Server")
	c.Failed, c.OK = c.Failed || status == "Error", status == "Ok"
}

// tags reads the status and the address from tags such as [http.response.status_code,
// 200], or http.response.status_code:200.
func (c *activity) tags(text string) {
	if status := tag(text, "http.response.status_code"); status != "" && strings.Trim(status, "0123456789") == "" {
		c.Status = status
	}
	method, route := tag(text, "http.request.method"), tag(text, "http.route")
	to := cmp.Or(tag(text, "url.full"), tag(text, "url.path"))
	if to != "" {
		client := c.client
		c.rename(to, method)
		c.address = addressOf(strings.TrimSpace(cmp.Or(method, c.method) + " " + to))
		c.client = client || c.Kind == "Client"
	}
	if route != "" {
		c.route, c.method = route, cmp.Or(method, c.method)
	}
}

// tag returns the value of a tag, or "".
func tag(text, key string) string {
	_, rest, ok := strings.Cut(text, key)
	if !ok {
		return ""
	}
	value, _, _ := strings.Cut(strings.TrimLeft(rest, ":, "), ",")
	return strings.TrimSpace(strings.TrimRight(value, "]"))
}

// rename gives an activity a name that it got on the way, if it was only called as
// its task, or by the method of its request.
func (c *activity) rename(name, method string) {
	switch {
	case name == "":
	case c.Name == "" || c.Name == c.task.name || isMethod(c.Name) && method == "":
		if !isMethod(c.Name) || strings.Contains(name, "/") {
			c.Name = strings.TrimSpace(method + " " + name)
		}
	case isMethod(c.Name):
		c.Name += " " + name
	}
}

// told takes the end of an activity whose begin was not passed on, if it says how
// long it was.
func (a *Analysis) told(r *etw.Record) bool {
	took, begun := math.NaN(), ""
	a.arguments(func(key, value string) {
		switch key {
		case "StartTimeTicks", "ActivityStartTime":
			begun = value
		case "Duration":
			took = milliseconds(value)
		case "DurationTicks", "ActivityDuration":
			if n, err := strconv.ParseInt(value, 10, 64); err == nil {
				took = float64(n) / 1e4
			}
		}
	})
	if n, err := strconv.ParseInt(begun, 10, 64); err == nil && math.IsNaN(took) && n > ticksTo1970 {
		took = float64(r.Time().UnixNano()-(n-ticksTo1970)*100) / 1e6
	}
	if math.IsNaN(took) || took < 0 {
		return false
	}
	task, name, to := a.bridged(actid.TaskName(r.Schema))
	rt := a.processes.At(r, 0)
	if !actid.IsPath(r.ActivityID, r.ProcessID) { // which its begin lacked, too
		rt.State.withoutID = max(rt.State.withoutID-a.in, 0)
	}
	c := rt.State.pass(rt, took, taskKey{r.ProviderName, task}, a.most)
	c.Name, c.id, c.address = name, r.ActivityID, to
	a.outcome(c)
	a.note(rt, r, c, nil)
	rt.State.stopped += a.of(c)
	return true
}

// ticksTo1970 is how many ticks of .NET there are before 1970.
const ticksTo1970 = 621355968000000000

// pass returns an activity that is over and took some milliseconds.
func (s *state) pass(rt *process, took float64, key taskKey, most int) *activity {
	ticks := int64(min(took/rt.MS(1), float64(max(rt.Now-rt.Origin(), 0))))
	c := &activity{task: s.task(key, most), begin: rt.Now - ticks, end: rt.Now, over: true}
	c.task.most = max(c.task.most, 1)
	return c
}

// milliseconds reads a time as .NET writes it, such as 1.02:03:04.0050000, and
// returns NaN for another text.
func milliseconds(text string) float64 {
	days := 0.0
	if d, rest, ok := strings.Cut(text, "."); ok && strings.Contains(rest, ":") {
		n, err := strconv.ParseUint(d, 10, 32)
		if err != nil {
			return math.NaN()
		}
		days, text = float64(n), rest
	}
	parts := strings.Split(text, ":")
	if len(parts) != 3 {
		return math.NaN()
	}
	seconds := days * 24 * 3600
	for i, part := range parts {
		f, err := strconv.ParseFloat(part, 64)
		if err != nil || f < 0 || f > 1e9 {
			return math.NaN()
		}
		seconds += f * [...]float64{3600, 60, 1}[i]
	}
	return seconds * 1e3
}
