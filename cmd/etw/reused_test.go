package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etl/etltest"
	"github.com/etwgen/etwgen/runtime/etw"
)

// reusedTrace has two programs that have one number in turn, each with a thread.
func reusedTrace() ([]byte, error) { return reusedBy("first.exe", "second.exe") }

// reusedBy is of two programs with these names.
func reusedBy(first, second string) ([]byte, error) {
	var k kernelLog
	life := func(ms float64, name string, tid uint32, samples int, bytes uint32) {
		process := kernel.ProcessStartV4{ProcessID: 300, ImageFileName: etw.ANSI(name)}
		k.log(ms, -1, -1, 0, &process)
		k.log(ms, -1, -1, 0, &kernel.ThreadStartV3{ProcessID: 300, TThreadID: tid})
		k.log(ms+1, -1, -1, 0, &kernel.ThreadCSwitchV4{NewThreadID: tid})
		for i := range samples {
			k.log(ms+2+float64(i), 300, int64(tid), 0, &kernel.PerfInfoSampleV2{ThreadID: tid, Count: 1, InstructionPointer: app})
		}
		k.log(ms+6, -1, -1, 0, &kernel.TCPIPSendV2{PID: 300, Size: bytes})
		k.log(ms+8, -1, -1, 0, &kernel.ThreadCSwitchV4{OldThreadID: tid, OldThreadState: kernel.ThreadStateTerminated})
		stop := kernel.ProcessStopV4(process)
		k.log(ms+8, -1, -1, 0, &stop)
	}
	life(10, first, 30, 2, 1000)
	life(30, second, 34, 3, 500)
	if k.err != nil {
		return nil, k.err
	}
	return etltest.File(header(), k.records...)
}

// TestReusedNumber: of two programs that have one number in turn each has its own, and is found by
// its name.
func TestReusedNumber(t *testing.T) {
	data, err := reusedTrace()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "reused.etl")
	testio.Write(t, path, data)
	for _, c := range []struct{ ask, want, not string }{
		{"top --by process", "3,60,3,second.exe (300)", "then"},
		{"top --by process", "2,40,2,first.exe (300)", "then"},
		{"top --by process --process first", "2,100,2,first.exe (300)", "second"},
		{"stat --by process", "300,first.exe", "then"},
		{"stat --by process --process second.exe", "300,second.exe", "first"},
		{"threads", "300,first.exe,30,,8,7,", "then"},
		{"threads --process second.exe", "300,second.exe,34,,8,7,", "first"},
		{"threads --by switch --process first.exe", "300,first.exe,30,", "second"},
		{"network --process first.exe", "1000", "second"},
		{"processes --process second.exe", "second.exe", "first"},
		{"dump --process first.exe", "first.exe", "second"},
		{"network --process 300", "second.exe", "then"},
		{"timeline --lanes running --buckets 1", "300,first.exe,,running,,ms,sum,0,38,7\n300,second.exe,,running,,ms,sum,0,38,7\n", "then"},
		{"timeline --lanes running --buckets 1 --process first", "300,first.exe,,running,,ms,sum,0,38,7\n", "second"},
		{"timeline --lanes cpu --buckets 1 --process second", "300,second.exe,,cpu,,ms,sum,0,38,3\n", "first"},
		{"timeline --lanes network --buckets 1 --process first", "300,first.exe,,network,,MB,sum,0,38,0.001\n", "second"},
		{"waits --path --process second", "300,second.exe,31,7,runs,34,,\n", "first"},
		{"waits --path --process first", "300,first.exe,11,7,runs,30,,\n", "second"},
		{"report", "300,first.exe,\"Cpu, 40.0 % of that of all processes: 100 % was spent in", "then"},
		{"report --process first", "300,first.exe,\"Cpu: 100 % was spent in", "second"},
		{"report", "300,second.exe,\"Cpu, 60.0 % of that of all processes: 100 % was spent in", "then"},
	} {
		out, said, code := output(append(strings.Fields(c.ask), "--format", "csv", path)...)
		if code != 0 || !strings.Contains(out, c.want) || strings.Contains(out, c.not) {
			t.Errorf("%s: exit code %d, %q, %s", c.ask, code, said, out)
		}
	}
}

// TestReusedNumberPrograms: so do info and the page of a report.
func TestReusedNumberPrograms(t *testing.T) {
	data, err := reusedTrace()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "reused.etl")
	testio.Write(t, path, data)
	out, said, code := output("info", "--format", "jsonl", path)
	if want := `"processes":[{"pid":300,"name":"second.exe","events":7},{"pid":300,"name":"first.exe","events":6}]`; code != 0 || !strings.Contains(out, want) {
		t.Errorf("info: exit code %d, %q, %s", code, said, out)
	}
	page, said, code := output("report", path)
	for _, want := range []string{`"label":"first.exe (300)"`, `"label":"second.exe (300)"`} {
		if code != 0 || !strings.Contains(page, want) {
			t.Errorf("report: exit code %d, %q, no %s", code, said, want)
		}
	}
	if strings.Contains(page, "then second.exe") {
		t.Error("report: numbers of two programs are those of one")
	}
}

// TestReusedNumberAndName: two that also have the same name are two all the same.
func TestReusedNumberAndName(t *testing.T) {
	data, err := reusedBy("shop.exe", "shop.exe")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "reused.etl")
	testio.Write(t, path, data)
	for _, args := range [][]string{{"stat", "--by", "process", "--format", "csv", path}, {"info", "--all", path}} {
		out, said, code := output(args...)
		if n := strings.Count(out, "shop.exe"); code != 0 || n != 2 || strings.Contains(out, "then") {
			t.Errorf("%v: exit code %d, %s, %d rows of shop.exe: %s", args, code, said, n, out)
		}
	}
}
