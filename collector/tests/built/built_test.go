// Package built tests a collector that the collector's builder has made of
// cmd/otelcol-etwgen/builder.yaml, as its users run it.
package built

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/etwgen/etwgen/export/otlp"
	"github.com/etwgen/etwgen/internal/builtin"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

var moreTraces = flag.String("traces", "", "patterns of more traces to read, with commas between them")

// configuration is that of the collector, with a folder of traces, one for its output, and
// options of the receiver.
const configuration = `
extensions:
  file_storage: {directory: %[2]s}
receivers:
  trace_file:
    include: ['%[1]s/**/*']
    storage: file_storage
    poll_interval: 20ms%[3]s
exporters:
  file: {path: %[2]s/out.jsonl, rotation: {max_megabytes: 10000}}
service:
  extensions: [file_storage]
  telemetry: {metrics: {level: none}}
  pipelines:
    logs: {receivers: [trace_file], exporters: [file]}
`

// A collector is a process that runs.
type collector struct {
	t   *testing.T
	cmd *exec.Cmd
	mu  sync.Mutex
	log bytes.Buffer
	end chan struct{}
}

// start starts a collector that reads the traces of a folder.
func start(t *testing.T, traces, out, options string) *collector {
	t.Helper()
	return launch(t, out, fmt.Sprintf(configuration, traces, out, options))
}

// launch starts a collector with a configuration, which is put into a folder.
func launch(t *testing.T, out, text string) *collector {
	t.Helper()
	config := filepath.Join(out, "config.yaml")
	testio.Write(t, config, text)
	c := &collector{t: t, cmd: exec.Command(os.Getenv("ETWGEN_COLLECTOR"), "--config", config), end: make(chan struct{})}
	errs, err := c.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(c.end)
		in := bufio.NewReader(errs)
		for {
			line, err := in.ReadString('\n')
			c.mu.Lock()
			c.log.WriteString(line)
			c.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() { c.cmd.Process.Kill() })
	return c
}

func (c *collector) says(text string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Contains(c.log.String(), text)
}

// wait waits until something holds.
func (c *collector) wait(what string, done func() bool) {
	c.t.Helper()
	for end := time.Now().Add(2 * time.Minute); !done(); time.Sleep(10 * time.Millisecond) {
		select {
		case <-c.end:
			c.t.Fatalf("the collector has ended before %s:\n%s", what, c.log.String())
		default:
		}
		if time.Now().After(end) {
			c.t.Fatalf("it takes too long until %s:\n%s", what, c.log.String())
		}
	}
}

// stop ends the collector, as a service is ended.
func (c *collector) stop() {
	c.t.Helper()
	if err := c.interrupt(); err != nil {
		c.t.Errorf("%v:\n%s", err, c.log.String())
	}
}

func (c *collector) interrupt() error {
	c.cmd.Process.Signal(os.Interrupt)
	<-c.end
	return c.cmd.Wait()
}

// readAll reads all there is, and ends the collector. One that has nothing left to read can be
// interrupted before it listens to signals, which ends it at once: then another goes on.
func readAll(t *testing.T, traces, out string) {
	t.Helper()
	for range 20 {
		c := start(t, traces, out, "")
		c.wait("all is read", func() bool { return c.says("all files are read") })
		err := c.interrupt()
		if err == nil {
			return
		}
		if err.Error() != "signal: interrupt" {
			t.Fatalf("%v:\n%s", err, c.log.String())
		}
	}
	t.Error("no collector ended as it should")
}

// sent returns the log records that were exported, by text, with their counts.
func sent(t *testing.T, out string) map[string]int {
	t.Helper()
	all := make(map[string]int)
	exported(t, out, func(_ string, r plog.LogRecord) { all[textOf(r)]++ })
	return all
}

// textOf returns the text of a log record.
func textOf(r plog.LogRecord) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %d %s", r.EventName(), r.Timestamp(), r.SeverityText())
	for k, v := range r.Attributes().All() {
		switch v.Type() {
		case pcommon.ValueTypeMap:
			fmt.Fprintf(&b, " %s={%d}", k, v.Map().Len())
		case pcommon.ValueTypeSlice:
			fmt.Fprintf(&b, " %s=[%d]", k, v.Slice().Len())
		case pcommon.ValueTypeBytes:
			fmt.Fprintf(&b, " %s=%x", k, v.Bytes().AsRaw())
		case pcommon.ValueTypeDouble:
			fmt.Fprintf(&b, " %s=%v", k, v.Double())
		case pcommon.ValueTypeEmpty:
		default:
			if k != "etw.opcode" && k != "etw.task" && k != "etw.version" { // which descriptions say, too
				fmt.Fprintf(&b, " %s=%s", k, v.AsString())
			}
		}
	}
	return b.String()
}

// expected returns the decoded events of a trace, in the same form.
func expected(t *testing.T, path string, all map[string]int) (n int) {
	t.Helper()
	f := testio.Open(t, trace.Open, path)
	defer f.Close()
	d := builtin.NewDecoder()
	severities := []string{"LOG_ALWAYS", "CRITICAL", "ERROR", "WARNING", "INFORMATIONAL", "VERBOSE"}
	for rec, err := range f.Records() {
		if err != nil {
			break
		}
		n++
		e := d.Event(rec)
		var b strings.Builder
		severity := ""
		if int(rec.Level) < len(severities) {
			severity = severities[rec.Level]
		}
		fmt.Fprintf(&b, "%s %d %s etw.provider.id=%s", otlp.EventName(e), max(rec.Clock.Start.Time().UnixNano()+int64(rec.Elapsed()), 0), severity, rec.Provider)
		header(&b, rec)
		values, err := d.Decode(rec)
		if err != nil || values == nil {
			if len(rec.Payload) > 0 {
				fmt.Fprintf(&b, " etw.payload=%x", rec.Payload)
			}
		} else {
			fields(&b, values)
		}
		all[strings.ToValidUTF8(b.String(), "\ufffd")]++
	}
	return n
}

func header(b *strings.Builder, rec *etw.Record) {
	if rec.Kind != etw.KindClassic {
		fmt.Fprintf(b, " etw.event.id=%d", rec.ID)
	}
	fmt.Fprintf(b, " etw.level=%d", rec.Level)
	for _, a := range []struct {
		key   string
		v     int64
		least int64
	}{{"channel", int64(rec.Channel), 1}, {"keywords", int64(rec.Keywords), -1 << 63}, {"process.id", rec.ProcessID, 0}, {"thread.id", rec.ThreadID, 0}, {"cpu", int64(rec.Processor), 0}} {
		if a.v >= a.least && (a.key != "keywords" || a.v != 0) {
			fmt.Fprintf(b, " etw.%s=%d", a.key, a.v)
		}
	}
	if !rec.ActivityID.IsZero() {
		fmt.Fprintf(b, " etw.activity.id=%s", rec.ActivityID)
	}
	if !rec.RelatedActivityID.IsZero() {
		fmt.Fprintf(b, " etw.related_activity.id=%s", rec.RelatedActivityID)
	}
}

// fields writes the fields of an event as the typed decoder has them.
func fields(b *strings.Builder, values etw.Described) {
	seen := make(map[string]bool)
	for i, d := range values.EventDesc().Fields {
		v := values.FieldValue(i)
		key := d.Name
		if key == "" {
			key = "field" + strconv.Itoa(i+1)
		} else if seen[key] {
			key += "_" + strconv.Itoa(i+1)
		}
		seen[d.Name] = true
		text := ""
		switch v.Kind() {
		case etw.ValueNone:
			continue
		case etw.ValueArray:
			n := 0
			for range v.Elements() {
				n++
			}
			text = fmt.Sprintf("[%d]", n)
		case etw.ValueStruct:
			n := 0
			for _, m := range v.Members() {
				if m.Kind() != etw.ValueNone {
					n++
				}
			}
			text = fmt.Sprintf("{%d}", n)
		case etw.ValueBinary:
			text = hex.EncodeToString(v.Bytes())
		case etw.ValueFloat, etw.ValueFloat32:
			text = fmt.Sprint(v.Float())
		case etw.ValueUint, etw.ValueInt, etw.ValuePointer:
			text = strconv.FormatInt(v.Int(), 10)
			if d.Map != nil {
				text = string(etw.AppendFieldPlain(nil, &d, v))
			}
		case etw.ValueUTF16, etw.ValueANSI:
			text = v.Text()
		default:
			text = v.String()
		}
		fmt.Fprintf(b, " %s=%s", key, text)
	}
}

// compare returns how many log records are missing, and how many are too many.
func compare(t *testing.T, got, want map[string]int) (missing, more int) {
	t.Helper()
	shown := 0
	show := func(what, key string) {
		if shown++; shown <= 5 {
			t.Logf("%s: %.400s", what, key)
		}
	}
	for key, n := range want {
		if d := n - got[key]; d > 0 {
			missing += d
			show("missing", key)
		}
	}
	for key, n := range got {
		if d := n - want[key]; d > 0 {
			more += d
			show("too many", key)
		}
	}
	return missing, more
}

// lay lays traces out in a folder, as if they were old.
func lay(t *testing.T, dir string, traces ...string) {
	t.Helper()
	for i, from := range traces {
		b := testio.Read(t, from)
		to := filepath.Join(dir, fmt.Sprintf("%02d-%s", i, filepath.Base(from)))
		testio.Write(t, to, b)
		old := time.Now().Add(-time.Hour)
		if err := os.Chtimes(to, old, old); err != nil {
			t.Fatal(err)
		}
	}
}

// traces returns recorded traces, and with a corpus some of it.
func traces(t *testing.T) []string {
	files := testio.Glob(t, "../../../tests/recorded/*.nettrace")
	if dir := os.Getenv("ETWGEN_CORPUS"); dir != "" {
		for _, pattern := range []string{"etl/gcevents.etl", "etl/primitive-types.etl", "dotnet10/counters.nettrace", "dotnet10/aspnet*.nettrace", "dotnet10/gc-workstation.nettrace", "universal/*.nettrace"} {
			more, _ := filepath.Glob(filepath.Join(dir, pattern))
			files = append(files, more...)
		}
	}
	for pattern := range strings.SplitSeq(*moreTraces, ",") {
		more, _ := filepath.Glob(pattern)
		files = append(files, more...)
	}
	return files
}

func need(t *testing.T) {
	if os.Getenv("ETWGEN_COLLECTOR") == "" {
		t.Skip("ETWGEN_COLLECTOR does not say where the collector is that cmd/otelcol-etwgen/build.sh builds")
	}
}

// TestFiles reads traces, exports them to a file, and does so again: all events are
// there once, with the fields that the decoders find and the counts of etw stat.
func TestFiles(t *testing.T) {
	need(t)
	in, out := t.TempDir(), t.TempDir()
	files := traces(t)
	lay(t, in, files...)
	readAll(t, in, out)
	want, n := make(map[string]int), 0
	for _, path := range files {
		n += expected(t, path, want)
	}
	if missing, more := compare(t, sent(t, out), want); missing+more > 0 {
		t.Errorf("of %d events %d are missing, and %d too many", n, missing, more)
	}
	compareWithTool(t, in, out)
	readAll(t, in, out)
	if missing, more := compare(t, sent(t, out), want); missing+more > 0 {
		t.Errorf("after another run %d events are missing, and %d too many", missing, more)
	}
	t.Logf("%d events of %d traces", n, len(files))
}

// relay sends the output of trace_file by OTLP to the collector's own receiver, and from
// there to the file.
const relay = `
receivers:
  trace_file: {include: ['%[1]s/*'], poll_interval: 20ms}
  otlp: {protocols: {grpc: {endpoint: '127.0.0.1:%[3]s'}, http: {endpoint: '127.0.0.1:%[4]s'}}}
exporters:
  otlp_grpc: {endpoint: '127.0.0.1:%[3]s', tls: {insecure: true}, sending_queue: {enabled: false}, retry_on_failure: {initial_interval: 100ms}}
  otlp_http: {endpoint: 'http://127.0.0.1:%[4]s', sending_queue: {enabled: false}, retry_on_failure: {initial_interval: 100ms}}
  file: {path: %[2]s/out.jsonl, rotation: {max_megabytes: 10000}}
service:
  telemetry: {metrics: {level: none}}
  pipelines:
    logs/read: {receivers: [trace_file], exporters: [%[5]s]}
    logs/write: {receivers: [otlp], exporters: [file]}
`

// TestOTLP sends traces by OTLP: all that the decoders find arrives.
func TestOTLP(t *testing.T) {
	need(t)
	for _, exporter := range []string{"otlp_grpc", "otlp_http"} {
		t.Run(exporter, func(t *testing.T) {
			in, out := t.TempDir(), t.TempDir()
			files := []string{"../../../tests/recorded/gc.nettrace", "../../../tests/recorded/jit.nettrace"}
			lay(t, in, files...)
			c := serve(t, out, func() string { return fmt.Sprintf(relay, in, out, port(t), port(t), exporter) })
			c.wait("all is read", func() bool { return c.says("all files are read") })
			c.stop()
			want, n := make(map[string]int), 0
			for _, path := range files {
				n += expected(t, path, want)
			}
			if missing, more := compare(t, sent(t, out), want); missing+more > 0 {
				t.Errorf("of %d events %d are missing, and %d too many", n, missing, more)
			}
		})
	}
}

// TestKilled kills the collector a dozen times, each time at another place, and starts it
// again: nothing is lost, and nothing is there twice but the batches that were under way.
func TestKilled(t *testing.T) {
	need(t)
	in, out := t.TempDir(), t.TempDir()
	files := []string{"../../../tests/recorded/jit.nettrace", "../../../tests/recorded/rundown.nettrace"}
	if dir := os.Getenv("ETWGEN_CORPUS"); dir != "" {
		for _, name := range []string{"etl/gcevents.etl", "dotnet10/exceptions.nettrace", "dotnet10/netperf-eventsource.netperf"} {
			files = append(files, filepath.Join(dir, name))
		}
	}
	lay(t, in, files...)
	want, n := make(map[string]int), 0
	for _, path := range files {
		n += expected(t, path, want)
	}
	const batch, kills = 64, 12
	slow := fmt.Sprintf("\n    rate_limit: %d\n    batch: {max_records: %d}", n/4, batch)
	early := 0 // times when all was read before: the machine is busy
	for i := range kills {
		c := start(t, in, out, slow)
		before, least := size(out), int64(10_000+i*7%kills*20_000)
		c.wait("something is written", func() bool { return size(out) > before+least || c.says("all files are read") })
		c.cmd.Process.Kill()
		<-c.end
		c.cmd.Wait()
		if c.says("all files are read") {
			early++
		}
	}
	readAll(t, in, out)
	missing, more := compare(t, sent(t, out), want)
	if missing > 0 || more > kills*batch {
		t.Errorf("of %d events %d are missing, and %d too many", n, missing, more)
	}
	t.Logf("%d of %d events are there after %d kills, %d of them twice: %d may be", n-missing, n, kills-early, more, (kills-early)*batch)
}

// size returns how much is exported.
func size(out string) int64 {
	info, err := os.Stat(filepath.Join(out, "out.jsonl"))
	if err != nil {
		return 0
	}
	return info.Size()
}
