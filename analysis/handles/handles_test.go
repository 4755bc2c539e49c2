package handles

import (
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
)

func analyze(tb testing.TB, path string) *Result { return testtrace.Analyze(tb, New, path) }

// The program knows which handles it made, and the trace has those of the runtime
// beside them.
func TestTruth(t *testing.T) {
	path := testtrace.Named(t, "gc-workstation.nettrace")
	var truth struct {
		Handles map[string]int `json:"handles_allocated_by_program"`
	}
	if !testtrace.Truth(t, path, &truth) {
		t.Skip("the program says nothing")
	}
	created := map[string]int{}
	rt := analyze(t, path).Runtimes[0]
	for _, k := range rt.Kinds {
		created[k.Kind] = k.Created
	}
	for kind, want := range map[string]int{"Pinned": truth.Handles["Pinned"], "WeakShort": truth.Handles["WeakShort(Weak)"],
		"WeakLong": truth.Handles["WeakLong(WeakTrackResurrection)"], "Strong": truth.Handles["Strong(Normal)"], "Dependent": truth.Handles["Dependent"]} {
		if want == 0 || created[kind] < want {
			t.Errorf("%d handles of kind %s, the program made %d (%v)", created[kind], kind, want, created)
		}
	}
	if rt.Created != 181 || rt.Destroyed != 77 {
		t.Errorf("%d created, %d destroyed", rt.Created, rt.Destroyed)
	}
}

func TestSums(t *testing.T) {
	for _, path := range testtrace.All(t) {
		res := analyze(t, path)
		for _, rt := range res.Runtimes {
			created, alive := 0, 0
			for _, k := range rt.Kinds {
				created += k.Created
				alive += k.Alive
			}
			if created != rt.Created || alive != rt.Alive {
				t.Errorf("%s: %d created, %d alive, by kind %d, %d", path, rt.Created, rt.Alive, created, alive)
			}
		}
	}
}

func TestLives(t *testing.T) {
	var mux etw.Mux
	a := New(&mux)
	s := testtrace.NewScript(t, &mux)
	s.Stack = testtrace.AStack(1)
	s.Event(time.Millisecond, 1, &clr.SetGCHandle{HandleID: 8, Kind: clr.GCHandleKindPinned})
	s.Event(time.Millisecond, 1, &clr.SetGCHandle{HandleID: 8, Kind: clr.GCHandleKindPinned}) // its end was lost
	s.Event(time.Millisecond, 1, &clr.SetGCHandle{HandleID: 9, Kind: clr.GCHandleKindStrong})
	s.Event(2*time.Millisecond, 1, &clr.PinObjectAtGCTime{HandleID: 8, TypeName: etw.MakeUTF16("A")})
	s.Event(2*time.Millisecond, 1, &clr.PinObjectAtGCTime{HandleID: 7, TypeName: etw.MakeUTF16("A")})
	s.Event(3*time.Millisecond, 1, &clr.DestroyGCHandle{HandleID: 9})
	s.Event(3*time.Millisecond, 1, &clr.DestroyGCHandle{HandleID: 1})
	rt := a.Result().Runtimes[0]
	if rt.Created != 3 || rt.Destroyed != 2 || rt.UnknownDestroyed != 1 || rt.Alive != 1 || len(rt.Stacks) != 1 || rt.Stacks[0].Alive != 1 {
		t.Errorf("%+v", rt)
	}
	if p := rt.Pinned[0]; p.Times != 2 || p.Handles != 1 {
		t.Errorf("%+v", p)
	}
}
