package requests

import (
	"cmp"
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A source writes pairs of events that belong together by one of their fields, since
// they have no activity, or none that is a path.
type source struct {
	provider string // as it is shown
	task     string
	process  int64 // whose activities they are, 0 for that of the record
	// nested activities are not followed, and an end without a begin is left out.
	outermost bool
}

// A role is the part that an event of a source plays.
type role uint8

const (
	roleNone   role = iota
	roleBegin       // of an activity
	roleEnd         // of the activity
	roleDetail      // says more of an activity that is on
	roleTold        // is all that there is of an activity: how long it took
)

// A rule gives the role of an event of a source.
type rule struct {
	*source
	role role
	key  string // the field that is the same in all events of an activity
	// desc is the layout, where traces do not have it. status is the field with the
	// outcome, and name are those that an activity is called by.
	desc   *etw.EventDesc
	name   []string
	status string
	took   string // the field with the milliseconds that a told activity took
}

// named are the rules for sources that traces describe, by provider and event.
var named = map[string]map[string]*rule{
	"Microsoft-AdoNet-SystemData":          queries("Microsoft-AdoNet-SystemData"),
	"Microsoft.Data.SqlClient.EventSource": queries("Microsoft.Data.SqlClient.EventSource"),
	"System.Diagnostics.Eventing.FrameworkEventSource": {
		"BeginGetResponse":      {source: &webResponse, role: roleBegin, key: "id", name: []string{"uri"}},
		"EndGetResponse":        {source: &webResponse, role: roleEnd, key: "id", status: "statusCode"},
		"BeginGetRequestStream": {source: &webStream, role: roleBegin, key: "id", name: []string{"uri"}},
		"EndGetRequestStream":   {source: &webStream, role: roleEnd, key: "id"},
	},
	"OpenTelemetry-Sdk": {
		"ActivityStarted": {source: &span, role: roleBegin, key: "id", name: []string{"name"}},
		"ActivityStopped": {source: &span, role: roleEnd, key: "id"},
	},
	"System.Net.Http": {
		"ConnectionEstablished": {source: &connection, role: roleBegin, key: "connectionId", name: []string{"scheme", "host", "port"}},
		"ConnectionClosed":      {source: &connection, role: roleEnd, key: "connectionId"},
		"RequestLeftQueue":      {source: &queue, role: roleTold, took: "timeOnQueueMilliseconds"},
	},
}

var (
	webResponse = source{provider: "System.Diagnostics.Eventing.FrameworkEventSource", task: "GetResponse"}
	webStream   = source{provider: "System.Diagnostics.Eventing.FrameworkEventSource", task: "GetRequestStream"}
	span        = source{provider: "OpenTelemetry-Sdk", task: "ActivityStarted"}
	connection  = source{provider: "System.Net.Http", task: "HttpConnection"}
	queue       = source{provider: "System.Net.Http", task: "RequestQueue"}
	iis         = source{provider: "IIS", task: "Request", outermost: true}
	aspNet      = source{provider: "ASP.NET", task: "Request", outermost: true}
	httpSys     = source{provider: "Microsoft-Windows-HttpService", task: "Request", process: systemProcess, outermost: true}
)

// systemProcess is the process of the kernel, to which http.sys belongs.
const systemProcess = 4

func queries(provider string) map[string]*rule {
	s := &source{provider: provider, task: "Execute"}
	return map[string]*rule{
		"BeginExecute": {source: s, role: roleBegin, key: "objectId", name: []string{"commandText"}},
		"EndExecute":   {source: s, role: roleEnd, key: "objectId", status: "sqlExceptionNumber"},
	}
}

// A place identifies an event by numbers: its provider, or class, and its id, or
// opcode.
type place struct {
	guid etw.GUID
	id   uint16
}

// Providers of Windows, and classes of old ones, whose layouts no trace has.
var (
	iisProvider  = etw.MustParseGUID("de4649c9-15e8-4fea-9d85-1cdda520c334")
	iisGeneral   = etw.MustParseGUID("d42cf7ef-de92-473e-8b6c-621ea663113a")
	aspNetClass  = etw.MustParseGUID("06a01367-79d3-4594-8eb3-c721603c4679")
	httpProvider = etw.MustParseGUID("dd5ef90a-6398-47a4-ad34-4dcecdef795f")
	// insights is ApplicationInsights, which reports the calls of a request as requests,
	// too.
	insights = etw.MustParseGUID("a62adddb-6b4b-519d-7ba1-f983d81623e0")
)

// numbered are the rules for them.
var numbered = map[place]*rule{
	{iisProvider, 1}: {source: &iis, role: roleBegin, key: "ContextId", desc: iisStart, name: []string{"RequestVerb", "RequestURL"}},
	{iisProvider, 2}: {source: &iis, role: roleEnd, key: "ContextId", desc: iisEnd, status: "HttpStatus"},
	{iisGeneral, 1}:  {source: &iis, role: roleBegin, key: "ContextId", desc: iisStart, name: []string{"RequestVerb", "RequestURL"}},
	{iisGeneral, 2}:  {source: &iis, role: roleEnd, key: "ContextId", desc: iisEnd, status: "HttpStatus"},
	{aspNetClass, 1}: {source: &aspNet, role: roleBegin, key: "ContextId", desc: aspNetStart, name: []string{"Method", "Path"}},
	{aspNetClass, 2}: {source: &aspNet, role: roleEnd, key: "ContextId", desc: aspNetStop},

	{httpProvider, 1}:  {source: &httpSys, role: roleBegin, key: "RequestId", desc: httpID},
	{httpProvider, 2}:  {source: &httpSys, role: roleDetail, desc: httpParse, name: []string{"Url"}},
	{httpProvider, 3}:  {source: &httpSys, role: roleDetail, key: "RequestId", desc: httpDeliver, name: []string{"Url"}},
	{httpProvider, 10}: {source: &httpSys, role: roleEnd, key: "RequestId", desc: httpEnd, status: "HttpStatus"},
	{httpProvider, 12}: {source: &httpSys, role: roleEnd, key: "RequestId", desc: httpEnd, status: "HttpStatus"},
	{httpProvider, 13}: {source: &httpSys, role: roleEnd, key: "RequestId", desc: httpEnd, status: "HttpStatus"},
	{httpProvider, 14}: {source: &httpSys, role: roleEnd, key: "RequestId", desc: httpEnd, status: "HttpStatus"},
	{httpProvider, 16}: {source: &httpSys, role: roleEnd},
	{httpProvider, 17}: {source: &httpSys, role: roleEnd},
}

// The layouts, as far as they are needed.
var (
	iisStart = layout(guidField("ContextId"), number("SiteId", etw.InUInt32), text("AppPoolId"), number("ConnId", etw.InUInt64),
		number("RawConnId", etw.InUInt64), text("RequestURL"), text("RequestVerb"))
	iisEnd = layout(guidField("ContextId"), number("BytesSent", etw.InUInt32), number("BytesReceived", etw.InUInt32), number("HttpStatus", etw.InUInt16))
	// Of ASP.NET, there are texts of one byte a character, and of two.
	aspNetStart = layout(number("ConnID", etw.InUInt64), guidField("ContextId"), etw.FieldDesc{Name: "Method", Type: etw.InAnsiString}, etw.FieldDesc{Name: "Path", Type: etw.InAnsiString})
	aspNetWide  = layout(number("ConnID", etw.InUInt64), guidField("ContextId"), text("Method"), text("Path"))
	aspNetStop  = layout(number("ConnID", etw.InUInt64), guidField("ContextId"))

	httpID      = layout(number("RequestId", etw.InUInt64))
	httpParse   = layout(number("RequestObj", etw.InPointer), number("HttpVerb", etw.InUInt32), text("Url"))
	httpDeliver = layout(number("RequestObj", etw.InPointer), number("RequestId", etw.InUInt64), number("SiteId", etw.InUInt32), text("RequestQueueName"), text("Url"))
	httpEnd     = layout(number("RequestId", etw.InUInt64), number("HttpStatus", etw.InUInt16))
)

func layout(fields ...etw.FieldDesc) *etw.EventDesc  { return &etw.EventDesc{Fields: fields} }
func number(name string, t etw.InType) etw.FieldDesc { return etw.FieldDesc{Name: name, Type: t} }
func text(name string) etw.FieldDesc                 { return number(name, etw.InUnicodeString) }
func guidField(name string) etw.FieldDesc            { return number(name, etw.InGUID) }
func isWide(payload []byte, at int) bool {
	return len(payload) > at+1 && payload[at] != 0 && payload[at+1] == 0
}

// ruleOf returns the rule of a record, or nil.
func ruleOf(r *etw.Record) *rule {
	if r.Schema != nil {
		if x := named[r.ProviderName][r.Schema.Name]; x != nil {
			return x
		}
	}
	return numbered[place{r.Provider, r.Key().ID}]
}

// Turns returns a function that reports whether a record of a source without paths begins or ends an
// activity, and which.
func Turns() func(*etw.Record) (id etw.GUID, begins, ok bool) {
	a := new(Analysis)
	return func(r *etw.Record) (id etw.GUID, begins, ok bool) {
		if x := a.rule(r); x != nil && (x.role == roleBegin || x.role == roleEnd) {
			key, ok := a.key(r, x)
			return x.keyID(key), x.role == roleBegin, ok
		}
		return id, false, false
	}
}

// follow takes an event of a source.
func (a *Analysis) follow(r *etw.Record, x *rule) {
	key, ok := a.key(r, x)
	if x.process != 0 {
		a.moved = *r
		a.moved.ProcessID = x.process
		r = &a.moved
	}
	if x.role == roleTold {
		a.passed(r, x)
		return
	}
	if !ok {
		return
	}
	rt, id := a.processes.At(r, 0), x.keyID(key)
	if x.source == &httpSys {
		id = a.httpRequest(r, x, rt, key)
	}
	switch c := rt.State.open[id]; {
	case x.role == roleBegin && c != nil && x.outermost:
	case x.role == roleBegin:
		c = a.begin(r, id, taskKey{x.provider, x.task})
		c.ID = key
		c.called(a.called(x), x)
		a.began(r, c)
	case c != nil && x.role == roleDetail:
		c.called(a.called(x), x)
	case c != nil:
		rt.State.forget(c)
		a.result(c, x)
		a.finish(rt, r, c)
		rt.State.stopped += a.of(c)
	case x.role == roleEnd && !x.outermost:
		rt.State.stopped += a.of(nil)
		rt.State.orphans += a.of(nil)
	}
}

// key reads a record, and returns the value that tells its activity from others of the source.
func (a *Analysis) key(r *etw.Record, x *rule) (string, bool) {
	if desc := cmp.Or(x.desc, r.Schema); desc == aspNetStart && isWide(r.Payload, 24) {
		a.fields.ReadAs(aspNetWide, r)
	} else if desc != nil {
		a.fields.ReadAs(desc, r)
	}
	v := a.fields.Value(x.key)
	if x.source == &httpSys && v.Kind() == etw.ValueNone {
		return "", !r.ActivityID.IsZero()
	}
	if v.Kind() == etw.ValueGUID && v.GUID().IsZero() && x.source == &aspNet {
		v = a.fields.Value("ConnID")
	}
	return v.String(), v.Kind() != etw.ValueNone
}

// httpRequest returns the id of the request that an event of http.sys is about. The number
// of the request tells it. The event that begins one may have the activity of the connection
// instead of the request's; the next event, which has the address and no number, is then of
// the last one begun on its thread; and later ones share their activity with one that has
// the number.
func (a *Analysis) httpRequest(r *etw.Record, x *rule, rt *process, key string) etw.GUID {
	s := &rt.State
	if s.requests == nil {
		s.requests, s.began = make(map[etw.GUID]etw.GUID), make(map[int64]etw.GUID)
	}
	numbered := key != "" && key != "0"
	id := x.keyID(key)
	if !numbered {
		id = x.keyID(r.ActivityID.String())
	}
	_, isOn := s.open[id]
	of, related := s.requests[r.ActivityID]
	_, relatedOn := s.open[of]
	began := s.began[r.ThreadID]
	_, beganOn := s.open[began]
	switch {
	case x.role == roleBegin:
		s.began[r.ThreadID] = id
	case isOn:
	case related && relatedOn:
		id = of
	case !numbered && x.role == roleDetail && beganOn:
		id = began
	}
	if !r.ActivityID.IsZero() && (related || len(s.requests) < maxRequests) {
		s.requests[r.ActivityID] = id
	}
	if x.role == roleEnd && !r.ActivityID.IsZero() {
		delete(s.requests, r.ActivityID)
	}
	return id
}

// maxRequests bounds the requests remembered of http.sys.
const maxRequests = 1 << 20

// called names an activity of a source, which may be an HTTP request.
func (c *activity) called(name string, x *rule) {
	if name == "" {
		return
	}
	c.Name = name
	if x.name[0] == "commandText" {
		c.Name, c.work = cutAfter(name, maxCommand), foldedText(name)
	}
	if x.source == &iis || x.source == &aspNet || x.source == &httpSys || x.source == &webResponse {
		c.address = addressOf(name)
		c.client = x.source == &webResponse
	}
}

// called returns the name of an activity.
func (a *Analysis) called(x *rule) string {
	var parts []string
	for _, field := range x.name {
		if v := a.fields.Value(field); v.Kind() != etw.ValueNone {
			parts = append(parts, v.String())
		}
	}
	if x.source == &connection {
		return strings.Replace(strings.Join(parts, ":"), ":", "://", 1)
	}
	return strings.Join(parts, " ")
}

// result reads how an activity of a source ended.
func (a *Analysis) result(c *activity, x *rule) {
	if x.status == "sqlExceptionNumber" {
		for _, field := range []string{"compositeState", "compositestate"} {
			state, ok := a.fields.Float(field).Get()
			c.told = c.told || ok
			if ok && int(state)&1 == 0 {
				c.Failed = true
				c.Status = a.fields.Value(x.status).String()
			}
		}
		return
	}
	if n, ok := a.fields.Float(x.status).Get(); ok && x.status != "" {
		c.Status = strconv.FormatFloat(n, 'f', -1, 64)
	}
}

// passed takes an event that says how long something took.
func (a *Analysis) passed(r *etw.Record, x *rule) {
	took, ok := a.fields.Float(x.took).Get()
	if !ok || took < 0 {
		return
	}
	rt := a.processes.At(r, 0)
	c := rt.State.pass(rt, took, taskKey{x.provider, x.task}, a.most)
	c.id = r.ActivityID
	if parent := rt.State.open[r.ActivityID]; parent != nil {
		c.Parent = parent.task.name
	}
	a.note(rt, r, c, nil)
	rt.State.started += a.of(c)
	rt.State.stopped += a.of(c)
}

// maxCommand is how much is shown of the text of a command.
const maxCommand = 50

func cutAfter(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}

// keyID makes an id of the key of an activity, which is no path.
func (s *source) keyID(key string) (id etw.GUID) {
	h := fnv.New128a()
	h.Write([]byte(s.provider + "\x00" + s.task + "\x00" + key))
	h.Sum(id[:0])
	return id
}
