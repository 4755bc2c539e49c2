package requests

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/internal/actid"
	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A wire makes payloads, and gives events to an analysis.
type wire struct {
	*testtrace.Script
	a *Analysis
}

func newWire(t *testing.T) *wire {
	mux := new(etw.Mux)
	return &wire{testtrace.NewScript(t, mux), New(mux)}
}

func (w *wire) send(ms int, r etw.Record, parts ...any) {
	r.PointerSize = etw.Ptr64
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			r.Payload = append(append(r.Payload, etw.MakeUTF16(p)...), 0, 0)
		case []byte:
			r.Payload = append(r.Payload, p...)
		case etw.GUID:
			r.Payload = append(r.Payload, p[:]...)
		default:
			r.Payload, _ = binary.Append(r.Payload, binary.LittleEndian, p)
		}
	}
	w.Record(time.Duration(ms)*time.Millisecond, 5, &r)
}

// tasks returns those of the process that there is.
func (w *wire) tasks(t *testing.T) map[string]Task {
	t.Helper()
	tasks := make(map[string]Task)
	for _, p := range w.a.Result().Processes {
		for _, task := range p.Tasks {
			tasks[task.Provider+"/"+task.Task] = task
		}
	}
	return tasks
}

// want checks the slowest activity of a task.
func want(t *testing.T, tasks map[string]Task, task string, count int, ms float64, name, status string) {
	t.Helper()
	x, ok := tasks[task]
	if !ok || x.Count != count || len(x.Slowest) == 0 {
		t.Errorf("%s: %+v", task, x)
		return
	}
	s := x.Slowest[0]
	if math.Abs(s.DurationMS-ms) > 1e-6 || s.Name != name || s.Status != status || s.StartMS < 0 {
		t.Errorf("%s: %+v", task, s)
	}
}

func TestWebServers(t *testing.T) {
	w := newWire(t)
	request := etw.GUID{1, 2, 3}
	for _, r := range []etw.Record{{Provider: iisProvider, ID: 1}, {Kind: etw.KindClassic, Provider: iisGeneral, Opcode: 1}} { // of both, one counts
		w.send(0, r, request, uint32(1), "Pool", uint64(7), uint64(0), "http://shop:80/bread", "GET")
	}
	w.send(1, etw.Record{Kind: etw.KindClassic, Provider: aspNetClass, Opcode: 1}, uint64(7), request, []byte("GET\x00/bread\x00\x00"))
	w.send(1, etw.Record{Kind: etw.KindClassic, Provider: aspNetClass, Opcode: 1}, uint64(8), etw.GUID{}, "POST", "/order", "")
	w.send(4, etw.Record{Kind: etw.KindClassic, Provider: aspNetClass, Opcode: 2}, uint64(7), request)
	w.send(9, etw.Record{Kind: etw.KindClassic, Provider: aspNetClass, Opcode: 2}, uint64(8), etw.GUID{})
	w.send(10, etw.Record{Provider: iisProvider, ID: 2}, request, uint32(100), uint32(50), uint32(503), uint32(0))
	w.send(10, etw.Record{Kind: etw.KindClassic, Provider: iisGeneral, Opcode: 2}, request, uint32(100), uint32(50), uint32(503), uint32(0))
	w.send(11, etw.Record{Provider: iisProvider, ID: 1}, []byte{1, 2}) // too short to tell

	tasks := w.tasks(t)
	want(t, tasks, "IIS/Request", 1, 10, "GET http://shop:80/bread", "503")
	want(t, tasks, "ASP.NET/Request", 2, 8, "POST /order", "")
	if tasks["IIS/Request"].Errors.Or(-1) != 1 || tasks["ASP.NET/Request"].Slowest[1].Name != "GET /bread" {
		t.Errorf("%+v", tasks)
	}
	if p := w.a.Result().Processes[0]; p.StopsWithoutStart != 0 || p.Open != 0 {
		t.Errorf("%+v", p)
	}
}

// All requests of one connection have its activity when they begin, and their own later.
func TestHTTPSysConnection(t *testing.T) {
	w := newWire(t)
	event := func(id uint16) etw.Record { return etw.Record{Provider: httpProvider, ID: id} }
	connection := etw.GUID{7}
	for i := range 5 {
		number, at := uint64(100+i), 10*i
		w.Activity = connection
		w.send(at, event(1), number, uint64(3), uint32(0))
		w.Activity = etw.GUID{8, byte(i)}
		w.send(at+1, event(2), uint64(0xffff), uint32(4), fmt.Sprintf("http://shop/item/%d?x=1", i))
		w.send(at+4, event(12), number, uint16(304))
	}
	// Two that are on at once: the numbers tell them apart.
	w.Activity = connection
	w.send(60, event(1), uint64(200), uint64(3), uint32(0))
	w.send(61, event(1), uint64(201), uint64(3), uint32(0))
	w.Activity = etw.GUID{9, 1}
	w.send(62, event(10), uint64(200), uint16(500))
	w.Activity = etw.GUID{9, 2}
	w.send(69, event(10), uint64(201), uint16(200))

	p := w.a.Result().Processes[0]
	if p.Started != 7 || p.Stopped != 7 || p.Open+p.StopsWithoutStart+p.LostStops != 0 {
		t.Errorf("%+v", p)
	}
	task := p.Tasks[0]
	if task.Count != 7 || task.Errors.Or(-1) != 1 || task.DurationMS.Total != 5*4+2+8 {
		t.Errorf("%+v", task)
	}
	if len(task.Endpoints) != 1 || task.Endpoints[0].Endpoint != "/item/*" || task.Endpoints[0].Count != 5 {
		t.Errorf("endpoints %+v", task.Endpoints)
	}
}

// Requests of http.sys go by their number, or by the activity, whatever process the
// kernel was in.
func TestHTTPSys(t *testing.T) {
	w := newWire(t)
	event := func(id uint16) etw.Record { return etw.Record{Provider: httpProvider, ID: id} }
	w.Activity = etw.GUID{9}
	w.send(0, event(1), uint64(0), uint64(3), uint32(0))
	w.send(1, event(2), uint64(0xffff), uint32(4), "http://shop/x")
	w.PID = 77
	w.send(5, event(10), uint64(21), uint16(200))
	w.Activity = etw.GUID{}
	w.send(6, event(1), uint64(22), uint64(3), uint32(0))
	w.send(7, event(3), uint64(0xffff), uint64(22), uint32(1), "Pool", "http://shop/y", uint32(0))
	w.send(8, event(12), uint64(22), uint16(404))
	w.send(9, event(12), uint64(22), uint16(404)) // again
	w.Activity = etw.GUID{8}
	w.send(10, event(1), uint64(0), uint64(3), uint32(0))
	w.send(11, event(16), uint64(0), uint32(1), uint32(2)) // from the cache

	res := w.a.Result()
	if len(res.Processes) != 1 || res.Processes[0].PID != systemProcess || res.Processes[0].StopsWithoutStart != 0 || res.Processes[0].Open != 0 {
		t.Fatalf("%+v", res.Processes)
	}
	tasks := w.tasks(t)
	want(t, tasks, "Microsoft-Windows-HttpService/Request", 3, 5, "http://shop/x", "200")
	if s := tasks["Microsoft-Windows-HttpService/Request"].Slowest[1]; s.Name != "http://shop/y" || s.Status != "404" || s.ID != "22" {
		t.Errorf("%+v", s)
	}
}

func field(name string, typ etw.InType) etw.FieldDesc { return etw.FieldDesc{Name: name, Type: typ} }

func schema(provider, name string, fields ...etw.FieldDesc) etw.Record {
	return etw.Record{Provider: etw.GUID{7: 0x50}, ProviderName: provider, Schema: &etw.EventDesc{Name: name, Fields: fields}}
}

func TestClients(t *testing.T) {
	w := newWire(t)
	const framework, otel, http = "System.Diagnostics.Eventing.FrameworkEventSource", "OpenTelemetry-Sdk", "System.Net.Http"
	id, uri := field("id", etw.InInt64), field("uri", etw.InUnicodeString)
	w.send(0, schema(framework, "BeginGetRequestStream", id, uri), int64(5), "http://a/")
	w.send(1, schema(framework, "BeginGetResponse", id, uri), int64(5), "http://a/")
	w.send(2, schema(framework, "EndGetRequestStream", id), int64(5))
	w.send(4, schema(framework, "EndGetResponse", id, field("statusCode", etw.InInt32)), int64(5), int32(500))
	w.send(4, schema(framework, "EndGetResponse", id, field("statusCode", etw.InInt32)), int64(6), int32(200)) // began before

	name, text := field("name", etw.InUnicodeString), field("id", etw.InUnicodeString)
	w.send(5, schema(otel, "ActivityStarted", name, text), "checkout", "00-1-2-01")
	w.send(8, schema(otel, "ActivityStopped", name, text), "checkout", "00-1-2-01")

	n := field("connectionId", etw.InInt64)
	w.send(10, schema(http, "ConnectionEstablished", n, field("scheme", etw.InUnicodeString), field("host", etw.InUnicodeString), field("port", etw.InInt32)), int64(0), "https", "shop", int32(443))
	w.send(30, schema(http, "RequestLeftQueue", field("timeOnQueueMilliseconds", etw.InDouble)), 12.5)
	w.send(30, schema(http, "RequestLeftQueue", field("timeOnQueueMilliseconds", etw.InDouble)), -1.0)
	w.send(31, schema(http, "RequestLeftQueue"))
	w.send(40, schema(http, "ConnectionClosed", n), int64(0))

	tasks := w.tasks(t)
	want(t, tasks, framework+"/GetRequestStream", 1, 2, "http://a/", "")
	want(t, tasks, framework+"/GetResponse", 1, 3, "http://a/", "500")
	want(t, tasks, otel+"/ActivityStarted", 1, 3, "checkout", "")
	want(t, tasks, http+"/HttpConnection", 1, 30, "https://shop:443", "")
	want(t, tasks, http+"/RequestQueue", 1, 12.5, "", "")
	if p := w.a.Result().Processes[0]; p.StopsWithoutStart != 1 || p.Started != 5 || p.Stopped != 6 {
		t.Errorf("%+v", p)
	}
}

// Activities as they are passed on: pairs of texts, as the session has asked for them.
func TestBridge(t *testing.T) {
	w := newWire(t)
	pair := etw.FieldDesc{Name: "Arguments", Type: etw.InStruct, Count: etw.Size{Kind: etw.SizeConst, N: 3}, Fields: []etw.FieldDesc{field("Key", etw.InUnicodeString), field("Value", etw.InUnicodeString)}}
	send := func(ms int, op etw.Opcode, event string, args ...string) {
		r := schema(diagnosticSource, "Activity", field("SourceName", etw.InUnicodeString), field("EventName", etw.InUnicodeString), pair)
		r.Opcode = op
		parts := []any{"Source", event}
		for _, arg := range args {
			parts = append(parts, arg)
		}
		w.send(ms, r, parts...)
	}
	send(20, etw.OpcodeStart, "In.Start", "Path", "/x", "Method", "GET", "", "") // has no path
	send(40, etw.OpcodeStop, "In.Stop", "Duration", "00:00:00.0200000", "Path", "/x", "StatusCode", "500")
	send(41, etw.OpcodeStop, "Out.Stop", "DurationTicks", "30000", "TagObjects", "url.full:http://a/b, http.response.status_code:204", "SpanId", "12")
	send(42, etw.OpcodeStop, "Out.Stop", "Duration", "soon", "", "", "", "")
	w.Activity = actid.Make(1, 0x11)
	send(43, etw.OpcodeStart, "Query.Start", "CommandText", "select 1", "", "", "", "")
	send(45, etw.OpcodeStop, "Query.Stop", "Status", "Error", "Tags", "[http.response.status_code, 0]", "", "")
	w.Activity = actid.Make(1, 0x12)
	send(50, etw.OpcodeStop, "Far.Stop", "ActivityDuration", "990000000000", "Status", "Ok", "", "") // longer than the session

	tasks := w.tasks(t)
	want(t, tasks, diagnosticSource+"/In", 1, 20, "/x", "500")
	want(t, tasks, diagnosticSource+"/Out", 1, 3, "http://a/b", "204")
	want(t, tasks, diagnosticSource+"/Query", 1, 2, "select 1", "0")
	want(t, tasks, diagnosticSource+"/Far", 1, 50, "", "")
	if !tasks[diagnosticSource+"/Far"].Slowest[0].OK || tasks[diagnosticSource+"/Query"].Slowest[0].OK {
		t.Error("it is not passed on which activity is a success")
	}
	if tasks[diagnosticSource+"/Query"].Errors.Or(-1) != 1 || tasks[diagnosticSource+"/Out"].Slowest[0].SpanID != "12" {
		t.Errorf("%+v", tasks)
	}
	if p := w.a.Result().Processes[0]; p.WithoutID != 0 || p.StopsWithoutStart != 0 {
		t.Errorf("%+v", p)
	}
}

// ApplicationInsights reports the calls of a request as requests, too.
func TestInsights(t *testing.T) {
	w := newWire(t)
	r := etw.Record{Provider: insights, ProviderName: "Insights", Schema: &etw.EventDesc{Name: "RequestStart"}, Opcode: etw.OpcodeStart}
	stop := etw.Record{Provider: insights, ProviderName: "Insights", Schema: &etw.EventDesc{Name: "RequestStop"}, Opcode: etw.OpcodeStop}
	w.Activity = actid.Make(1, 0x11)
	w.send(0, r)
	w.Activity, w.Related = actid.Make(1, 0x11, 0x10), w.Activity
	w.send(1, r)
	w.send(2, stop)
	w.Activity, w.Related = actid.Make(1, 0x11), etw.GUID{}
	w.send(3, stop)
	want(t, w.tasks(t), "Insights/Request", 1, 3, "", "")
}

func TestMilliseconds(t *testing.T) {
	for text, want := range map[string]float64{"00:00:00.0141977": 14.1977, "1.02:03:04.5": 93784500, "01:00:00": 3600e3,
		"": -1, "1:2": -1, "x.00:00:01": -1, "00:-1:00": -1, "00:00:NaN": -1, "00:00:1e300": -1} {
		got := milliseconds(text)
		if math.IsNaN(got) {
			got = -1
		}
		if math.Abs(got-want) > 1e-6 {
			t.Errorf("%q is %v, want %v", text, got, want)
		}
	}
}

// FuzzSources gives the events of all sources with payloads of any bytes to the
// analysis.
func FuzzSources(f *testing.F) {
	f.Add([]byte("\x00\x10\x010123456789abcdef\x01\x10\x020123456789abcdef"))
	f.Add([]byte("\x08\x1800000000000000000000000\x09\x0d00000000\xc8\x00"))
	places := slices.SortedFunc(maps.Keys(numbered), func(a, b place) int {
		return cmp.Or(slices.Compare(a.guid[:], b.guid[:]), cmp.Compare(a.id, b.id))
	})
	var records []etw.Record
	for _, at := range places {
		records = append(records, etw.Record{Provider: at.guid, ID: at.id}, etw.Record{Kind: etw.KindClassic, Provider: at.guid, Opcode: etw.Opcode(at.id)})
	}
	fields := []etw.FieldDesc{field("id", etw.InInt64), field("objectId", etw.InInt32), field("timeOnQueueMilliseconds", etw.InDouble),
		field("connectionId", etw.InInt64), field("compositeState", etw.InInt32), field("sqlExceptionNumber", etw.InInt32), field("uri", etw.InUnicodeString)}
	for _, provider := range slices.Sorted(maps.Keys(named)) {
		for _, name := range slices.Sorted(maps.Keys(named[provider])) {
			records = append(records, schema(provider, name, fields...))
		}
	}
	f.Fuzz(func(t *testing.T, script []byte) {
		var mux etw.Mux
		a := New(&mux)
		s := testtrace.NewScript(t, &mux)
		for at := time.Duration(0); len(script) >= 2; at += time.Millisecond {
			r := records[int(script[0])%len(records)]
			n := min(int(script[1]), len(script)-2)
			r.PointerSize, r.Payload = etw.Ptr64, script[2:2+n]
			s.Record(at, 1, &r)
			script = script[2+n:]
		}
		for _, p := range a.Result().Processes {
			if p.Stopped > p.Started+p.StopsWithoutStart {
				t.Errorf("%+v", p)
			}
			for _, task := range p.Tasks {
				if task.DurationMS.Total < 0 || task.ExclusiveMS < 0 || task.Open < 0 {
					t.Errorf("%+v", task)
				}
			}
		}
		if _, err := json.Marshal(a.Result()); err != nil {
			t.Error(err)
		}
	})
}
