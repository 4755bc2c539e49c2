package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/runtime/etl/etltest"
	"github.com/etwgen/etwgen/runtime/etw"
)

// reusedTrace has two programs that have one number in turn, each with a thread.
func reusedTrace() ([]byte, error) {
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
	life(10, "first.exe", 30, 2, 1000)
	life(30, "second.exe", 34, 3, 500)
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
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
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
	} {
		out, said, code := output(append(strings.Fields(c.ask), "--format", "csv", path)...)
		if code != 0 || !strings.Contains(out, c.want) || strings.Contains(out, c.not) {
			t.Errorf("%s: exit code %d, %q, %s", c.ask, code, said, out)
		}
	}
}
