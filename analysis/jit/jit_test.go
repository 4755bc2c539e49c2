package jit

import (
	"math"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/clr/private"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/google/go-cmp/cmp"
)

func analyze(tb testing.TB, path string) *Result { return testtrace.Analyze(tb, New, path) }

// The figures were measured before, by another program.
func TestKnownTraces(t *testing.T) {
	// Of two processes together. Nested are those within another one; 270 more
	// begin while a compilation is open whose end was lost.
	res, nested := analyze(t, testtrace.Named(t, "filtrace_etw.etl")), 0
	for _, rt := range res.Runtimes {
		nested += rt.Nested
	}
	if res.Count != 902 || nested != 235 || !testtrace.Near(res.InclusiveMS, 707.692, 6e-4) || !testtrace.Near(res.ExclusiveMS, 608.914, 6e-4) {
		t.Errorf("%d methods, %d nested, %v ms, exclusive %v ms", res.Count, nested, res.InclusiveMS, res.ExclusiveMS)
	}
	better := 0 // versions of methods that were there already
	for _, rt := range res.Runtimes {
		for _, tier := range rt.Tiers {
			if slices.Contains([]string{"OptimizedTier1", "InstrumentedTier", "InstrumentedTierOptimized"}, tier.Name) {
				better += tier.Count
			}
		}
	}
	if better != 287 {
		t.Errorf("%d better versions", better)
	}
	rt := analyze(t, testtrace.Named(t, "eventpipe-dotnetcore3.0-win-x64-objver4.nettrace")).Runtimes[0]
	if p := rt.Precompiled; p == nil || p.Lookups == nil || p.Found != 1455 || p.Missing != 92 || len(p.MissingMethods) != 92 {
		t.Errorf("%+v", p)
	}
}

type peerMethod struct {
	MethodName, ModuleILPath                    string
	StartTimeMSec, CompileCpuTimeMSec           float64
	ILSize, NativeSize, AllocatedSizeForJitCode uint32
	OptimizationTier                            clr.OptimizationTier
	ThreadID                                    int64
	VersionID                                   uint64
	CompilationThreadKind                       int
}

// TraceEvent lists methods without a begin with the time 0, and takes the load of
// any method for the end of the one that is being compiled.
func TestTraceEventAgrees(t *testing.T) {
	compared := 0
	for _, path := range testtrace.All(t) {
		var peer struct {
			JIT []struct {
				Process struct{ ID int64 }
				Methods []peerMethod
				Total   struct {
					Count                        int
					TotalCpuTimeMSec             float64
					TotalILSize, TotalNativeSize uint64
				}
			}
		}
		if !testtrace.Peer(t, path, &peer) {
			continue
		}
		res := analyze(t, path)
		for _, theirs := range peer.JIT {
			i := slices.IndexFunc(res.Runtimes, func(rt *Runtime) bool { return rt.PID == theirs.Process.ID })
			if i < 0 {
				if len(theirs.Methods) > 0 {
					t.Errorf("%s: nothing is compiled in process %d", path, theirs.Process.ID)
				}
				continue
			}
			rt := res.Runtimes[i]
			compared += compareMethods(t, testtrace.Name(path), rt, theirs.Methods)
			if rt.Count+rt.WithoutStart != theirs.Total.Count {
				t.Errorf("%s: %d methods and %d without begin, TraceEvent has %d", testtrace.Name(path), rt.Count, rt.WithoutStart, theirs.Total.Count)
			}
			if !testtrace.Near(rt.InclusiveMS, theirs.Total.TotalCpuTimeMSec, 1e-3) || rt.ILBytes != theirs.Total.TotalILSize {
				t.Errorf("%s: %v ms, %d bytes of IL, TraceEvent has %v, %d", testtrace.Name(path), rt.InclusiveMS, rt.ILBytes, theirs.Total.TotalCpuTimeMSec, theirs.Total.TotalILSize)
			}
		}
	}
	t.Logf("%d methods compared", compared)
}

func compareMethods(t *testing.T, name string, rt *Runtime, theirs []peerMethod) int {
	type key struct {
		thread  int64
		name    string
		version uint64
		start   int64 // ns
	}
	ours := map[key]Method{}
	for _, m := range rt.Methods {
		start := int64(math.Round(m.StartMS * 1e6))
		if m.WithoutStart {
			start = 0
		}
		ours[key{m.Thread, m.Method, m.Version, start}] = m
	}
	n := 0
	for _, want := range theirs {
		start := int64(math.Round(want.StartTimeMSec * 1e6))
		got, ok := ours[key{want.ThreadID, want.MethodName, want.VersionID, start}]
		switch {
		case !ok && (want.NativeSize == 0 || want.ILSize == 0): // it has one end of it only
		case !ok:
			t.Errorf("%s: %+v is not there", name, want)
		case !testtrace.Near(got.InclusiveMS.Or(0), want.CompileCpuTimeMSec, 1e-6) || got.ILBytes != want.ILSize || got.NativeBytes != want.NativeSize ||
			got.AllocatedBytes != uint64(want.AllocatedSizeForJitCode) ||
			want.ModuleILPath != "" && filepath.Base(got.Module) != filepath.Base(want.ModuleILPath):
			t.Errorf("%s: %+v, and TraceEvent says %+v", name, got, want)
		default:
			n++
		}
	}
	return n
}

// The runtime counts the methods that it compiles.
func TestTruth(t *testing.T) {
	for _, name := range []string{"jit-tiering.nettrace", "jit-inlining.nettrace"} {
		path := testtrace.Named(t, name)
		var truth struct {
			End struct {
				Methods int `json:"jit_methods"`
			} `json:"counters_end"`
		}
		if !testtrace.Truth(t, path, &truth) {
			t.Skip("the program says nothing")
		}
		rt := analyze(t, path).Runtimes[0]
		if begun := rt.Count + rt.Open + rt.LostStops; begun < truth.End.Methods || rt.Count < truth.End.Methods*9/10 {
			t.Errorf("%s: %d compilations begun, %d ended, and the runtime counts %d until the mark", name, begun, rt.Count, truth.End.Methods)
		}
	}
}

func TestSums(t *testing.T) {
	for _, path := range testtrace.All(t) {
		var mux etw.Mux
		begins := map[int64]int{}
		etw.Handle(&mux, func(r *etw.Record, e *clr.AnyMethodJittingStarted) error { begins[r.ProcessID]++; return nil })
		a := New(&mux)
		testtrace.Run(t, &mux, path)
		res := a.Result()
		for _, rt := range res.Runtimes {
			if n := rt.Count + rt.Open + rt.LostStops; n != begins[rt.PID] {
				t.Errorf("%s: %d begins; %d ended, %d open, %d lost", path, begins[rt.PID], rt.Count, rt.Open, rt.LostStops)
			}
			if rt.ExclusiveMS > rt.InclusiveMS+1e-6 || rt.SuspendedMS > rt.ExclusiveMS+1e-6 {
				t.Errorf("%s: inclusive %v ms, exclusive %v, suspended %v", path, rt.InclusiveMS, rt.ExclusiveMS, rt.SuspendedMS)
			}
			var series, tiers float64
			for _, v := range rt.Series.Sums {
				series += v
			}
			for _, g := range rt.Tiers {
				tiers += g.ExclusiveMS
			}
			if !testtrace.Near(series, rt.ExclusiveMS, 1e-6) || !testtrace.Near(tiers, rt.ExclusiveMS, 1e-6) {
				t.Errorf("%s: exclusive %v ms, %v by time, %v by tier", path, rt.ExclusiveMS, series, tiers)
			}
		}
	}
}

func TestNesting(t *testing.T) {
	var mux etw.Mux
	a := New(&mux)
	s := testtrace.NewScript(t, &mux)
	text, ms := etw.MakeUTF16, time.Millisecond
	jitting := func(id uint64, il uint32) *clr.MethodJittingStartedV1 {
		return &clr.MethodJittingStartedV1{MethodID: id, ModuleID: 3, MethodILSize: il, MethodNamespace: text("N"), MethodName: text("M"), MethodSignature: text("void (int)")}
	}
	load := func(id, version uint64, tier clr.MethodFlags) *clr.MethodLoadVerboseV2 {
		return &clr.MethodLoadVerboseV2{MethodID: id, ModuleID: 3, MethodSize: 7, MethodFlags: clr.MethodFlagsJitted | tier<<7, ReJITID: version, MethodName: text("X")}
	}
	s.Event(0, 1, &clr.ModuleLoadV2{ModuleID: 3, ModuleILPath: text("/lib/a.dll")})
	s.Event(1*ms, 1, jitting(10, 100))
	s.Event(2*ms, 1, jitting(11, 50)) // within 10
	s.Event(2*ms, 1, &clr.MethodJitMemoryAllocatedForCode{MethodID: 11, AllocatedSizeForJitCode: 64, JitHotCodeRequestSize: 60})
	s.Event(3*ms, 9, &clr.GCSuspendEEEndV1{})
	s.Event(4*ms, 9, &clr.GCRestartEEBeginV1{})
	s.Event(5*ms, 1, load(11, 0, 3))
	s.Event(6*ms, 1, jitting(12, 1)) // whose end is lost
	s.Event(9*ms, 1, load(10, 0, 3))
	s.Event(9*ms, 1, load(99, 0, 2)) // whose begin was not seen
	s.Event(9*ms, 2, &clr.MethodLoadV2{MethodID: 98, MethodFlags: clr.MethodFlagsJitted | clr.MethodFlagsReadyToRunRejectedPrecompiledCode})
	s.Event(9*ms, 2, &clr.MethodLoadV2{MethodID: 97}) // precompiled
	s.Event(10*ms, 4, &clr.TieredCompilationBackgroundJitStart{PendingMethodCount: 5})
	s.Event(11*ms, 4, jitting(10, 100))
	s.Event(12*ms, 4, load(10, 1, 4))
	s.Event(13*ms, 4, &clr.TieredCompilationBackgroundJitStop{PendingMethodCount: 4, JittedMethodCount: 1})
	s.Event(13*ms, 4, &clr.TieredCompilationPause{})
	s.Event(13*ms, 4, &clr.TieredCompilationResume{})
	s.Event(13*ms, 4, &clr.TieredCompilationSettings{Flags: clr.TieredCompilationSettingsFlags(1)})
	s.Event(14*ms, 5, &private.MulticoreJit{String1: text("JITTHREAD")})
	s.Event(15*ms, 5, jitting(20, 1))
	s.Event(16*ms, 5, load(20, 0, 3))
	s.Event(17*ms, 6, jitting(21, 1)) // open
	rt := a.Result().Runtimes[0]
	got := []any{rt.Count, rt.Nested, rt.InclusiveMS, rt.ExclusiveMS, rt.SuspendedMS, rt.LostStops, rt.Open, rt.WithoutStart, rt.Memory.Allocated}
	if diff := cmp.Diff([]any{4, 1, 13.0, 10.0, 1.0, 1, 1, 2, uint64(64)}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	triggers := map[string]int{}
	for _, g := range rt.Triggers {
		triggers[g.Name] = g.Count
	}
	if diff := cmp.Diff(map[string]int{foreground: 2, background: 1, multicore: 1}, triggers); diff != "" {
		t.Errorf("triggers (-want +got):\n%s", diff)
	}
	if m := rt.Methods[0]; m.Method != "N.M(int)" || m.Module != "/lib/a.dll" || m.ExclusiveMS.Or(0) != 5 {
		t.Errorf("%+v", m)
	}
	if w := rt.Tiering; w.BusyMS != 3 || w.Methods != 1 || w.PendingAtEnd != 4 || w.Pauses != 1 || w.Resumes != 1 || w.Settings == "" {
		t.Errorf("%+v", w)
	}
	if p := rt.Precompiled; p.Rejected.Or(0) != 1 || p.Lookups != nil { // nobody recorded look-ups: they are not 0
		t.Errorf("%+v", rt.Precompiled)
	}
}

func TestDecisions(t *testing.T) {
	var mux etw.Mux
	a := New(&mux)
	s := testtrace.NewScript(t, &mux)
	text := etw.MakeUTF16
	s.Event(0, 1, &clr.MethodJitInliningSucceeded{})
	s.Event(0, 1, &clr.MethodJitInliningFailed{InlineeNamespace: text("N"), InlineeName: text("A"), FailAlways: 1, FailReason: text("too big")})
	s.Event(0, 1, &clr.MethodJitInliningFailed{InlineeNamespace: text("N"), InlineeName: text("A"), FailReason: text("too big")})
	s.Event(0, 1, &clr.MethodJitInliningFailedAnsi{InlineeNamespace: text("N"), InlineeName: text("B"), FailReason: etw.ANSI("loop")})
	s.Event(0, 1, &clr.MethodJitTailCallSucceeded{})
	s.Event(0, 1, &clr.MethodJitTailCallFailed{CalleeName: text("C"), FailReason: text("no")})
	s.Event(0, 1, &clr.MethodJitTailCallFailedAnsi{CalleeName: text("C"), FailReason: etw.ANSI("no")})
	rt := a.Result().Runtimes[0]
	want := &Inlining{1, 3, 1, []Reason{{"too big", 2}, {"loop", 1}}, []Reason{{"N.A", 2}, {"N.B", 1}}}
	if diff := cmp.Diff(want, rt.Inlining); diff != "" {
		t.Errorf("inlining (-want +got):\n%s", diff)
	}
	if c := rt.TailCalls; c.Succeeded != 1 || c.Failed != 2 || len(c.Reasons) != 2 || c.Callees[0].Count != 2 {
		t.Errorf("tail calls %+v", c)
	}
}
