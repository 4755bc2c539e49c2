package exceptions

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/google/go-cmp/cmp"
)

func analyze(tb testing.TB, path string) *Result { return testtrace.Analyze(tb, New, path) }

// The figures were measured before, by another program.
func TestKnownTrace(t *testing.T) {
	res := analyze(t, testtrace.Named(t, "filtrace_exceptions.nettrace"))
	want := []Type{{"System.InvalidOperationException", 1333, 0}, {"System.ArgumentException", 667, 0}}
	if diff := cmp.Diff(want, res.Types); diff != "" || res.Count != 2000 {
		t.Errorf("%d exceptions (-want +got):\n%s", res.Count, diff)
	}
}

func TestTraceEventAgrees(t *testing.T) {
	compared := 0
	for _, path := range testtrace.All(t) {
		var peer struct {
			Exceptions struct {
				ByType                     map[string]int
				Count                      int
				Catches, Filters, Finallys int
				Thrown                     []struct {
					Flags   clr.ExceptionThrownFlags
					HResult int32
					Message string
					Ms      float64
					Tid     int64
					Type    string
				}
			}
		}
		if !testtrace.Peer(t, path, &peer) {
			continue
		}
		res := analyze(t, path)
		name, theirs := testtrace.Name(path), &peer.Exceptions
		byType, thrown, blocks := map[string]int{}, []Thrown{}, [3]int{}
		for _, typ := range res.Types {
			byType[typ.Type] = typ.Count
		}
		for _, rt := range res.Runtimes {
			thrown = append(thrown, rt.Thrown...)
			blocks = [3]int{blocks[0] + rt.Catches, blocks[1] + rt.Filters, blocks[2] + rt.Finallys}
		}
		if res.Count != theirs.Count || !cmp.Equal(byType, theirs.ByType) || blocks != [3]int{theirs.Catches, theirs.Filters, theirs.Finallys} {
			t.Errorf("%s: %d exceptions %v, blocks %v; TraceEvent says %d %v", name, res.Count, byType, blocks, theirs.Count, theirs.ByType)
		}
		for i, want := range theirs.Thrown[:min(len(theirs.Thrown), len(thrown))] {
			got := thrown[i]
			flags := ""
			if want.Flags != 0 {
				flags = want.Flags.String()
			}
			compared++
			if d := got.AtMS - want.Ms; d > 1e-6 || d < -1e-6 || got.Type != want.Type || got.Message != want.Message || got.Thread != want.Tid || got.HResult != want.HResult || got.Flags != flags {
				t.Errorf("%s: exception %d is %+v, and TraceEvent says %+v", name, i, got, want)
			}
		}
	}
	t.Logf("%d exceptions compared", compared)
}

// What the program knows of the exceptions that it threw.
func TestTruth(t *testing.T) {
	for _, name := range []string{"exceptions.nettrace", "no-stacks.nettrace"} {
		path := testtrace.Named(t, name)
		var truth struct {
			ByType map[string]int                   `json:"thrown_by_type"`
			Order  []struct{ Type, Message string } `json:"thrown_in_order"`
			Counts struct {
				Extra   int `json:"async_extra_rethrows_by_await"`
				Filters int `json:"filters_run"`
			}
		}
		if !testtrace.Truth(t, path, &truth) {
			t.Skip("the program says nothing")
		}
		res := analyze(t, path)
		got := map[string]int{}
		for _, typ := range res.Types {
			got[typ.Type] = typ.Count
		}
		// An await of a failed task throws its exception again, and so does the
		// thread pool where one leaves the delegate of a task.
		want := truth.ByType
		want["System.TimeoutException"] += truth.Counts.Extra
		want["Bakery.BurntException"]++
		want["System.NotSupportedException"]++
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-truth +got):\n%s", name, diff)
		}
		if n := res.Runtimes[0].Filters; n != truth.Counts.Filters {
			t.Errorf("%s: %d filters, want %d", name, n, truth.Counts.Filters)
		}
		checkOrder(t, name, res.Runtimes[0].Thrown, truth.Order)
	}
}

// checkOrder checks that the types come in the order of the truth, which does not
// have those that are thrown again. Some messages are not what the program knows.
func checkOrder(t *testing.T, name string, thrown []Thrown, want []struct{ Type, Message string }) {
	const plain = 24 // of which the program made the messages
	i := 0
	for _, got := range thrown {
		if i < len(want) && got.Type == want[i].Type && (i >= plain || got.Message == want[i].Message) {
			i++
		}
	}
	if i != len(want) || i <= plain {
		t.Errorf("%s: only the first %d of %d exceptions come in order", name, i, len(want))
	}
}

func TestSums(t *testing.T) {
	for _, path := range testtrace.All(t) {
		res := analyze(t, path)
		for _, rt := range res.Runtimes {
			types, messages, byTime := 0, 0, uint64(0)
			for _, typ := range rt.Types {
				types += typ.Count
			}
			for _, m := range rt.Messages {
				messages += m.Count
			}
			for _, n := range rt.Series.Counts {
				byTime += n
			}
			if types != rt.Count || messages != rt.Count || byTime != uint64(rt.Count) {
				t.Errorf("%s: %d exceptions, %d by type, %d by message, %d by time", path, rt.Count, types, messages, byTime)
			}
		}
		if _, err := json.Marshal(res); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestHandling(t *testing.T) {
	var mux etw.Mux
	a := New(&mux)
	s := testtrace.NewScript(t, &mux)
	s.Stack = testtrace.AStack(1, 2)
	text := etw.MakeUTF16
	s.Event(time.Millisecond, 5, &clr.ExceptionThrownV1{ExceptionType: text("A"), ExceptionMessage: text("x"), ClrInstanceID: 9})
	s.Event(2*time.Millisecond, 5, &clr.ExceptionFilterStart{MethodName: text("F"), ClrInstanceID: 9})
	s.Event(3*time.Millisecond, 5, &clr.ExceptionFilterStop{})
	s.Event(3*time.Millisecond, 5, &clr.ExceptionFinallyStart{MethodName: text("G"), ClrInstanceID: 9})
	s.Event(5*time.Millisecond, 5, &clr.ExceptionFinallyStop{})
	s.Event(5*time.Millisecond, 5, &clr.ExceptionCatchStart{MethodName: text("H"), ClrInstanceID: 9})
	s.Event(6*time.Millisecond, 5, &clr.ExceptionThrownV1{ExceptionType: text("A"), ExceptionFlags: clr.ExceptionThrownFlagsReThrown, ClrInstanceID: 9})
	s.Event(9*time.Millisecond, 5, &clr.ExceptionCatchStop{})
	s.Event(9*time.Millisecond, 5, &clr.ExceptionThrownStop{})
	s.Event(9*time.Millisecond, 6, &clr.ExceptionCatchStop{}) // of a block that was entered before
	rt := a.Result().Runtimes[0]
	want := []Handler{{"catch", "H", 1, 4}, {"finally", "G", 1, 2}, {"filter", "F", 1, 1}}
	if diff := cmp.Diff(want, rt.Handlers); diff != "" {
		t.Errorf("handlers (-want +got):\n%s", diff)
	}
	if rt.CLRInstance != 9 || rt.Count != 2 || rt.Rethrown != 1 || rt.HandlingMS.Count != 1 || rt.HandlingMS.Total != 3 || len(rt.Stacks) != 1 || rt.Stacks[0].Count != 2 {
		t.Errorf("%+v", rt)
	}
}

func TestManyMessages(t *testing.T) {
	var mux etw.Mux
	a := New(&mux)
	s := testtrace.NewScript(t, &mux)
	for i := range maxMessages + 5 {
		e := &clr.ExceptionThrownV1{ExceptionType: etw.MakeUTF16("A"), ExceptionMessage: etw.MakeUTF16(fmt.Sprint(i))}
		s.Event(time.Duration(i), 1, e)
	}
	s.Event(time.Second, 1, &clr.ExceptionThrownV1{ExceptionType: etw.MakeUTF16("A"), ExceptionMessage: etw.MakeUTF16("7")})
	rt := a.Result().Runtimes[0]
	if len(rt.Messages) != maxMessages+1 || rt.Messages[0].Count != 5 || rt.Messages[1].Count != 2 || len(rt.Thrown) != maxThrown {
		t.Errorf("%d messages, %+v, %d listed", len(rt.Messages), rt.Messages[:2], len(rt.Thrown))
	}
}
