package prometheus_test

import (
	"fmt"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/analysis/gc"
	"github.com/etwgen/etwgen/export/prometheus"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
)

// run dispatches the records of a recorded trace.
func run(t testing.TB, mux *etw.Mux) {
	t.Helper()
	data := testio.Read(t, "../../tests/recorded/gc.nettrace")
	r := testio.Reader(t, nettrace.NewReader, data)
	if err := mux.Run(t.Context(), r); err != nil {
		t.Fatal(err)
	}
}

// TestLive holds the metrics against the analysis of the whole trace, two times over, as of a
// process that was started again.
func TestLive(t *testing.T) {
	var live prometheus.Live
	var res *gc.Result
	for range 2 {
		var mux, other etw.Mux
		live.Watch(&mux, "service", `a "shop"`)
		run(t, &mux)
		whole := gc.New(&other)
		run(t, &other)
		res = whole.Result()
	}
	w := httptest.NewRecorder()
	live.ServeHTTP(w, nil)
	text := w.Body.String()
	values := make(map[string]float64)
	collections := 0.0
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "} "); ok {
			v, err := strconv.ParseFloat(value, 64)
			if err != nil {
				t.Fatal(err)
			}
			values[name+"}"] = v
			if strings.HasPrefix(name, "dotnet_gc_collections_total{") {
				collections += v
			}
		}
	}
	rt := res.Runtimes[0]
	pause := 2 * rt.PauseMS / 1000
	if got := values[`dotnet_gc_pause_seconds_sum{service="a \"shop\""}`]; got < pause*0.999 || got > pause*1.001 {
		t.Errorf("pauses of %v s, want %v\n%s", got, pause, text)
	}
	if want := float64(2 * rt.Count); collections != want {
		t.Errorf("%v collections, want %v\n%s", collections, want, text)
	}
	for _, name := range []string{"pause_seconds", "promoted_bytes"} {
		all, last := values["dotnet_gc_"+name+`_count{service="a \"shop\""}`], values["dotnet_gc_"+name+`_bucket{service="a \"shop\"",le="+Inf"}`]
		if all == 0 || all != last {
			t.Errorf("%s: %v values, %v in buckets", name, all, last)
		}
	}
}

func ExampleLive() {
	var live prometheus.Live // and http.Handle("GET /metrics", &live)
	var mux etw.Mux
	live.Watch(&mux, "service", "shop")
	for _, e := range mux.Enablement() {
		fmt.Println(e)
	}
	// Output: Microsoft-Windows-DotNETRuntime:0x1:4
}
