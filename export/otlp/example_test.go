package otlp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/etwgen/etwgen/analysis/exceptions"
	"github.com/etwgen/etwgen/analysis/gc"
	"github.com/etwgen/etwgen/analysis/requests"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/export/otlp"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// Events as log records, of which a Client sends many at once.
func ExampleLogs() {
	t, err := trace.Open("../../tests/recorded/exceptions.nettrace")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer t.Close()
	decoder := etw.NewDecoder(clr.Provider)
	logs := otlp.NewLogs(otlp.Attribute{Key: "service.name", Value: "shop"})
	for r, err := range t.Records() {
		if err != nil {
			fmt.Println(err)
			break
		}
		if event, err := decoder.Decode(r); err == nil {
			logs.Add(r, decoder.Event(r), event)
		}
	}
	fmt.Println(logs.Count(), "records,", logs.Size() > 0)
	// Output: 29 records, true
}

// The exceptions of a trace as profiles, which a collector takes at /v1development/profiles.
func ExampleProfiles() {
	t, err := trace.Open("../../tests/recorded/answers/exceptions-10.nettrace")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer t.Close()
	var mux etw.Mux
	code, thrown := symbols.New(&mux), exceptions.New(&mux)
	if err := mux.Run(context.Background(), t); err != nil {
		fmt.Println(err)
	}
	profiles := otlp.Profiles{Resource: func(pid int64) []otlp.Attribute {
		return []otlp.Attribute{{Key: "service.name", Value: "shop"}, {Key: "process.pid", Value: pid}}
	}}
	profiles.Add(stacks.NewProfile(code.Table(), stacks.Options{}, thrown.Samples()...), 0)
	fmt.Println(profiles.Count(), "samples,", len(profiles.AppendProto(nil)) > 0)
	// Output: 3 samples, true
}

// The collections of a trace as metrics.
func ExampleMetrics() {
	t, err := trace.Open("../../tests/recorded/gc.nettrace")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer t.Close()
	var mux etw.Mux
	collections := gc.New(&mux)
	if err := mux.Run(context.Background(), t); err != nil {
		fmt.Println(err)
	}
	metrics := otlp.Metrics{Start: t.Start()}
	body := metrics.AppendGC(nil, collections.Result())
	fmt.Println(json.Valid(body))
	// Output: true
}

// Requests as spans: give Add to OnEnd of an analysis of requests, which calls it for each.
func ExampleSpans() {
	spans := otlp.Spans{Start: time.Unix(0, 0)}
	spans.Add(100, "Microsoft.AspNetCore.Hosting", "HttpRequest", requests.Activity{
		Name: "GET /bread", StartMS: 1, DurationMS: 12, Kind: "Server",
		TraceID: "0af7651916cd43dd8448eb211c80319c", SpanID: "b7ad6b7169203331",
	})
	fmt.Println(spans.Count(), "span,", json.Valid(spans.AppendJSON(nil)))
	// Output: 1 span, true
}

// Send waits until the collector has taken the body, and tries again where that helps.
func ExampleClient() {
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Println(r.Method, r.URL.Path, r.Header.Get("Content-Type"))
	}))
	defer collector.Close()
	client, err := otlp.NewClient(collector.URL, nil, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	logs := otlp.NewLogs()
	if err := client.Send(context.Background(), otlp.SignalLogs, logs.AppendJSON(nil)); err != nil {
		fmt.Println(err)
	}
	// Output: POST /v1/logs application/json
}
