package requests

import (
	"cmp"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/internal/order"
)

// An address is where an HTTP request goes to, or other work, as far as the trace tells.
type address struct {
	method, host, path string
	route              string // as the server calls it
	client             bool   // it is of who makes the request
	work               string // that is no HTTP request
}

// addressOf reads the name of a request, such as GET http://shop:80/bread?size=2.
func addressOf(name string) (to address) {
	if method, rest, ok := strings.Cut(name, " "); ok && isMethod(method) {
		to.method, name = method, rest
	}
	if _, rest, ok := strings.Cut(name, "://"); ok {
		host, path, _ := strings.Cut(rest, "/")
		to.host, to.path = host, "/"+path
		return to
	}
	if strings.HasPrefix(name, "/") {
		to.path = name
	}
	return to
}

// isMethod reports whether a text can be the method of a request.
func isMethod(text string) bool {
	return text != "" && len(text) <= 20 && strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ-_") == ""
}

// endpoint names the place, or returns "" where nothing is known of it.
func (to *address) endpoint() string {
	place := to.route
	if place == "" && to.path != "" {
		place = folded(to.path)
	}
	if place == "" {
		return to.work
	}
	if to.host != "" && to.client {
		place = to.host + "/" + strings.TrimPrefix(place, "/")
	}
	return strings.TrimSpace(to.method + " " + place)
}

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

// folded returns a path without its query, and with * for its parts that look like ids.
func folded(path string) string {
	path, _, _ = strings.Cut(path, "?")
	path, _, _ = strings.Cut(path, "#")
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if isID(part) {
			parts[i] = "*"
		}
	}
	return strings.Join(parts, "/")
}

// isID reports whether a part of a path looks like the id of something: a number, a GUID, or
// a long word of hexadecimal or mixed digits.
func isID(part string) bool {
	digits, hex, letters := 0, 0, 0
	for _, c := range part {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case strings.ContainsRune("abcdefABCDEF", c):
			hex++
		case !strings.ContainsRune("-_.:,{}%=", c):
			letters++
		}
	}
	switch {
	case digits == 0:
		return false
	case letters == 0 && hex == 0:
		return true // 42, 2026-11-22, 1,2
	case letters == 0:
		return digits+hex >= 8
	}
	return digits+hex+letters >= 16 && digits >= 4
}

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
	name := c.endpoint()
	switch {
	case name == "" && c.Kind == "Server":
		name = cmp.Or(c.method, NoEndpoint)
	case name == "":
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

// statuses lists how often there was which status.
func statuses(of map[string]int) []Status {
	var list []Status
	for status, n := range of {
		list = append(list, Status{status, n})
	}
	order.Sort(list, func(a, b Status) int { return cmp.Compare(a.Status, b.Status) })
	return list
}

// failures is how many failed, if any told whether it did.
func failures(n int, told bool) (f measure.Float) {
	if told {
		f = measure.Known(float64(n))
	}
	return f
}

// leastError is the least status that is a failure: who makes a request has failed if the
// server refuses it, which itself has not.
func (c *activity) leastError() int {
	if c.client || c.Kind == "Client" {
		return 400
	}
	return 500
}

// socketAddress returns the address of a socket as people write it, where a text is one as
// .NET writes it: InterNetwork:16:{0,80,127,0,0,1,...}.
func socketAddress(text string) string {
	family, rest, _ := strings.Cut(text, ":")
	_, list, ok := strings.Cut(rest, ":{")
	if !ok || !strings.HasPrefix(family, "InterNetwork") {
		return text
	}
	var b []byte
	for part := range strings.SplitSeq(strings.TrimSuffix(list, "}"), ",") {
		n, err := strconv.ParseUint(part, 10, 8)
		if err != nil {
			return text
		}
		b = append(b, byte(n))
	}
	at, size := 2, 4
	if family == "InterNetworkV6" {
		at, size = 6, 16 // after the flow
	}
	if len(b) < at+size {
		return text
	}
	ip, _ := netip.AddrFromSlice(b[at : at+size])
	return netip.AddrPortFrom(ip.Unmap(), uint16(b[0])<<8|uint16(b[1])).String()
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
