package runtimes

import (
	"strings"
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/clr/rundown"
	"github.com/etwgen/etwgen/runtime/etw"
)

func analyze(tb testing.TB, path string) *Result { return testtrace.Analyze(tb, New, path) }

// The programs know their runtime.
func TestTruth(t *testing.T) {
	n := 0
	for _, path := range testtrace.All(t) {
		var truth struct {
			Runtime string
			PID     int64
			Server  bool `json:"server_gc"`
		}
		res := analyze(t, path)
		if !testtrace.Truth(t, path, &truth) || truth.Runtime == "" {
			continue
		}
		for _, rt := range res.Runtimes {
			if rt.PID == truth.PID && rt.Version != "0.0.0.0" {
				n++
				if !strings.HasPrefix(rt.Version, truth.Runtime) || rt.ServerGC != truth.Server {
					t.Errorf("%s: %+v, want %+v", path, rt, truth)
				}
			}
		}
	}
	t.Logf("%d runtimes", n)
}

func TestRuntime(t *testing.T) {
	var mux etw.Mux
	a := New(&mux)
	s := testtrace.NewScript(t, &mux)
	text, ms := etw.MakeUTF16, time.Millisecond
	s.Event(1*ms, 1, &clr.MethodJittingStartedV1{})
	s.Event(2*ms, 1, &clr.MethodJittingStartedV1{})
	s.Event(3*ms, 1, &rundown.ExecutionCheckpointDCEnd{Name: text("b"), Timestamp: 2e6})
	s.Event(3*ms, 1, &clr.ExecutionCheckpoint{Name: text("a"), Timestamp: 1e6})
	s.Event(3*ms, 1, &clr.ExecutionCheckpoint{Name: text("a"), Timestamp: 1e6})
	s.Event(4*ms, 2, &rundown.RuntimeInformationDCStart{ClrInstanceID: 7, BclMajorVersion: 9, StartupFlags: rundown.StartupFlags(clr.StartupFlagsServerGC | clr.StartupFlagsConcurrentGC), CommandLine: text("x y")})
	s.Event(4*ms, 2, &rundown.RuntimeInformationDCStart{ClrInstanceID: 7, BclMajorVersion: 8})
	s.Event(5*ms, 2, &clr.RuntimeInformationStart{ClrInstanceID: 8, BclMajorVersion: 10})
	s.Event(6*ms, 2, &clr.RuntimeInformationStart{ClrInstanceID: 8, BclMajorVersion: 11}) // another process
	all := a.Result().Runtimes
	if len(all) != 4 {
		t.Fatalf("%d runtimes", len(all))
	}
	if rt := all[0]; len(rt.Checkpoints) != 2 || rt.Checkpoints[0].Name != "a" || rt.Checkpoints[1].AtMS != 2 || rt.FirstCompilationMS.Or(0) != 1 {
		t.Errorf("%+v", rt)
	}
	if rt := all[1]; rt.Version != "9.0.0.0" || !rt.ServerGC || !rt.ConcurrentGC || rt.CommandLine != "x y" || !rt.StartMS.IsZero() {
		t.Errorf("%+v", rt)
	}
	if rt := all[2]; rt.Version != "10.0.0.0" || rt.StartMS.Or(0) != 5 || rt.Life != 0 {
		t.Errorf("%+v", rt)
	}
	if rt := all[3]; rt.Version != "11.0.0.0" || rt.StartMS.Or(0) != 6 || rt.Life != 1 {
		t.Errorf("%+v", rt)
	}
}
