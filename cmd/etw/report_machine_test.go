package main

import (
	"cmp"
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etl/etltest"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/corpus"
)

// A pageModel is the data of a page for its scripts.
type pageModel struct {
	Head     string
	Warnings []string
	Views    []struct {
		Label    string
		Machine  bool
		Sections []struct {
			ID     string
			Tables []pageTable
		}
	}
	Missing []struct{ Section, Command string }
	Texts   []string
	data    string // all of it
}

type pageTable struct {
	ID      string
	Columns []struct {
		K string
		N []*float64
		T []int
	}
}

// pageOf returns the model of the page of a trace.
func pageOf(t *testing.T, args ...string) *pageModel {
	t.Helper()
	_, page, _ := runReport(args...)
	_, text, _ := strings.Cut(page, `<script type="application/json" id="data">`)
	text, _, ok := strings.Cut(text, "</script>")
	m := &pageModel{data: text}
	if err := json.Unmarshal([]byte(text), m); !ok || err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	return m
}

// rows returns the rows of a table of the machine, by the names of columns: numbers and texts.
func (m *pageModel) rows(id string) (list []map[string]any) {
	for _, v := range m.Views {
		for _, s := range v.Sections {
			for _, tab := range s.Tables {
				if !v.Machine || tab.ID != id {
					continue
				}
				for _, c := range tab.Columns {
					for i := range max(len(c.N), len(c.T)) {
						if i == len(list) {
							list = append(list, make(map[string]any))
						}
						if c.T != nil {
							list[i][c.K] = m.Texts[c.T[i]]
						} else if c.N[i] != nil {
							list[i][c.K] = *c.N[i]
						}
					}
				}
			}
		}
	}
	return list
}

// sum adds up a column of rows.
func sum(rows []map[string]any, column string) (total float64) {
	for _, r := range rows {
		v, _ := r[column].(float64)
		total += v
	}
	return total
}

// machineTraces are the .etl files of the corpus.
func machineTraces(t *testing.T) []string {
	return corpus.Glob(t, "etl", "*.etl")
}

// dumpSums adds up the events of a trace as etw dump prints them, with nothing of analyses.
func dumpSums(t *testing.T, path string) map[string]float64 {
	_, out, _ := runTool("dump", "--format", "jsonl", path)
	sums := make(map[string]float64)
	for line := range strings.Lines(out) {
		var e struct {
			Event  string
			Pid    int64
			Fields map[string]any
		}
		testio.JSON(t, line, &e)
		number := func(name string) float64 {
			switch v := e.Fields[name].(type) {
			case float64:
				return v
			case string:
				n, _ := strconv.ParseInt(v, 0, 64)
				return float64(n)
			}
			return 0
		}
		name := e.Event[strings.LastIndex(e.Event, "|")+1:]
		switch {
		case strings.HasPrefix(name, "DiskIo/Read") && e.Fields["TransferSize"] != nil:
			sums["disk reads"]++
			sums["disk bytes read"] += number("TransferSize")
		case strings.HasPrefix(name, "DiskIo/Write") && e.Fields["TransferSize"] != nil:
			sums["disk writes"]++
			sums["disk bytes written"] += number("TransferSize")
		case (strings.HasPrefix(name, "TcpIp/Send") || strings.HasPrefix(name, "UdpIp/Send")) && e.Fields["size"] != nil:
			sums["sent"]++
			sums["bytes sent"] += number("size")
		case (strings.HasPrefix(name, "TcpIp/Recv") || strings.HasPrefix(name, "UdpIp/Recv")) && e.Fields["size"] != nil:
			sums["received"]++
			sums["bytes received"] += number("size")
		case strings.HasPrefix(name, "PerfInfo/Sample") && e.Fields["InstructionPointer"] != nil:
			sums["samples"]++
		case strings.HasPrefix(name, "PageFault/HardFault") && e.Fields["ByteCount"] != nil:
			sums["faults"]++
			sums["bytes of faults"] += number("ByteCount")
		case strings.HasPrefix(name, "Thread/CSwitch") && e.Fields["NewThreadId"] != nil:
			sums["switches"]++
		}
	}
	return sums
}

// runTool runs a command.
func runTool(args ...string) (code int, stdout, stderr string) {
	var out, errs strings.Builder
	code = run(args, strings.NewReader(""), &out, &errs)
	return code, out.String(), errs.String()
}

// The tables of a machine add up to the events, which are added up here without analyses.
func TestReportMachineSums(t *testing.T) {
	seen := make(map[string]bool)
	for _, path := range machineTraces(t) {
		m, want := pageOf(t, path), dumpSums(t, path)
		disks, net, threads := m.rows("machine-disks-disk"), m.rows("machine-network-connection"), m.rows("machine-threads-thread")
		got := map[string]float64{
			"disk reads": sum(disks, "reads"), "disk bytes read": sum(disks, "bytesRead"), "disk writes": sum(disks, "writes"), "disk bytes written": sum(disks, "bytesWritten"),
			"sent": sum(net, "sent"), "bytes sent": sum(net, "bytesSent"), "received": sum(net, "received"), "bytes received": sum(net, "bytesReceived"),
			"faults": sum(m.rows("machine-faults-file"), "faults"), "bytes of faults": sum(m.rows("machine-faults-file"), "bytes"),
			"samples": sum(threads, "samples"), "switches": sum(threads, "switches"),
		}
		for name := range maps.Keys(got) {
			if got[name] != want[name] {
				t.Errorf("%s: %s: the page has %v, the events %v", filepath.Base(path), name, got[name], want[name])
			}
			seen[name] = seen[name] || want[name] > 0
		}
		told := 0.0 // by the call trees of processes, each of its own
		for _, f := range samplesFact.FindAllStringSubmatch(m.data, -1) {
			n, _ := strconv.Atoi(f[1])
			told += float64(n)
		}
		if told > want["samples"] {
			t.Errorf("%s: call trees tell of %v samples, of %v", filepath.Base(path), told, want["samples"])
		}
		seen["trees"] = seen["trees"] || told > 0
	}
	if len(seen) == 0 || !seen["disk reads"] || !seen["bytes sent"] || !seen["samples"] || !seen["switches"] || !seen["faults"] || !seen["trees"] {
		t.Errorf("no trace has these: %v", seen)
	}
}

// Rows of processes are those of the commands.
func TestReportMachineCommands(t *testing.T) {
	for _, path := range machineTraces(t) {
		rows := pageOf(t, path).rows("machine-processes-used")
		if len(rows) == 0 {
			continue
		}
		var doc struct {
			Processes []struct {
				PID              int64
				Name             string
				Threads, Images  int
				StartMS          *float64
				SampledMS, RanMS *float64
			}
		}
		_, out, _ := runTool("processes", "--json", path)
		if err := json.Unmarshal([]byte(out), &doc); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		known := 0 // of others there are records that name them, and nothing else
		for _, p := range doc.Processes {
			if p.Name != "" || p.Threads+p.Images > 0 || p.StartMS != nil || *cmp.Or(p.SampledMS, new(float64))+*cmp.Or(p.RanMS, new(float64)) > 0 {
				known++
			}
		}
		if len(rows) < known || len(rows) > len(doc.Processes) {
			t.Errorf("%s: the page has %d processes, etw processes %d, of which %d are known", filepath.Base(path), len(rows), len(doc.Processes), known)
		}
		for _, column := range []struct {
			name string
			of   func(i int) *float64
		}{
			{"sampledMs", func(i int) *float64 { return doc.Processes[i].SampledMS }},
			{"ranMs", func(i int) *float64 { return doc.Processes[i].RanMS }},
		} {
			total := 0.0
			for i := range doc.Processes {
				if v := column.of(i); v != nil {
					total += *v
				}
			}
			if got := sum(rows, column.name); math.Abs(got-total) > 0.05*float64(len(rows)) {
				t.Errorf("%s: %s: the page has %v, etw processes %v", filepath.Base(path), column.name, got, total)
			}
		}
	}
}

// A page has advice for .NET only where there is .NET, and names the tools of the system.
func TestReportAdvice(t *testing.T) {
	m := pageOf(t, corpus.File(t, "etl", "diaghub.kernel.1.etl"))
	if len(m.Missing) == 0 || !strings.HasPrefix(m.Head, "liha-test · ") {
		t.Errorf("%q, %v", m.Head, m.Missing)
	}
	for _, a := range m.Missing {
		if !strings.HasPrefix(a.Section, "machine-") || strings.Contains(a.Command, "dotnet-trace") && !strings.Contains(a.Command, "wpr") {
			t.Errorf("without .NET: %v", a)
		}
	}
	m = pageOf(t, corpus.File(t, "etl", "net.4.5.2.x64.etl"))
	named := 0
	for _, a := range m.Missing {
		if strings.Contains(a.Command, "PID") {
			t.Errorf("of Windows: %v", a)
		}
		if strings.HasPrefix(a.Command, "PerfView /OnlyProviders:") {
			named++
		}
	}
	doubtful := func(w string) bool { return strings.Contains(w, ": ticks of runtimes before .NET 5 ") }
	if named == 0 || !strings.HasPrefix(m.Head, "BRIANROB-W8 · Windows 8 Pro") || len(slices.DeleteFunc(m.Warnings, doubtful)) > 0 {
		t.Errorf("%q, %v, %v", m.Head, m.Missing, m.Warnings)
	}
	m = pageOf(t, recordedPath("gc.nettrace"))
	if len(m.Views) != 1 || m.Views[0].Machine || len(m.Missing) == 0 {
		t.Errorf("of .NET alone: %d views, %v", len(m.Views), m.Missing)
	}
	for _, a := range m.Missing {
		if !strings.HasPrefix(a.Command, "dotnet-trace collect -p PID --providers ") {
			t.Errorf("of .NET alone: %v", a)
		}
	}
}

// Missing events of a command are recorded by the tools that have made the trace.
func TestNeedsOfWindows(t *testing.T) {
	path := corpus.File(t, "etl", "diaghub.kernel.1.etl")
	code, _, stderr := runTool("gc", path)
	if code != cli.ExitNone || !strings.Contains(stderr, "to record them: PerfView /OnlyProviders:Microsoft-Windows-DotNETRuntime:0x1:") || strings.Contains(stderr, "PID") {
		t.Errorf("exit code %d, %s", code, stderr)
	}
	_, out, _ := runTool("gc", "--json", path)
	if !strings.Contains(out, `"command":"PerfView /OnlyProviders:`) || strings.Contains(out, "etw collect") {
		t.Errorf("JSON: %s", out)
	}
	if _, _, stderr := runTool("gc", recordedPath("rundown.nettrace")); !strings.Contains(stderr, "etw collect -p PID") {
		t.Errorf("of .NET: %s", stderr)
	}
}

// Parts of the time have the parts of requests to disks: those of two parts add up to the whole.
func TestDisksOfPart(t *testing.T) {
	path := corpus.File(t, "etl", "net.4.5.2.x64.etl")
	times := func(args ...string) (sums [3]float64) {
		_, out, _ := runTool(slices.Concat([]string{"files", "--disks", "--by", "disk", "--format", "csv"}, args, []string{path})...)
		rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
		if err != nil || len(rows) < 2 {
			t.Fatal(err, out)
		}
		for i, name := range []string{"ms", "serviceMs", "busyMs"} {
			sums[i], err = strconv.ParseFloat(rows[1][slices.Index(rows[0], name)], 64)
			if err != nil {
				t.Fatal(err)
			}
		}
		return sums
	}
	whole, first, second := times(), times("--to", "3410ms"), times("--from", "3410ms")
	for i := range whole {
		if sum := first[i] + second[i]; first[i] == 0 || second[i] == 0 || math.Abs(sum-whole[i]) > 0.01 {
			t.Errorf("%v and %v, of %v", first, second, whole)
		}
	}
}

// TestReportOfOverwritten: where the begin of a processor was overwritten, that threads waited for
// one is not told.
func TestReportOfOverwritten(t *testing.T) {
	var k kernelLog
	to := func(ms float64, cpu int32, old, fresh uint32) {
		k.log(ms, -1, -1, cpu, &kernel.ThreadCSwitchV4{OldThreadID: old, NewThreadID: fresh, OldThreadState: kernel.ThreadStateWaiting})
	}
	k.log(0, -1, -1, 0, &kernel.ProcessDCStartV4{ImageFileName: etw.ANSI("Idle")}) // whose number findings of the trace have
	to(1, 0, 0, 30)
	to(2, 0, 30, 20)
	k.log(3, -1, -1, 0, &kernel.ThreadReadyThreadV2{TThreadID: 30})
	to(153, 0, 20, 30)
	to(155, 1, 0, 40)
	to(156, 1, 40, 0)
	to(160, 0, 30, 0)
	for _, overwritten := range []bool{false, true} {
		h := header()
		if overwritten {
			h.Mode = etl.ModeCircular
		}
		data, err := etltest.File(h, k.records...)
		if err != nil || k.err != nil {
			t.Fatal(err, k.err)
		}
		if overwritten {
			at, err := headerPayload(data)
			if err != nil {
				t.Fatal(err)
			}
			binary.LittleEndian.PutUint32(data[at+36:], 1000) // buffers that were written
		}
		path := filepath.Join(t.TempDir(), "machine.etl")
		write(t, path, data)
		out, stderr, code := output("report", "--format", "csv", path)
		if code != 0 || strings.Contains(out, "machine.ready,threads,0,,") == overwritten {
			t.Errorf("overwritten %v: code %d, %s, %s", overwritten, code, stderr, out)
		}
	}
}

// TestReportOfPart: of a part by process it is said that interrupts are not known, which the whole has.
func TestReportOfPart(t *testing.T) {
	path, part := markedTrace(t, nil), filepath.Join(t.TempDir(), "part.etl")
	if said, code := filtered("--process", "200", "-o", part, path); code != 0 {
		t.Fatal(said)
	}
	const untold = "whether interrupts and DPCs kept processors is not known"
	for _, x := range []struct {
		args []string
		want bool
	}{{[]string{part}, true}, {[]string{"--process", "200", path}, false}, {[]string{path}, false}} {
		for _, format := range []string{"text", "json"} {
			if out, stderr, code := output(append([]string{"report", "--format", format}, x.args...)...); code != 0 || strings.Contains(strings.Join(strings.Fields(out), " "), untold) != x.want {
				t.Errorf("%q: code %d, %s\n%s", x.args, code, stderr, out)
			}
		}
	}
}
