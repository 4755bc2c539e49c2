package built

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	known "github.com/etwgen/etwgen/generated/dotnet/counters"
	"github.com/etwgen/etwgen/generated/dotnet/metrics"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/eventpipe/eventpipetest"
	"github.com/etwgen/etwgen/runtime/nettrace"
)

// meters are those that the receiver asks for unless it is told otherwise.
var meters = []string{"System.Runtime", "Microsoft.AspNetCore.Hosting", "Microsoft.AspNetCore.Server.Kestrel", "System.Net.Http"}

// tags are those of instruments that the dashboard tells apart by.
var tags = map[string]string{
	"dotnet.gc.collections":               "gc.heap.generation=gen0",
	"dotnet.gc.last_collection.heap.size": "gc.heap.generation=gen0",
	"http.server.request.duration":        "http.route=/,http.response.status_code=200",
}

var (
	spreads = regexp.MustCompile(`(\.duration|time_in_queue)$`)
	upDown  = regexp.MustCompile(`active|queued|open_|upgraded|heap\..*size$|committed_size|working_set|(cpu|timer|assembly)\.count$`)
)

// measured returns the metrics of a process with all instruments: the first values, and
// their increases.
func measured(t *testing.T) []byte {
	t.Helper()
	const provider = "System.Diagnostics.Metrics"
	var out bytes.Buffer
	w, err := nettrace.NewWriter(&out, nettrace.Header{Clock: etw.Clock{Start: etw.FileTimeOf(time.Now()), Frequency: 1e9}, ProcessID: 4711})
	if err != nil {
		t.Fatal(err)
	}
	at := int64(0)
	write := func(e etw.Event) {
		at += 1000
		payload, err := e.AppendPayload(nil, etw.Ptr64)
		if err == nil {
			d := e.EventDesc()
			err = w.Write(&etw.Record{Provider: nettrace.ProviderGUID(provider), ProviderName: provider, ID: d.ID, Version: d.Version, Level: d.Level, Keywords: d.Keywords,
				Schema: d, ProcessID: 4711, ThreadID: 1, Processor: -1, Timestamp: at, Payload: payload})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for round := range 2 {
		for i, x := range known.Known() {
			if !x.Meter || !slices.Contains(meters, x.Provider) {
				continue
			}
			for _, e := range instrument(&x, int32(i), round) {
				write(e)
			}
		}
	}
	testio.Close(t, w)
	return out.Bytes()
}

// instrument returns the events of an instrument: in the first round that it is there,
// and a value in each.
func instrument(x *known.Info, id int32, round int) (list []etw.Event) {
	text := etw.MakeUTF16
	session, meter, name, unit, tag := text("s"), text(x.Provider), text(x.Name), text(x.Unit), text(tags[x.Name])
	kind := "ObservableCounter`1"
	var value etw.Event = &metrics.CounterRateValuePublished{SessionID: session, MeterName: meter, InstrumentName: name, Unit: unit, Tags: tag, Rate: text("1"), Value: text(fmt.Sprint(round + 1)), InstrumentID: id}
	switch {
	case spreads.MatchString(x.Name):
		kind = "Histogram`1"
		value = &metrics.HistogramValuePublished{SessionID: session, MeterName: meter, InstrumentName: name, Unit: unit, Tags: tag, Quantiles: text("0.5=1;0.95=2;0.99=3"), Count: 2, Sum: 3, InstrumentID: id}
	case upDown.MatchString(x.Name):
		kind = "ObservableUpDownCounter`1"
		value = &metrics.UpDownCounterRateValuePublished{SessionID: session, MeterName: meter, InstrumentName: name, Unit: unit, Tags: tag, Rate: text("1"), Value: text(fmt.Sprint(round + 1)), InstrumentID: id}
	}
	if round == 0 {
		list = append(list, &metrics.BeginInstrumentReporting{SessionID: session, MeterName: meter, InstrumentName: name, InstrumentType: text(kind), Unit: unit, InstrumentID: id})
	}
	return append(list, value)
}

// listen has a process deliver a trace, and go on until it is stopped.
func listen(t *testing.T, dir string, pid int64, events []byte) {
	t.Helper()
	rt := eventpipetest.NewRuntime(10)
	rt.PID, rt.Cookie = pid, etw.GUID{byte(pid)}
	rt.Stream, rt.Rest = events[:len(events)-1], events[len(events)-1:]
	_, end, err := rt.Listen(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(end)
}

// expressions returns the queries of the dashboard.
func expressions(t *testing.T) (list []string) {
	t.Helper()
	b := testio.Read(t, "../../examples/grafana.json")
	var board struct {
		Panels []struct {
			Targets []struct{ Expr string }
		}
	}
	testio.JSON(t, b, &board)
	for _, p := range board.Panels {
		for _, target := range p.Targets {
			list = append(list, target.Expr)
		}
	}
	return list
}

var (
	series  = regexp.MustCompile(`\b(?:dotnet|etwgen|http|kestrel)_[a-z0-9_]+\{`)
	own     = regexp.MustCompile(`otelcol_(receiver_dotnet_[a-z]+(?:_[a-z]+)*)`)
	grouped = regexp.MustCompile(`by \(([^)]*)\)`)
)

// TestOwnMetrics has the dashboard ask for the receiver's metrics on itself.
func TestOwnMetrics(t *testing.T) {
	metadata := testio.Read(t, "../../dotnetreceiver/metadata.yaml")
	n := 0
	for _, expr := range expressions(t) {
		for _, m := range own.FindAllStringSubmatch(expr, -1) {
			n++
			if !bytes.Contains(metadata, []byte("\n    "+m[1]+":\n")) {
				t.Errorf("%s: the receiver has no %s", expr, m[1])
			}
		}
	}
	if n == 0 {
		t.Error("the dashboard asks for none")
	}
}

// TestDashboard has two processes, of which one has all instruments and the other
// collections, and compares the metrics of the exporter for Prometheus with the queries of
// the dashboard: names of series, and of the labels that these are told apart by.
func TestDashboard(t *testing.T) {
	need(t)
	dir := t.TempDir()
	gc := testio.Read(t, "../../../tests/recorded/gc.nettrace")
	for i, events := range [][]byte{measured(t), gc} {
		folder := filepath.Join(dir, fmt.Sprint(i))
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		listen(t, folder, int64(i+1), events)
	}
	lines := scrape(t, dir)
	n := 0
	for _, expr := range expressions(t) {
		for _, name := range series.FindAllString(expr, -1) {
			n++
			i := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, name) })
			if i < 0 {
				t.Errorf("%s: nobody exports %s", expr, strings.TrimSuffix(name, "{"))
				continue
			}
			for _, m := range grouped.FindAllStringSubmatch(expr, -1) {
				for label := range strings.SplitSeq(m[1], ", ") {
					if label != "job" && label != "instance" && !strings.Contains(lines[i], "{"+label+`="`) && !strings.Contains(lines[i], ","+label+`="`) {
						t.Errorf("%s: there is no label %s: %s", expr, label, lines[i])
					}
				}
			}
		}
	}
	if n == 0 {
		t.Error("the dashboard asks for nothing")
	}
}

// scrape runs a collector that attaches to the processes of a folder, and returns the output
// of its exporter for Prometheus once both have metrics.
func scrape(t *testing.T, dir string) []string {
	t.Helper()
	for range 5 { // somebody else may take the port in between
		l := testio.Listen(t, "tcp", "127.0.0.1:0")
		address := l.Addr().String()
		l.Close()
		config := filepath.Join(t.TempDir(), "config.yaml")
		text := fmt.Sprintf(`
receivers:
  dotnet:
    targets: [{socket: '%s/*/*'}]
    counters: {interval: 100ms}
    meters: {interval: 100ms}
exporters:
  prometheus: {endpoint: '%s'}
service:
  telemetry: {metrics: {level: none}}
  pipelines:
    metrics: {receivers: [dotnet], exporters: [prometheus]}
`, dir, address)
		testio.Write(t, config, text)
		if lines := poll(t, config, address); lines != nil {
			return lines
		}
	}
	t.Fatal("no collector gets a port")
	return nil
}

// poll runs a collector until its exporter has the awaited metrics. It returns nil if the
// collector ends.
func poll(t *testing.T, config, address string) []string {
	t.Helper()
	var log bytes.Buffer
	cmd := exec.Command(os.Getenv("ETWGEN_COLLECTOR"), "--config", config)
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); cmd.Wait() }()
	defer func() { cmd.Process.Kill(); <-ended }()
	client := &http.Client{Timeout: 5 * time.Second}
	defer client.CloseIdleConnections()
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		select {
		case <-ended:
			t.Logf("the collector has ended:\n%s", log.String())
			return nil
		default:
		}
		if r, err := client.Get("http://" + address + "/metrics"); err == nil {
			body, err := io.ReadAll(r.Body)
			r.Body.Close()
			if err == nil && bytes.Contains(body, []byte("\nkestrel_")) && bytes.Contains(body, []byte("\netwgen_dotnet_gc_pause")) {
				return strings.Split(string(body), "\n")
			}
		}
		if time.Now().After(end) {
			cmd.Process.Kill()
			<-ended
			t.Fatalf("it takes too long until there are metrics:\n%s", log.String())
		}
	}
}
