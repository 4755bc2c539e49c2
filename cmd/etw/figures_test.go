package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/tests/corpus"
)

// Figures are headline figures of a trace, by name.
type figures map[string]float64

// clrEvents begins the names of events of the .NET runtime.
const clrEvents = "Microsoft-Windows-DotNETRuntime/"

// counted says which figures the number of an event is, and the sum of a field of it.
var counted = map[string]struct{ number, bytes, field string }{
	"Windows Kernel/PerfInfo/Sample":       {number: "samples"},
	"Windows Kernel/Thread/CSwitch":        {number: "switches"},
	"Windows Kernel/DiskIo/Read":           {"disk reads", "disk bytes read", "TransferSize"},
	"Windows Kernel/DiskIo/Write":          {"disk writes", "disk bytes written", "TransferSize"},
	"Windows Kernel/DiskIo/FlushBuffers":   {number: "disk flushes"},
	"Windows Kernel/PageFault/HardFault":   {"hard faults", "bytes of hard faults", "ByteCount"},
	"Windows Kernel/TcpIp/Send":            {"packets sent", "bytes sent", "size"},
	"Windows Kernel/TcpIp/SendIPV6":        {"packets sent", "bytes sent", "size"},
	"Windows Kernel/UdpIp/Send":            {"packets sent", "bytes sent", "size"},
	"Windows Kernel/UdpIp/SendIPV6":        {"packets sent", "bytes sent", "size"},
	"Windows Kernel/TcpIp/Recv":            {"packets received", "bytes received", "size"},
	"Windows Kernel/TcpIp/RecvIPV6":        {"packets received", "bytes received", "size"},
	"Windows Kernel/UdpIp/Recv":            {"packets received", "bytes received", "size"},
	"Windows Kernel/UdpIp/RecvIPV6":        {"packets received", "bytes received", "size"},
	"Windows Kernel/FileIo/Create":         {number: "files opened"},
	"Microsoft-Windows-Kernel-File/Create": {number: "files opened"},
	clrEvents + "GCAllocationTick":         {"allocation ticks", "bytes allocated", "AllocationAmount64"},
	clrEvents + "ExceptionThrown":          {number: "exceptions"},
}

// countDumped makes the figures from the output of dump, event by event, in sums that share
// nothing with the analyses.
func countDumped(t *testing.T, path string) figures {
	t.Helper()
	out, errs, code := output("dump", "--format", "jsonl", path)
	if code > 1 {
		t.Fatal(errs)
	}
	sums, collections, begun := make(figures), make(map[string]bool), make(map[string]bool)
	lines := bufio.NewScanner(strings.NewReader(out))
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var e struct {
			Event, Provider string
			PID             int64
			Fields          map[string]any
		}
		d := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		if err := d.Decode(&e); err != nil {
			t.Fatal(err)
		}
		compilation := func() string { return fmt.Sprint(e.PID, e.Fields["ClrInstanceID"], e.Fields["MethodID"]) }
		name, _, _ := strings.Cut(e.Event, "_V")
		name = e.Provider + "/" + name
		if c, ok := counted[name]; ok {
			sums[c.number]++
			if c.bytes != "" {
				size, _ := e.Fields[c.field].(float64)
				sums[c.bytes] += size
			}
		}
		switch name {
		case clrEvents + "GCStart": // which has two versions of each
			collections[fmt.Sprint(e.PID, e.Fields["ClrInstanceID"], e.Fields["Count"])] = true
			sums["collections"] = float64(len(collections))
		case clrEvents + "MethodJittingStarted":
			begun[compilation()] = true
		case clrEvents + "MethodLoadVerbose": // one that is not loaded was still compiled at the end
			if begun[compilation()] {
				delete(begun, compilation())
				sums["compilations"]++
			}
		}
	}
	return sums
}

// answeredFigures are the same figures, as the answers have them.
func answeredFigures(t *testing.T, path string) figures {
	t.Helper()
	ask := func(name string, into any) {
		t.Helper()
		out, errs, _ := output(name+" --json", path)
		if err := json.Unmarshal([]byte(out), into); err != nil {
			t.Fatalf("%s: %v %s", name, err, errs)
		}
	}
	sums := make(figures)
	var machine struct{ Samples, Switches float64 }
	ask("processes", &machine)
	sums["samples"], sums["switches"] = machine.Samples, machine.Switches
	var files struct {
		Files []struct {
			Opens float64
			Disks []struct{ Reads, BytesRead, Writes, BytesWritten, Flushes float64 }
		}
	}
	ask("files", &files)
	for _, f := range files.Files {
		sums["files opened"] += f.Opens
		for _, d := range f.Disks {
			sums["disk reads"] += d.Reads
			sums["disk bytes read"] += d.BytesRead
			sums["disk writes"] += d.Writes
			sums["disk bytes written"] += d.BytesWritten
			sums["disk flushes"] += d.Flushes
		}
	}
	var faulted struct {
		Faults []struct{ Faults, Bytes float64 }
	}
	ask("files --faults", &faulted)
	for _, f := range faulted.Faults {
		sums["hard faults"] += f.Faults
		sums["bytes of hard faults"] += f.Bytes
	}
	var network struct {
		Connections []struct{ Sent, BytesSent, Received, BytesReceived float64 }
	}
	ask("network", &network)
	for _, c := range network.Connections {
		sums["packets sent"] += c.Sent
		sums["bytes sent"] += c.BytesSent
		sums["packets received"] += c.Received
		sums["bytes received"] += c.BytesReceived
	}
	var gc, jit, exceptions struct{ Runtimes []struct{ Count float64 } }
	for name, into := range map[string]any{"gc": &gc, "jit": &jit, "exceptions": &exceptions} {
		ask(name, into)
	}
	for _, r := range gc.Runtimes {
		sums["collections"] += r.Count
	}
	for _, r := range jit.Runtimes {
		sums["compilations"] += r.Count
	}
	for _, r := range exceptions.Runtimes {
		sums["exceptions"] += r.Count
	}
	var allocs struct {
		Runtimes []struct {
			Ticks struct{ Count, Bytes float64 }
		}
	}
	ask("allocs", &allocs)
	for _, r := range allocs.Runtimes {
		sums["allocation ticks"] += r.Ticks.Count
		sums["bytes allocated"] += r.Ticks.Bytes
	}
	maps.DeleteFunc(sums, func(_ string, n float64) bool { return n == 0 })
	return sums
}

// The figures of commands for a whole trace add up to its events, as dump prints them.
func TestFiguresAreSums(t *testing.T) {
	for _, path := range corpus.Glob(t, "etl", "*.etl") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			want := countDumped(t, path)
			maps.DeleteFunc(want, func(_ string, n float64) bool { return n == 0 })
			if got := answeredFigures(t, path); !maps.Equal(got, want) {
				t.Errorf("%v, want %v", got, want)
			}
		})
	}
}

// The files and times that dump has with hard faults are those that files --faults adds up.
func TestDumpedFaults(t *testing.T) {
	all := 0
	for _, path := range corpus.Glob(t, "etl", "*.etl") {
		want, got := make(figures), make(figures)
		out, _, _ := output("dump --format jsonl -e PageFault/HardFault", path)
		d := json.NewDecoder(strings.NewReader(out))
		for ; d.More(); all++ {
			var e struct {
				Path          string
				MS, ElapsedMS float64
			}
			if err := d.Decode(&e); err != nil {
				t.Fatal(err)
			}
			want[e.Path+" faults"]++
			want[e.Path+" ms"] += e.ElapsedMS
			want[e.Path+" last"] = max(want[e.Path+" last"], e.MS)
		}
		var answer struct {
			Faults []struct {
				Path               string
				Faults, MS, LastMS float64
			}
		}
		out, errs, _ := output("files --faults --json", path)
		if err := json.Unmarshal([]byte(out), &answer); err != nil {
			t.Fatal(err, errs)
		}
		for _, f := range answer.Faults {
			got[f.Path+" faults"] += f.Faults
			got[f.Path+" ms"] += f.MS
			got[f.Path+" last"] = max(got[f.Path+" last"], f.LastMS)
		}
		if !maps.EqualFunc(want, got, func(a, b float64) bool { return math.Abs(a-b) < 1e-3 }) {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
	if all == 0 {
		t.Error("no trace has hard faults")
	}
}

// The files and times that dump has with the operations of disks are those that files --disks
// adds up.
func TestDumpedOperations(t *testing.T) {
	for _, path := range corpus.Glob(t, "etl", "*.etl") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			want, got, spans := make(figures), make(figures), make(map[string][][2]float64)
			out, errs, code := output("dump", "--format", "jsonl", "-e", "DiskIo/Read", "-e", "DiskIo/Write", "-e", "DiskIo/FlushBuffers", path)
			if code > 1 {
				t.Skip(errs)
			}
			d := json.NewDecoder(strings.NewReader(out))
			for d.More() {
				var e struct {
					Path          string
					MS, ElapsedMS float64
					Fields        struct{ TransferSize, DiskNumber float64 }
				}
				if err := d.Decode(&e); err != nil {
					t.Fatal(err)
				}
				got[e.Path+" bytes"] += e.Fields.TransferSize
				got[e.Path+" ms"] += e.ElapsedMS
				disk := fmt.Sprint("disk ", e.Fields.DiskNumber)
				got[e.Path+" service"] += e.MS - max(e.MS-e.ElapsedMS, got[disk+" free"])
				got[disk+" free"] = e.MS
				spans[disk] = append(spans[disk], [2]float64{e.MS - e.ElapsedMS, e.MS})
			}
			for disk, list := range spans {
				delete(got, disk+" free")
				for _, s := range list {
					depth := 1.0
					for _, x := range list {
						if x[0] < s[0] && x[1] > s[0] {
							depth++
						}
					}
					got[disk+" depth"] += depth / float64(len(list))
					got[disk+" most"] = max(got[disk+" most"], depth)
				}
			}
			var answer struct {
				Files []struct {
					Path  string
					Disks []struct{ BytesRead, BytesWritten, MS, ServiceMS float64 }
				}
				Busy []struct{ Disk, QueueDepth, MaxQueueDepth float64 }
			}
			out, errs, _ = output("files --json", path)
			if err := json.Unmarshal([]byte(out), &answer); err != nil {
				t.Fatal(err, errs)
			}
			for _, f := range answer.Files {
				for _, d := range f.Disks {
					want[f.Path+" bytes"] += d.BytesRead + d.BytesWritten
					want[f.Path+" ms"] += d.MS
					want[f.Path+" service"] += d.ServiceMS
				}
			}
			for _, d := range answer.Busy {
				disk := fmt.Sprint("disk ", d.Disk)
				want[disk+" depth"], want[disk+" most"] = d.QueueDepth, d.MaxQueueDepth
			}
			if !maps.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(a-b) < 1e-6 }) {
				t.Errorf("%v, want %v", got, want)
			}
		})
	}
}
