package requests

import (
	"strings"
	"testing"

	"github.com/etwgen/etwgen/analysis/internal/actid"
	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/corpus"
)

func TestFolded(t *testing.T) {
	for path, want := range map[string]string{
		"/bread/17?fresh=1": "/bread/*", "/v1/users": "/v1/users", "/a/6f5e73aa-799d-b978-2681-075cc62ccb23/b": "/a/*/b",
		"/d/2026-11-22": "/d/*", "/img/4fe2a91b03cc": "/img/*", "/face": "/face", "/api/v2.1/x": "/api/v2.1/x", "/": "/",
		"/s/eyJhbGciOiJIUzI1NiJ9x0123": "/s/*", "/mp3": "/mp3", "/p/{0}": "/p/*", "/x#12": "/x",
	} {
		if got := folded(path); got != want {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
}

// TestPlaced: the fields of any EventSource that say where a request goes to, or name its work.
func TestPlaced(t *testing.T) {
	for _, test := range []struct{ names, values, want string }{
		{"id,path", "x,/bread/17", "/bread/*"}, {"Verb,URL", "GET,http://shop/bread?a=1", "GET /bread"}, {"url", "shop:80", "shop:80"},
		{"commandText", "SELECT a5 FROM b\n WHERE c = 'x y' AND d = 17 OR e = @p0", "SELECT a5 FROM b WHERE c = * AND d = * OR e = @p0"},
		{"name,Operation", "n,Bake 3", "Bake *"}, {"host", "shop", ""}, {"path", "", ""},
	} {
		var mux etw.Mux
		a := New(&mux)
		desc, payload := &etw.EventDesc{}, []byte{}
		for i, name := range strings.Split(test.names, ",") {
			desc.Fields = append(desc.Fields, text(name))
			for _, c := range strings.Split(test.values, ",")[i] + "\x00" {
				payload = append(payload, byte(c), 0)
			}
		}
		a.fields.Read(&etw.Record{Schema: desc, Payload: payload})
		to := a.placed()
		if got := to.endpoint(); got != test.want {
			t.Errorf("%s of %s: %q, want %q", test.values, test.names, got, test.want)
		}
	}
}

func TestSocketAddress(t *testing.T) {
	for text, want := range map[string]string{
		"InterNetwork:16:{31,144,127,0,0,1,0,0,0,0,0,0,0,0}":                            "127.0.0.1:8080",
		"InterNetworkV6:28:{0,80,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1,0,0,0,0}":      "[::1]:80",
		"InterNetworkV6:28:{0,80,0,0,0,0,0,0,0,0,0,0,0,0,0,0,255,255,10,0,0,1,0,0,0,0}": "10.0.0.1:80",
		"InterNetwork:16:{1,2,3}": "InterNetwork:16:{1,2,3}", "Unix:110:{1}": "Unix:110:{1}", "shop:80": "shop:80", "InterNetwork:16:{300}": "InterNetwork:16:{300}",
	} {
		if got := socketAddress(text); got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
}

// The requests to each path are those that the program counted, on both sides and by both
// ways to record them.
func TestEndpointsAreTrue(t *testing.T) {
	for _, name := range []string{"aspnet", "aspnet-activities"} {
		var truth struct {
			Counts   map[string]int `json:"counts"`
			Statuses map[string]int `json:"responses_by_status"`
		}
		if !testtrace.JSON(t, corpus.File(t, "dotnet10", name+".truth.json"), &truth) {
			continue
		}
		wanted := make(map[string]int)
		for key, n := range truth.Counts {
			if len(key) > 5 && key[:5] == "path " {
				wanted[folded(key[5:])] += n
			}
		}
		wanted["/slow"] += truth.Counts["cancelled_by_client"] // the server sees it, too
		var mux etw.Mux
		a := New(&mux)
		a.Keep(1 << 20)
		testtrace.Run(t, &mux, corpus.File(t, "dotnet10", name+".nettrace"))
		clients, servers := 0, 0
		for _, task := range a.Result().Processes[0].Tasks {
			if len(task.Slowest) != task.Count {
				t.Errorf("%s: %s/%s has %d of %d activities", name, task.Provider, task.Task, len(task.Slowest), task.Count)
			}
			if len(task.Endpoints) == 0 || task.Endpoints[0].Endpoint == NoEndpoint {
				continue
			}
			got, statuses := make(map[string]int), make(map[string]int)
			for _, e := range task.Endpoints {
				to := addressOf(e.Endpoint)
				path := to.path
				if path == "" { // of a client: host and path
					path = e.Endpoint
					if _, rest, ok := strings.Cut(path, " "); ok {
						path = rest
					}
					path = path[strings.Index(path, "/"):]
				}
				got[path] += e.Count
				for _, s := range e.Statuses {
					statuses[s.Status] += s.Count
				}
			}
			for path, n := range wanted {
				if got[path] != n {
					t.Errorf("%s: %s/%s has %d of %s, want %d", name, task.Provider, task.Task, got[path], path, n)
				}
			}
			if len(statuses) == 0 {
				servers++
				continue
			}
			clients++
			for status, n := range truth.Statuses {
				if statuses[status] != n {
					t.Errorf("%s: %s/%s has status %s %d times, want %d", name, task.Provider, task.Task, status, statuses[status], n)
				}
			}
		}
		if clients == 0 || name == "aspnet" && servers != 2 {
			t.Errorf("%s: %d clients and %d servers were held", name, clients, servers)
		}
	}
}

// Spans that have no activity are told apart by their own ids: those of a server, too, whose
// begin the trace may lack; and one that ends is not the other that has its activity.
func TestSpansWithoutActivity(t *testing.T) {
	w := newWire(t)
	pair := []etw.FieldDesc{field("Key", etw.InUnicodeString), field("Value", etw.InUnicodeString)}
	send := func(ms int, op etw.Opcode, source, name string, pairs ...string) {
		end := map[etw.Opcode]string{etw.OpcodeStart: "ActivityStart", etw.OpcodeStop: "ActivityStop"}[op]
		r := etw.Record{Provider: etw.MustParseGUID("adb401e1-5296-51f8-c125-5fda75826144"), ProviderName: diagnosticSource, Opcode: op,
			Schema: &etw.EventDesc{Name: end, Fields: []etw.FieldDesc{field("SourceName", etw.InUnicodeString), field("ActivityName", etw.InUnicodeString),
				{Name: "Arguments", Type: etw.InStruct, Fields: pair, Count: etw.Size{Kind: etw.SizeConst, N: uint32(len(pairs) / 2)}}}}}
		parts := []any{source, name}
		for _, p := range pairs {
			parts = append(parts, p)
		}
		w.send(ms, r, parts...)
	}
	send(0, etw.OpcodeStart, "System.Net.Http", "Out", "SpanId", "a1", "DisplayName", "GET", "Kind", "Client")
	send(1, etw.OpcodeStart, "System.Net.Http", "Out", "SpanId", "a2", "DisplayName", "GET", "Kind", "Client")
	send(2, etw.OpcodeStop, "Microsoft.AspNetCore", "In", "SpanId", "b1", "Kind", "Server", "Duration", "00:00:00.0010000", "TagObjects", "http.route:/item/{id}, http.request.method:GET, http.response.status_code:500, url.path:/item/4")
	send(4, etw.OpcodeStop, "System.Net.Http", "Out", "SpanId", "a2", "TagObjects", "http.request.method:GET, url.full:http://shop:80/item/4?x=1, http.response.status_code:404", "Kind", "Client")
	send(9, etw.OpcodeStop, "System.Net.Http", "Out", "SpanId", "a1", "Kind", "Client")
	w.Activity = actid.Make(1, 0x11)
	send(10, etw.OpcodeStart, "System.Net.Http", "Out", "SpanId", "a3", "Kind", "Client")
	send(11, etw.OpcodeStop, "Microsoft.AspNetCore", "In", "SpanId", "b2", "Kind", "Server") // does not say how long
	send(12, etw.OpcodeStop, "System.Net.Http", "Out", "SpanId", "a3", "Kind", "Client")

	p := w.a.Result().Processes[0]
	if p.Started != 3 || p.Stopped != 5 || p.StopsWithoutStart != 1 || p.Open+p.WithoutID+p.LostStops != 0 {
		t.Errorf("%+v", p)
	}
	tasks := w.tasks(t)
	out, in := tasks[diagnosticSource+"/Out"], tasks[diagnosticSource+"/In"]
	if out.Count != 3 || out.DurationMS.Total != 3+9+2 || out.Errors.Or(-1) != 1 {
		t.Errorf("%+v", out)
	}
	if in.Count != 1 || in.Errors.Or(-1) != 1 || len(in.Endpoints) != 1 || in.Endpoints[0].Endpoint != "GET /item/{id}" {
		t.Errorf("%+v", in)
	}
	if len(out.Endpoints) != 1 || out.Endpoints[0].Endpoint != "GET shop:80/item/*" || out.Endpoints[0].Errors.Or(-1) != 1 {
		t.Errorf("%+v", out.Endpoints)
	}
}

// A failure within a failure is one failure.
func TestErrorsWithin(t *testing.T) {
	w := newWire(t)
	event := func(name string, op etw.Opcode) etw.Record {
		return etw.Record{Provider: etw.GUID{7: 5 << 4}, ProviderName: "System.Net.Http", Opcode: op, Schema: &etw.EventDesc{Name: name, Fields: []etw.FieldDesc{field("statusCode", etw.InInt32)}}}
	}
	for i, status := range []int32{500, 404, 200} {
		outer := actid.Make(1, byte(0x11+i))
		w.Activity, w.Related = outer, etw.GUID{}
		w.send(10*i, event("RequestStart", etw.OpcodeStart), int32(0))
		w.Activity, w.Related = actid.Make(1, byte(0x11+i), 0x10), outer
		w.send(10*i+1, event("ResponseHeadersStart", etw.OpcodeStart), int32(0))
		w.send(10*i+2, event("ResponseHeadersStop", etw.OpcodeStop), max(status, 500)) // the part failed, whatever became of the whole
		w.Activity = outer
		w.send(10*i+3, event("RequestStop", etw.OpcodeStop), status)
	}
	tasks := w.tasks(t)
	if x := tasks["System.Net.Http/Request"]; x.Errors.Or(-1) != 1 || x.ErrorsWithin != 0 {
		t.Errorf("%+v", x)
	}
	if x := tasks["System.Net.Http/ResponseHeaders"]; x.Errors.Or(-1) != 3 || x.ErrorsWithin != 1 {
		t.Errorf("%+v", x)
	}
}
