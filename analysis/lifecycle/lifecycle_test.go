package lifecycle

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
)

// told is a phase in a line.
func told(list []Phase) map[Name]float64 {
	m := make(map[Name]float64)
	for _, p := range list {
		m[p.Phase] = p.AtMS
	}
	return m
}

func TestPhases(t *testing.T) {
	var mux etw.Mux
	a := New(&mux)
	s := testtrace.NewScript(t, &mux)
	compiled := func(at time.Duration, name string) {
		s.Event(at, 7, &clr.MethodJittingStartedV1{MethodNamespace: etw.MakeUTF16("Shop.Program"), MethodName: etw.MakeUTF16(name)})
	}
	s.PID = 5
	s.Event(10*time.Millisecond, 7, &clr.RuntimeInformationStart{})
	compiled(20*time.Millisecond, "Init")
	compiled(30*time.Millisecond, "Main")
	compiled(40*time.Millisecond, "Main")
	s.PID = 6 // which was there before: what comes first is not its first
	compiled(50*time.Millisecond, "Main")
	got := make(map[int64]map[Name]float64)
	for _, p := range a.Result().Processes {
		got[p.PID] = told(p.Phases)
	}
	if diff := cmp.Diff(map[Name]float64{Initialized: 10, Managed: 20, Main: 30}, got[5]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(got[6]) > 0 {
		t.Errorf("%v", got[6])
	}
	for from, want := range map[time.Duration]int{0: 3, 10 * time.Millisecond: 3, 11 * time.Millisecond: 1} { // of a part from there on
		res := a.Result()
		if res.Part(from, time.Second); len(res.Processes[0].Phases) != want {
			t.Errorf("from %v: %+v, want %d phases", from, res.Processes[0].Phases, want)
		}
	}
}

// TestMains: a program begins in a method called Main, or as compilers call it.
func TestMains(t *testing.T) {
	for name, want := range map[string]int{"Main": 1, "<Main>": 1, "<Main>$": 1, "<<Main>$>b__12": 0, "Mai": 0} {
		var mux etw.Mux
		a := New(&mux)
		a.method(&etw.Record{Clock: &etw.Clock{Frequency: 1e9}}, etw.MakeUTF16(name), "", "")
		got := 0
		for k := range a.found {
			if k.phase == Main {
				got++
			}
		}
		if got != want {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
}

// A number of a process is that of several, one after the other.
func TestNumbersAgain(t *testing.T) {
	found := map[place]Phase{{5, Initialized}: {Phase: Initialized, AtMS: 30}, {5, Main}: {Phase: Main, AtMS: 40}, {5, Request}: {Phase: Request, AtMS: 90}}
	f := &system.ProcessFacts{PID: 5}
	list := phases(f, found)
	if diff := cmp.Diff(map[Name]float64{Initialized: 30, Main: 40, Request: 90}, told(list)); diff != "" || list[1].SinceMS != 10 || list[2].SinceMS != 50 {
		t.Errorf("(-want +got):\n%s%+v", diff, list)
	}
}

func TestServes(t *testing.T) {
	for _, test := range []struct {
		provider, task string
		want           bool
	}{
		{"Microsoft.AspNetCore.Hosting", "Request", true}, {"Microsoft-AspNetCore-Server-Kestrel", "Connection", false},
		{"System.Net.Http", "Request", false}, {"IIS", "Anything", true},
		{"Microsoft-Diagnostics-DiagnosticSource", "Microsoft.AspNetCore.Hosting.HttpRequestIn", true},
	} {
		if got := serves(test.provider, test.task); got != test.want {
			t.Errorf("%s/%s: %v", test.provider, test.task, got)
		}
	}
}
