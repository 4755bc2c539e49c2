package requests

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/activities"
	"github.com/etwgen/etwgen/analysis/internal/actid"
	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/corpus"
)

// explained returns all activities of a trace, with the code of their parts.
func explained(t *testing.T, path string) *Result {
	var mux etw.Mux
	code, a := symbols.New(&mux), New(&mux)
	a.Keep(math.MaxInt / 2)
	a.NameBy(func(s *stacks.Samples) *stacks.Profile {
		return stacks.NewProfile(code.Table(), stacks.Options{Names: stacks.QualifiedNames}, s)
	})
	testtrace.Run(t, &mux, path)
	return a.Result()
}

// TestSleepers: threads that sleep, of which no event tells, are blocked by samples, for as
// long as the program measured that; those that wait for a task for as long as all of that was
// awaited, and no longer than they waited; and an await of something else than a task has the
// name of the method that did.
func TestSleepers(t *testing.T) {
	for _, path := range corpus.Glob(t, "causes/ferry-*.nettrace.gz") {
		name := testtrace.Name(path)
		if strings.Contains(name, "-ids") || strings.Contains(name, "-tpl") {
			continue
		}
		var truth struct {
			Requests []struct {
				Kind        string
				Start, Stop int64
				Segments    []struct {
					Type     string
					From, To int64
				}
			}
		}
		testtrace.JSON(t, strings.TrimSuffix(path, ".nettrace.gz")+".truth.json.gz", &truth)
		want, awaited, waited := 0.0, 0.0, 0.0
		for _, q := range truth.Requests {
			for _, s := range q.Segments {
				ms := float64(max(0, min(s.To, q.Stop)-max(s.From, q.Start))) / 1e6
				switch q.Kind + " " + s.Type {
				case "sleeper block":
					want += ms
				case "syncoverasync block":
					waited += ms
				case "syncoverasync await":
					awaited += ms
				}
			}
		}
		res, got, onTasks, slept := explained(t, path), 0.0, 0.0, false
		for _, task := range res.Processes[0].Tasks {
			for _, x := range task.Slowest {
				if x.Causes == nil && task.Task == "Crossing" { // which began again within itself
					continue
				}
				sum := 0.0
				for _, ms := range x.Causes.Parts() {
					sum += ms
				}
				if math.Abs(sum-x.DurationMS) > 1e-6 {
					t.Errorf("%s: %s has %.6f ms of %.6f", name, x.Name, sum, x.DurationMS)
				}
				if x.Name == "kind=syncoverasync" {
					onTasks += x.Causes.OnTasksMS
				}
				if x.Name == "kind=sleeper" {
					got += x.Causes.BlockedMS
				}
			}
			for _, c := range task.CausedBy {
				slept = slept || c.Kind == "blocked" && c.Name == "Thread.Sleep in Ferry.Sleeper"
				if c.Kind == "awaiting" && c.Name == "" && c.TotalMS > 0.05*task.DurationMS.Total {
					t.Errorf("%s: %.3f ms awaiting without a name", name, c.TotalMS)
				}
			}
		}
		t.Logf("%s: blocked %.2f ms, %.2f by the program; for tasks %.2f, and it awaited %.2f of %.2f", name, got, want, onTasks, awaited, waited)
		if onTasks < 0.95*awaited || onTasks > 1.05*waited {
			t.Errorf("%s: blocked for tasks for %.2f ms", name, onTasks)
		}
		if !(math.Abs(got-want) <= 0.1*want) || !slept {
			t.Errorf("%s: blocked %.2f ms, %.2f by the program; Thread.Sleep has a name: %v", name, got, want, slept)
		}
	}
}

// TestReady: a thread without a processor waited if its call stack says so.
func TestReady(t *testing.T) {
	at := spotsOf{1: {Waits: true, What: "Monitor.Wait", In: "Oven.Bake"}, 2: {In: "Oven.Mix", Untold: true}}
	if got := at.of(cause{kind: activities.Running, code: 2}); got.kind != activities.Untold || got.name != "in Oven.Mix" {
		t.Errorf("in native code: %v %q", got.kind, got.name)
	}
	for code, want := range map[stacks.ID]string{1: "blocked", 2: "ready", 3: "ready"} {
		if got := at.of(cause{kind: activities.Ready, code: code}).kind; got.String() != want {
			t.Errorf("stack %d: %s, want %s", code, got, want)
		}
	}
}

// TestLate: an activity that ends after the one that began it is marked.
func TestLate(t *testing.T) {
	var mux etw.Mux
	a := New(&mux)
	s := testtrace.NewScript(t, &mux)
	outer, inner := actid.Make(1, 0x10), actid.Make(1, 0x11)
	at := time.Duration(0)
	say := func(task string, op etw.Opcode, id, related etw.GUID) {
		at += time.Millisecond
		s.Activity, s.Related = id, related
		s.Record(at, 7, &etw.Record{Provider: etw.GUID{7: 0x50}, ProviderName: "Shop", Kind: etw.KindManifest, Opcode: op, PointerSize: etw.Ptr64,
			Schema: &etw.EventDesc{Name: task + op.String(), TaskName: task}})
	}
	say("Order", etw.OpcodeStart, outer, etw.GUID{})
	say("Mail", etw.OpcodeStart, inner, outer)
	say("Order", etw.OpcodeStop, outer, etw.GUID{})
	say("Mail", etw.OpcodeStop, inner, etw.GUID{})
	for _, task := range a.Result().Processes[0].Tasks {
		for _, x := range task.Slowest {
			if x.AfterParent != (task.Task == "Mail") {
				t.Errorf("%s: %+v", task.Task, x)
			}
		}
	}
}

// TestLateSums: work after the end of requests is in the sums of their endpoints, and of those asked for, as
// in those of their tasks.
func TestLateSums(t *testing.T) {
	late := 0.0
	for _, path := range corpus.Glob(t, "causes/ferry-*-full.nettrace.gz") {
		var mux etw.Mux
		a := New(&mux)
		a.Explain(func(task, _ string, _ *Activity) bool { return task == "Ferry/Request" })
		testtrace.Run(t, &mux, path)
		res := a.Result()
		for _, task := range res.Processes[0].Tasks {
			if task.Task != "Request" || task.Provider != "Ferry" {
				continue
			}
			sum := 0.0
			for _, e := range task.Endpoints {
				sum += e.Causes.LateMS
			}
			why := res.Why[0].Causes.LateMS
			if len(task.Endpoints) > 0 && math.Abs(sum-task.Causes.LateMS) > 1e-6 || math.Abs(why-task.Causes.LateMS) > 1e-6 {
				t.Errorf("%s: %v ms, of endpoints %v, of those asked for %v", testtrace.Name(path), task.Causes.LateMS, sum, why)
			}
			late += why
		}
	}
	if late == 0 {
		t.Error("there is no late work")
	}
}
