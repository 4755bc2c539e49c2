package cpu

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/corpus"
)

// profileOf returns the profile of a trace as commands have it.
func profileOf(tb testing.TB, path string, o stacks.Options) *stacks.Profile {
	tb.Helper()
	var mux etw.Mux
	s, c := symbols.New(&mux), New(&mux)
	testtrace.Run(tb, &mux, path)
	return stacks.NewProfile(s.Table(), o, c.Samples()...)
}

// totals returns the inclusive weights of methods, in ms.
func totals(p *stacks.Profile) map[string]float64 {
	sums := make(map[string]float64)
	for _, row := range p.View().Top() {
		sums[p.Frames[row.Frame].Name] += float64(row.Total[1]) / 1e6
	}
	return sums
}

// The method that all time is spent in stands first, with a share that programs measured of
// its callers themselves; where threads were stopped is no row, and waiting is the last.
func TestTimeIsOfCode(t *testing.T) {
	for _, name := range []string{"cpu.nettrace", "cpu-default-profile.nettrace", "netperf-cpu.netperf"} {
		t.Run(name, func(t *testing.T) {
			path := corpus.File(t, "dotnet10", name)
			var truth struct {
				Methods map[string]float64 `json:"main_thread_phase_1_ms_by_method"`
			}
			base, _, _ := strings.Cut(name, ".")
			if !testtrace.JSON(t, corpus.File(t, "dotnet10", base+".truth.json"), &truth) {
				return
			}
			p := profileOf(t, path, stacks.Options{Names: stacks.QualifiedNames})
			top := p.View().Top()
			if first := p.Frames[top[0].Frame].Name; first != "Bakery.Cpu.Work" {
				t.Errorf("the first row is %s, want Bakery.Cpu.Work, in which all methods spend their time", first)
			}
			for i, row := range top {
				f := &p.Frames[row.Frame]
				if strings.Contains(f.Full, "PollGC") {
					t.Errorf("%s is a row", f.Full)
				}
				if f.Waiting != (i == len(top)-1) {
					t.Errorf("row %d of %d is %s: waiting is to be the last", i, len(top), f.Name)
				}
			}
			// No correction: the time of a method is wall time in both.
			got, all := totals(p), 0.0
			for _, ms := range truth.Methods {
				all += ms
			}
			for method, ms := range truth.Methods {
				t.Logf("%s: %.1f ms, by its own clock %.1f ms", method, got[method], ms)
				if math.Abs(got[method]-ms) > 0.02*all { // of calls that take a millisecond, which is a sample
					t.Errorf("%s has %.1f ms, want %.1f", method, got[method], ms)
				}
			}
			raw := profileOf(t, path, stacks.Options{Names: stacks.QualifiedNames, AsSampled: true})
			if a, b := p.Totals(), raw.Totals(); a[0] != b[0] || a[1] != b[1] {
				t.Errorf("samples and time %d, want those that were sampled: %d", a, b)
			}
			if first := raw.Frames[raw.View().Top()[0].Frame].Full; !strings.Contains(first, "PollGC") {
				t.Errorf("as sampled, the first row is %s: the test shows nothing", first)
			}
		})
	}
}

// Code of the program that waits keeps its time, and its threads are not idle.
func TestWaitingIsOfItsCode(t *testing.T) {
	var truth struct {
		Methods map[string]float64 `json:"thread_ms"`
	}
	path := corpus.File(t, "dotnet10", "cpu-blocked.nettrace")
	if !testtrace.JSON(t, corpus.File(t, "dotnet10", "cpu-blocked.truth.json"), &truth) {
		return
	}
	p := profileOf(t, path, stacks.Options{Names: stacks.QualifiedNames})
	got, self := totals(p), make(map[string]float64)
	for s := range p.Samples() {
		frames := 0
		for f := range p.Stack(s.Stack) {
			if frames++; frames > 1 && strings.HasPrefix(p.Frames[f].Name, "Bakery.") {
				leaf := ""
				for f := range p.Stack(s.Stack) {
					leaf = p.Frames[f].Name
					break
				}
				if leaf == stacks.WaitingName {
					self[p.Frames[f].Name] += float64(s.Values[1]) / 1e6
				}
				break
			}
		}
	}
	for method, ms := range truth.Methods {
		waits := true
		if method == "busy" {
			method, waits = "Bakery.Cpu.Work", false
		}
		if math.Abs(got[method]-ms) > 0.04*ms+2 {
			t.Errorf("%s has %.1f ms, want %.1f", method, got[method], ms)
		}
		if want := ms; waits && math.Abs(self[method]-want) > 0.04*want+2 {
			t.Errorf("%s waits for %.1f ms, want %.1f", method, self[method], want)
		}
		if !waits && self[method] > 0 {
			t.Errorf("%s waits for %.1f ms, and ran all the time", method, self[method])
		}
	}
}

// Which threads are idle is told by who called the method that waits.
func TestWaits(t *testing.T) {
	const lib, start = "System.Private.CoreLib!", "System.Private.CoreLib!System.Threading.Thread.StartCallback()"
	for _, test := range []struct {
		stack string
		want  stacks.Wait
	}{
		{start + ";" + lib + "System.Threading.PortableThreadPool+WorkerThread.WorkerThreadStart();" + lib + "System.Threading.LowLevelLifoSemaphore.WaitNative(int32)", stacks.Idles},
		{start + ";" + lib + "System.Threading.PortableThreadPool+GateThread.GateThreadStart();" + lib + "System.Threading.WaitHandle.WaitOneNoCheck(int32)", stacks.Idles},
		{"System.Threading.Thread.StartCallback();System.Threading.TimerQueue.TimerThread();System.Threading.WaitHandle.WaitOneNoCheck(int32)", stacks.Idles},
		{start + ";" + lib + "System.Threading.TimerQueue.TimerThread();" + lib + "System.Threading.WaitHandle.WaitOneNoCheck(int32)", stacks.Idles},
		{start + ";System.Net.Sockets!System.Net.Sockets.SocketAsyncEngine.EventLoop();0x1234", stacks.Idles},
		{start + ";System.IO.FileSystem.Watcher!System.IO.FileSystemWatcher+RunningInstance.ProcessEvents();System.IO.FileSystem.Watcher!Interop+Sys.Read(int64)", stacks.Idles},
		{start + ";System.IO.FileSystem.Watcher!System.IO.FileSystemWatcher+RunningInstance.ProcessEvents();System.IO.FileSystem.Watcher!System.IO.FileSystemWatcher+RunningInstance.TryReadEvent()", stacks.Idles},
		{"Shop!Shop.Program.Main();" + lib + "System.Threading.Tasks.Task.Wait();" + lib + "System.Threading.Monitor.Wait(class System.Object)", stacks.Waits},
		{"Shop!Shop.Program.Main();System.Net.Sockets!System.Net.Sockets.Socket.Accept();System.Net.Sockets!Interop+Sys.Accept(int64)", stacks.Waits},
		{start + ";Shop!Shop.Till.Close();" + lib + "System.Threading.Monitor.Enter_Slowpath(class System.Object)", stacks.Waits},
		{start + ";" + lib + "System.Threading.PortableThreadPool+WorkerThread.WorkerThreadStart();" + lib + "System.Threading.LowLevelLifoSemaphore.Wait(int32);" + lib + "System.Threading.LowLevelSpinWaiter.Wait(int32);" + lib + "System.Threading.Thread.Yield()", stacks.Idles},
		{start + ";" + lib + "System.Threading.PortableThreadPool+WorkerThread.WorkerThreadStart();0x1234;0x5678", stacks.Idles},
		{start + ";" + lib + "System.Threading.PortableThreadPool+WorkerThread.WorkerThreadStart()", stacks.Runs},
		{start + ";" + lib + "System.Threading.PortableThreadPool+WorkerThread.WorkerThreadStart();" + lib + "System.Threading.ThreadPoolWorkQueue.Dispatch();0x1234", stacks.Runs},
		{"Shop!Shop.Program.Main();" + lib + "System.Threading.Thread.SpinWait(int32);" + lib + "System.Threading.Thread.LongSpinWait(int32)", stacks.Runs},
		// Code without a name may be the program's own.
		{start + ";0x5678;" + lib + "System.Threading.Thread.Sleep(int32)", stacks.Waits},
		// Files are read, and native code of others runs, for all that is known.
		{"Shop!Shop.Program.Main();" + lib + "System.IO.RandomAccess.ReadAtOffset();" + lib + "Interop+Sys.PRead(int64)", stacks.Runs},
		{"Shop!Shop.Program.Main();Shop!Shop.Zip.deflate()", stacks.Runs},
		{"Shop!Shop.Program.Main();0x1234", stacks.Runs},
		{"0x1234", stacks.Runs},
	} {
		var frames []*stacks.Frame
		for name := range strings.SplitSeq(test.stack, ";") {
			f := &stacks.Frame{Full: name, Kind: symbols.Managed}
			if strings.HasPrefix(name, "0x") {
				f.Kind = symbols.Unknown
			}
			frames = append(frames, f)
		}
		if got := Reading().Waits(frames, true); got != test.want {
			t.Errorf("%s: %d, want %d", test.stack, got, test.want)
		}
		// In managed code workers that spin until they have work are idle, and so are threads on the
		// way back from a call that does nothing but wait.
		want, inner := stacks.Runs, test.stack[strings.LastIndexByte(test.stack, ';')+1:]
		if strings.Contains(test.stack, "LowLevelLifoSemaphore") || strings.Contains(inner, "WaitOne") || strings.Contains(inner, "Monitor.Wait") || strings.Contains(inner, "Sleep") {
			want = test.want
		}
		if got := Reading().Waits(frames, false); got != want {
			t.Errorf("%s, in managed code: %d, want %d", test.stack, got, want)
		}
	}
}

// Some runtimes flag hardly any sample as managed, even in loops of the program: there the state
// is untold, and threads that do not wait may run. Idle programs of others are none of these.
func TestUntoldStates(t *testing.T) {
	for _, test := range []struct {
		path   []string
		untold bool
		method string // of the program, which is busy
	}{
		{[]string{"causes", "ferry-net9-full.nettrace.gz"}, true, "Burn.Chunk"},
		{[]string{"causes", "ferry-net10-full.nettrace.gz"}, false, "Burn.Chunk"},
		{[]string{"causes", "ferry-net31-full.nettrace.gz"}, false, ""},
		{[]string{"nettrace", "HeartRateMonitor.10068.nettrace"}, true, ""},
		{[]string{"shop", "shop.nettrace.gz"}, false, ""}, // 0.3 % of its samples are managed
		{[]string{"dotnet10", "cpu-blocked.nettrace"}, false, "Bakery.Cpu.Work"},
	} {
		t.Run(test.path[1], func(t *testing.T) {
			p := profileOf(t, corpus.File(t, test.path...), stacks.Options{Names: stacks.QualifiedNames})
			states, self, mayRun := make(map[string]int), int64(0), int64(0)
			for s := range p.Samples() {
				state := s.Labels[0].Value
				states[state]++
				if _, frame := p.Split(s.Stack); s.Stack != 0 && p.Frames[frame].Name == test.method {
					self += s.Values[1]
					if MayRun(p, s) {
						mayRun += s.Values[1]
					}
				}
				if state == Untold && MayRun(p, s) == p.IsWaiting(s.Stack) {
					t.Fatalf("%+v: whether it may run is not whether it does not wait", s)
				}
			}
			if told := states["managed"] + states["external"]; test.untold != (told == 0) || test.untold != (states[Untold] > 0) {
				t.Errorf("%v, want untold %v", states, test.untold)
			}
			if test.method != "" && (self == 0 || float64(mayRun) < 0.95*float64(self)) {
				t.Errorf("%s may run for %d ns of %d", test.method, mayRun, self)
			}
		})
	}
}

// A thread in a method to wait in runs where it is in managed code far more often than outside
// it, as in a loop of Sleep(0), and waits where it comes back from there now and then.
func TestBusyWait(t *testing.T) {
	var mux etw.Mux
	table, a := symbols.New(&mux), New(&mux)
	s := testtrace.NewScript(t, &mux)
	s.Event(0, 1, &clr.MethodLoadVerboseV1{MethodID: 1, MethodStartAddress: 0x10, MethodSize: 0x10, MethodNamespace: etw.MakeUTF16("Shop.Program"), MethodName: etw.MakeUTF16("Poll"), MethodSignature: etw.MakeUTF16("void ()")})
	s.Event(0, 1, &clr.MethodLoadVerboseV1{MethodID: 2, MethodStartAddress: 0x20, MethodSize: 0x10, MethodNamespace: etw.MakeUTF16("System.Threading.Thread"), MethodName: etw.MakeUTF16("Sleep"), MethodSignature: etw.MakeUTF16("void (int32)")})
	at := time.Millisecond
	sample := func(is state, stack ...byte) {
		s.Stack = testtrace.AStack(stack...)
		s.Record(at, 1, &etw.Record{Provider: sampler.GUID, Payload: binary.LittleEndian.AppendUint32(nil, uint32(is))})
		at += time.Millisecond
	}
	for i := range 30 {
		sample(managed, 0x25, 0x15)
		sample(external, 0x25, 0x18)
		if i < 20 {
			sample(managed, 0x25, 0x18)
		}
	}
	p := stacks.NewProfile(table.Table(), stacks.Options{Names: stacks.QualifiedNames}, a.Samples()...)
	ms := make(map[string]float64)
	for x := range p.Samples() {
		_, frame := p.Split(x.Stack)
		ms[p.Frames[frame].Name] += float64(x.Values[1]) / 1e6
	}
	if len(ms) != 2 || !testtrace.Near(ms["System.Threading.Thread.Sleep"], 29.5, 0.01) || !testtrace.Near(ms[stacks.WaitingName], 49.5, 0.01) {
		t.Errorf("%v, want 30 samples of Sleep and 50 that wait", ms)
	}
}
