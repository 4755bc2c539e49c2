package requests

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/internal/order"
)

// placeFields are the fields of text by which an event of any EventSource says where a request
// goes to, and workFields those that name other work, the best ones first. Names are in any case.
var (
	placeFields = []string{"route", "path", "url", "uri", "requestPath", "requestUrl", "requestUri"}
	workFields  = []string{"endpoint", "operation", "operationName", "action", "commandText", "command", "statement", "sql", "query", "queue", "topic", "job", "name"}
)

// placed returns where a request goes to by the fields of its start, or its work.
func (a *Analysis) placed() (to address) {
	f := &a.fields
	if _, text := f.AnyText(placeFields); text != "" {
		to = addressOf(text)
		if to.path == "" {
			to.work = text
		}
		if _, method := f.AnyText([]string{"method", "verb", "httpMethod"}); isMethod(method) {
			to.method = method
		}
		return to
	}
	_, text := f.AnyText(workFields)
	return address{work: foldedText(text)}
}

// maxWork is how much of the text of a statement tells it from others.
const maxWork = 200

// foldedText returns a text on one line, with * for numbers and for what is in single quotes.
func foldedText(text string) string {
	return cutAfter(strings.Join(strings.Fields(literal.ReplaceAllString(text, "*")), " "), maxWork)
}

var literal = regexp.MustCompile(`'[^']*'|\b[0-9]+\b`)

// An endpoint is the requests of a task to one place.
type endpoint struct {
	durations []float64
	errors    int
	told      bool // of any, whether it failed
	statuses  map[string]int
	spent     spent
}

// maxEndpoints bounds how many endpoints a task has: of paths that no rule folds there are as
// many as requests. Those after them are one.
const (
	maxEndpoints   = 10_000
	otherEndpoints = "(others)"
)

// NoEndpoint is in place of the endpoint of requests that were served, where the trace has none.
const NoEndpoint = "(not in the trace)"

// reach notes that an activity was a request to some place, and returns that, or nil.
func (t *task) reach(c *activity, ms float64) *endpoint {
	name := c.place()
	if name == "" {
		return nil
	}
	e := t.endpoints[name]
	if e == nil && len(t.endpoints) >= maxEndpoints {
		name = otherEndpoints
		e = t.endpoints[name]
	}
	if e == nil {
		if t.endpoints == nil {
			t.endpoints = make(map[string]*endpoint)
		}
		e = &endpoint{statuses: make(map[string]int)}
		t.endpoints[name] = e
	}
	e.durations = append(e.durations, ms)
	e.told = e.told || c.told
	if c.Failed {
		e.errors++
	}
	if c.Status != "" {
		e.statuses[c.Status]++
	}
	return e
}

// place returns the endpoint of an activity as results have it, or "".
func (c *activity) place() string {
	name := c.endpoint()
	if name == "" && c.Kind == "Server" {
		return cmp.Or(c.method, NoEndpoint)
	}
	return name
}

// reached returns the endpoints, those of the most time first.
func (t *task) reached(rt *process, at spotsOf) []Endpoint {
	var list []Endpoint
	for name, e := range t.endpoints {
		x := Endpoint{Endpoint: name, Count: len(e.durations), Errors: failures(e.errors, e.told), DurationMS: measure.Summarize(slices.Clone(e.durations)), Statuses: statuses(e.statuses)}
		x.Causes, x.CausedBy = e.spent.result(rt, at)
		list = append(list, x)
	}
	order.Sort(list, func(a, b Endpoint) int {
		return cmp.Or(cmp.Compare(b.DurationMS.Total, a.DurationMS.Total), cmp.Compare(a.Endpoint, b.Endpoint))
	})
	return list
}

// fails notes whether an activity failed, if anything tells that.
func (c *activity) fails() {
	n, err := strconv.Atoi(c.Status)
	c.told = c.told || c.Failed || c.Status != ""
	c.Failed = c.Failed || err == nil && (n >= c.leastError() || n < 0)
}

// leastError is the least status that is a failure: who makes a request has failed if the
// server refuses it, which itself has not.
func (c *activity) leastError() int {
	if c.client || c.Kind == "Client" {
		return 400
	}
	return 500
}

// label is the name of an activity for people: its endpoint, before which the task stands where it is no
// address, such as Lookup flour.
func (c *activity) label() string {
	switch e := c.endpoint(); e {
	case "":
		return c.task.name
	case c.work:
		return c.task.name + " " + e
	default:
		return e
	}
}
