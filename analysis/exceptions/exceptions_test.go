package exceptions

import (
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/clr/rundown"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/google/go-cmp/cmp"
)

func analyze(tb testing.TB, path string) *Result { return testtrace.Analyze(tb, New, path) }

// The figures were measured before, by another program.
func TestKnownTrace(t *testing.T) {
	res := analyze(t, testtrace.Named(t, "filtrace_exceptions.nettrace"))
	want := []Type{{Tally{Count: 1333, New: 1333}, "System.InvalidOperationException"}, {Tally{Count: 667, New: 667}, "System.ArgumentException"}}
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
			blocks = [3]int{blocks[0] + int(rt.Catches.Or(0)), blocks[1] + int(rt.Filters.Or(0)), blocks[2] + int(rt.Finallys.Or(0))}
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

// The program's own account of the exceptions that it threw.
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
		rows := res.Tables()[0]
		for i, typ := range res.Types {
			for column, n := range map[string]int{"new": typ.New, "passedOn": typ.PassedOn} { // unknown is not 0
				v, ok := rows.At(i, rows.Column(column)).Float()
				if ok != (typ.Untold == 0) || ok && v != float64(n) {
					t.Errorf("%s: %s of %+v is %v, %v", name, column, typ, v, ok)
				}
			}
			got[typ.Type] = typ.Throws()
			if typ.Untold > 0 && typ.New <= truth.ByType[typ.Type] && truth.ByType[typ.Type] <= typ.Throws() {
				got[typ.Type] = truth.ByType[typ.Type] // as far as the trace tells
			}
		}
		if diff := cmp.Diff(truth.ByType, got); diff != "" {
			t.Errorf("%s (-truth +got):\n%s", name, diff)
		}
		if stacks := len(res.Runtimes[0].Stacks) > 0; stacks != (res.Untold == 0) || stacks && res.PassedOn < truth.Counts.Extra || !stacks && res.Untold != res.Count {
			t.Errorf("%s: %+v", name, res.Tally)
		}
		if n := int(res.Runtimes[0].Filters.Or(-1)); n != truth.Counts.Filters {
			t.Errorf("%s: %d filters, want %d", name, n, truth.Counts.Filters)
		}
		checkOrder(t, name, res.Runtimes[0].Thrown, truth.Order)
	}
}

// checkOrder checks that the types come in the order of the truth, which does not have those
// that are thrown again. Some messages differ from the program's.
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
	if rt.CaughtAgain != 0 {
		t.Errorf("%d were caught again", rt.CaughtAgain)
	}
	for range 3 { // throws without an operand have no events since .NET 9, and are caught nevertheless
		s.Event(10*time.Millisecond, 5, &clr.ExceptionCatchStart{MethodName: text("H"), ClrInstanceID: 9})
		s.Event(10*time.Millisecond, 5, &clr.ExceptionCatchStop{})
	}
	if n := a.Result().Runtimes[0].CaughtAgain; n != 2 {
		t.Errorf("%d were caught again, want 2", n)
	}
	if list := a.Result().Runtimes[0].Uncaught; list != nil {
		t.Errorf("not caught: %+v", list)
	}
	s.Event(11*time.Millisecond, 5, &clr.ExceptionThrownV1{ExceptionType: text("B"), ExceptionMessage: text("y"), ClrInstanceID: 9})
	if list := a.Result().Runtimes[0].Uncaught; len(list) != 1 || list[0].AtMS != 11 || list[0].Thread != 5 || list[0].Type != "B" || list[0].Message != "y" {
		t.Errorf("not caught: %+v", list)
	}
}

// TestPassedOn has the code that throws at addresses that only a list at the end names.
func TestPassedOn(t *testing.T) {
	for _, listed := range []bool{true, false} {
		var mux etw.Mux
		a := New(&mux)
		s := testtrace.NewScript(t, &mux)
		text := etw.MakeUTF16
		at := 0
		throw := func(flags clr.ExceptionThrownFlags, frames ...uint64) {
			s.Stack = etw.Stack{PtrSize: etw.Ptr64}
			for _, f := range frames {
				s.Stack.Addresses = binary.LittleEndian.AppendUint64(s.Stack.Addresses, f)
			}
			at++
			s.Event(time.Duration(at)*time.Millisecond, 5, &clr.ExceptionThrownV1{ExceptionType: text("A"), ExceptionFlags: flags, ClrInstanceID: 9})
		}
		throw(0, 0x1010, 0x3000)                                 // by a method of the program
		throw(0, 0x1010, 0x2010, 0x4000)                         // by ExceptionDispatchInfo
		throw(0, 0x2010, 0x4000)                                 // the same before .NET 9
		throw(0, 0x2110, 0x3000)                                 // by a neighbour
		throw(0)                                                 // without a stack
		throw(clr.ExceptionThrownFlagsReThrown, 0x1010, 0x3000)  // says of itself that it is not new
		throw(0, 0x5000, 0x5010, 0x1010, 0x1020, 0x2010, 0x4000) // with frames below that are not compiled ahead
		throw(0, 0x5000, 0x5010, 0x1010, 0x1020, 0x3000, 0x2010) // by a method of the program
		throw(0, 0x1010, 0x1010, 0x1010, 0x1010, 0x1010, 0x1010, 0x1010, 0x1010, 0x2010)
		throw(0, 0x5000, 0x1010, 0x1020, 0x3000, 0x3010, 0x5000, 0x5010, 0x1010, 0x1020, 0x2010) // by a filter
		throw(0, 0x1010, 0x6000, 0x6100, 0x3100)                                                 // by methods below an awaiter, whose events were lost
		s.Stack = etw.Stack{}
		if listed {
			for _, m := range []struct {
				class, method string
				at            uint64
			}{{"System.Runtime.EH", "DispatchEx", 0x1000}, {"System.Runtime.ExceptionServices.ExceptionDispatchInfo", "Throw", 0x2000}, {"System.Runtime.ExceptionServices.ExceptionDispatchInfo", "Capture", 0x2100}, {"System.Runtime.CompilerServices.TaskAwaiter", "ValidateEnd", 0x3100}} {
				s.Event(time.Second, 6, &rundown.MethodDCEndVerboseV1{MethodNamespace: text(m.class), MethodName: text(m.method), MethodStartAddress: m.at, MethodSize: 0x100, ClrInstanceID: 9})
			}
			s.Event(time.Second, 6, &rundown.DCEndCompleteV1{ClrInstanceID: 9})
		}
		want, how := Tally{Count: 11, Rethrown: 1, Untold: 10}, []string{"", "", "", "", "", "rethrown", "", "", "", "", ""}
		if listed {
			want, how = Tally{Count: 11, New: 4, PassedOn: 3, Rethrown: 1, Untold: 3}, []string{"new", "passed on", "passed on", "new", "", "rethrown", "passed on", "new", "", "new", ""}
		}
		res := a.Result()
		if res.Tally != want || res.Runtimes[0].Tally != want || res.Types[0].Tally != want || res.Runtimes[0].Messages[0].Tally != want {
			t.Errorf("listed %v: %+v, want %+v", listed, res.Tally, want)
		}
		for i, x := range res.Runtimes[0].Thrown {
			if x.How != how[i] {
				t.Errorf("listed %v: %d is %q, want %q", listed, i, x.How, how[i])
			}
		}
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
