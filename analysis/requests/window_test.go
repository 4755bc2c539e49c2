package requests

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/internal/actid"
	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
)

// serving returns the sums of a random program that serves requests and makes others for them, of a
// part of the time.
func serving(t *testing.T, seed uint64, from, to time.Duration) map[string]float64 {
	random := rand.New(rand.NewPCG(seed, 4))
	var mux etw.Mux
	a := New(&mux)
	s := testtrace.NewScript(t, &mux)
	s.Between(from, to)
	tasks := etw.MustParseGUID("2e5dba47-a3d2-4d16-8ee0-6671ffdcd7b5")
	now := time.Duration(0)
	later := func() time.Duration { now += time.Duration(random.Int64N(2e6)); return now }
	works := func(thread int64, id etw.GUID) {
		s.Record(later(), thread, &etw.Record{Provider: tasks, ProviderName: "System.Threading.Tasks.TplEventSource", ID: 25, Kind: etw.KindManifest, PointerSize: etw.Ptr64, Payload: id[:]})
	}
	say := func(thread int64, op etw.Opcode, name string, id, of etw.GUID) {
		s.Activity, s.Related = id, of
		s.Record(later(), thread, &etw.Record{Provider: etw.GUID{7: 0x50}, ProviderName: "Shop", Kind: etw.KindManifest, Opcode: op, PointerSize: etw.Ptr64,
			Schema: &etw.EventDesc{Name: name + op.String(), TaskName: name}})
		s.Activity, s.Related = etw.GUID{}, etw.GUID{}
	}
	ids := [4]etw.GUID{actid.Make(1, 0x10), actid.Make(1, 0x20), actid.Make(1, 0x30), actid.Make(1, 0x40)}
	within := [4]etw.GUID{actid.Make(1, 0x11), actid.Make(1, 0x21), actid.Make(1, 0x31), actid.Make(1, 0x41)}
	var state [4]int
	for range 200 {
		i := random.IntN(len(ids))
		thread := int64(10 + i)
		switch state[i] {
		case 0:
			works(thread, ids[i])
			say(thread, etw.OpcodeStart, "Request", ids[i], etw.GUID{})
		case 1:
			say(thread, etw.OpcodeStart, "Query", within[i], ids[i])
			works(thread, etw.GUID{})
		case 2:
			works(thread, within[i])
			s.Event(later(), thread, &clr.WaitHandleWaitStart{WaitSource: 1})
			s.Event(later(), thread, &clr.WaitHandleWaitStop{})
			say(thread, etw.OpcodeStop, "Query", within[i], etw.GUID{})
			works(thread, ids[i])
		default:
			say(thread, etw.OpcodeStop, "Request", ids[i], etw.GUID{})
			works(thread, etw.GUID{})
		}
		state[i] = (state[i] + 1) % 4
	}
	sums := make(map[string]float64)
	for _, p := range a.Result().Processes {
		sums["started"], sums["stopped"] = float64(p.Started), float64(p.Stopped)
		for _, x := range p.Tasks {
			sums[x.Task], sums["own "+x.Task] = x.DurationMS.Total, x.ExclusiveMS
			if x.Causes == nil {
				continue
			}
			parts := 0.0
			for kind, ms := range x.Causes.Parts() {
				sums[x.Task+" "+kind] = ms
				parts += ms
			}
			if !near(parts, x.DurationMS.Total, 1e-3) {
				t.Errorf("seed %d: of %v ms of %s, causes are %v", seed, x.DurationMS.Total, x.Task, parts)
			}
			sums[x.Task+" in parallel"], sums[x.Task+" late"] = x.Causes.ParallelMS, x.Causes.LateMS
		}
	}
	return sums
}

// TestWindow: the times of activities in adjacent parts of the time, and their causes, add up to
// those of all of it. In a window in which nothing begins or ends there are those that go on.
func TestWindow(t *testing.T) {
	goOn := 0
	for seed := range uint64(10) {
		whole, sums := serving(t, seed, 0, 0), make(map[string]float64)
		if whole["Request blocked"] == 0 || whole["Query awaiting"] == 0 {
			t.Fatal("nothing was blocked or awaited")
		}
		cut := time.Duration(3e6 + seed*11e6)
		for i, part := range []map[string]float64{serving(t, seed, 0, cut), serving(t, seed, cut, cut+1e5), serving(t, seed, cut+1e5, cut+30e6), serving(t, seed, cut+30e6, 0)} {
			for name, v := range part {
				sums[name] += v
			}
			if i == 1 && part["Request"] > 0 && part["started"]+part["stopped"] == 0 {
				goOn++
			}
		}
		for name, want := range whole {
			if !near(sums[name], want, 1e-3) {
				t.Errorf("seed %d: %s: the parts add up to %v, not to %v", seed, name, sums[name], want)
			}
		}
		if len(sums) != len(whole) {
			t.Errorf("seed %d: the parts have %v, all of it %v", seed, sums, whole)
		}
	}
	if goOn == 0 {
		t.Error("there is no window in which requests just go on")
	}
}
