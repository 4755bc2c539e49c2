package requests

import (
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/internal/actid"
	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/corpus"
	gocmp "github.com/google/go-cmp/cmp"
)

func analyze(tb testing.TB, path string) *Result {
	tb.Helper()
	var mux etw.Mux
	a := New(&mux)
	testtrace.Run(tb, &mux, path)
	return a.Result()
}

func near(got, want, tolerance float64) bool { return math.Abs(got-want) <= tolerance }

// theirNames are those of TraceEvent for tasks that are called otherwise here, "-" for
// those that it does not know.
var theirNames = map[string]string{"HttpConnection": "-", "RequestQueue": "-", "Execute": "BeginExecute"}

func TestTraceEventAgrees(t *testing.T) {
	compared := 0
	for _, file := range testtrace.All(t) {
		var peer struct {
			Requests struct {
				Activities []struct {
					Task       string
					DurationMs float64
					PID        int64
				}
				Started, Stopped int
			}
		}
		if !testtrace.Peer(t, file, &peer) || len(peer.Requests.Activities) == 0 {
			continue
		}
		name, count, started := testtrace.Name(file), 0, 0
		ours, theirs, diagnostic := map[string]float64{}, map[string]float64{}, map[string]string{}
		for _, p := range analyze(t, file).Processes {
			started += p.Started
			for _, task := range p.Tasks {
				name := cmp.Or(theirNames[task.Task], task.Task)
				if name == "-" {
					started -= task.Count + task.Open
					continue
				}
				if task.Provider == diagnosticSource {
					diagnostic[name] = "Activity" // most are one task there
					name = "Activity"
				}
				count += task.Count
				ours[name] += task.DurationMS.Total
			}
		}
		stopped := 0
		for _, a := range peer.Requests.Activities {
			// The runtime's own pairs are no activities: exceptions has them.
			if a.Task != "ExceptionHandling" {
				theirs[cmp.Or(diagnostic[a.Task], a.Task)] += a.DurationMs
				stopped++
			}
		}
		compared += count
		confused := otherStops(t, file)
		if count != stopped && len(confused) == 0 {
			t.Errorf("%s: %d activities ended, TraceEvent says %d", name, count, stopped)
		}
		for _, task := range slices.Sorted(maps.Keys(theirs)) {
			if !confused[task] && !near(ours[task], theirs[task], 1e-3) {
				t.Errorf("%s: %s takes %v ms, TraceEvent says %v", name, task, ours[task], theirs[task])
			}
		}
	}
	t.Logf("%d activities compared", compared)
}

// otherStops returns the tasks of which TraceEvent takes the stop of one for that of another, as it has the
// other's id.
func otherStops(t *testing.T, file string) map[string]bool {
	var mux etw.Mux
	on, begun, confused := make(map[etw.GUID]taskKey), make(map[taskKey]bool), make(map[string]bool)
	mux.HandleRest(func(r *etw.Record) error {
		if r.Schema == nil || r.Opcode != etw.OpcodeStart && r.Opcode != etw.OpcodeStop {
			return nil
		}
		key := taskKey{r.ProviderName, actid.TaskName(r.Schema)}
		switch was := on[r.ActivityID]; {
		case r.Opcode == etw.OpcodeStart:
			on[r.ActivityID], begun[key] = key, true
		case was.name != "" && was != key && begun[key]:
			confused[was.name], confused[key.name] = true, true
		}
		return nil
	})
	testtrace.Run(t, &mux, file)
	return confused
}

// The program's own account of its requests.
func TestTruth(t *testing.T) {
	file := testtrace.Named(t, "aspnet.nettrace")
	var truth struct {
		ByStatus map[string]int `json:"responses_by_status"`
	}
	if !testtrace.Truth(t, file, &truth) {
		t.Skip("the program says nothing")
	}
	got := map[string]int{}
	for _, task := range analyze(t, file).Processes[0].Tasks {
		if task.Provider == "System.Net.Http" && task.Task == "Request" {
			for _, s := range task.Statuses {
				if s.Status != "-1" { // of those without a response
					got[s.Status] = s.Count
				}
			}
		}
	}
	if diff := gocmp.Diff(truth.ByStatus, got); diff != "" {
		t.Errorf("requests by status (-truth +got):\n%s", diff)
	}
}

func TestSums(t *testing.T) {
	for _, file := range testtrace.All(t) {
		res := analyze(t, file)
		for _, p := range res.Processes {
			ended := 0
			for _, task := range p.Tasks {
				ended += task.Count
				if task.ExclusiveMS > task.DurationMS.Total+1e-6 || task.MaxConcurrency < task.Open {
					t.Errorf("%s: %+v", file, task)
				}
			}
			if p.Started != ended+p.Open+p.LostStops || p.Stopped != ended+p.StopsWithoutStart {
				t.Errorf("%s: %d started, %d stopped; %d ended, %d open, %d lost", file, p.Started, p.Stopped, ended, p.Open, p.LostStops)
			}
		}
		if _, err := json.Marshal(res); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// TestPaths: the parts of each activity adjoin, from its start to its stop, and add up by cause
// to its time and to that of its task.
func TestPaths(t *testing.T) {
	parts, late := 0, 0
	for _, file := range append(testtrace.All(t), corpus.Glob(t, "causes/*.nettrace.gz")...) {
		var mux etw.Mux
		a := New(&mux)
		sums := make(map[[2]string]map[string]float64)
		a.Tell()
		a.OnEnd(func(_ int64, provider, task string, act Activity) {
			if act.Flow != nil && act.Parent != "" {
				if up := act.Flow.Parent; up != nil && up.Started && (act.Flow.Begin < up.Begin || up.Over && !up.Implied && !act.AfterParent && !act.Flow.Implied) {
					t.Errorf("%s: %s is not within its parent, and not marked", file, act.ID)
				}
				if act.AfterParent {
					late++
				}
			}
			if act.Causes == nil {
				return
			}
			k := [2]string{provider, task}
			if sums[k] == nil {
				sums[k] = make(map[string]float64)
			}
			own, at := make(map[string]float64), act.StartMS
			for _, p := range act.Path {
				if math.Abs(p.StartMS-at) > 1e-5 {
					t.Errorf("%s: %s: a part begins at %v, and not at %v", file, act.ID, p.StartMS, at)
				}
				at = p.StartMS + p.DurationMS
				own[p.Kind] += p.DurationMS
				sums[k][p.Kind] += p.DurationMS
				parts++
			}
			all := 0.0
			for kind, ms := range act.Causes.Parts() {
				all += ms
				if math.Abs(own[kind]-ms) > 1e-5 {
					t.Errorf("%s: %s: %v ms %s in parts, want %v", file, act.ID, own[kind], kind, ms)
				}
			}
			if !act.Flow.Implied && math.Abs(all-act.DurationMS) > 1e-5 {
				t.Errorf("%s: %s: the causes are %v ms of %v", file, act.ID, all, act.DurationMS)
			}
		})
		testtrace.Run(t, &mux, file)
		for _, p := range a.Result().Processes {
			for i := range p.Tasks {
				x := &p.Tasks[i]
				if x.Causes == nil {
					continue
				}
				for kind, ms := range x.Causes.Parts() {
					if got := sums[[2]string{x.Provider, x.Task}][kind]; math.Abs(got-ms) > 1e-3 {
						t.Errorf("%s: %s: %v ms %s in parts, want %v", file, x.Task, got, kind, ms)
					}
				}
			}
		}
	}
	t.Logf("%d parts, %d activities that were over after their parents", parts, late)
	if parts == 0 {
		t.Error("no trace has parts")
	}
}

// sender returns a function that writes events of an EventSource with one field of text, or none.
func sender(s *testtrace.Script) func(at int, op etw.Opcode, name string, id, related etw.GUID, field, text string) {
	return func(at int, op etw.Opcode, name string, id, related etw.GUID, field, text string) {
		d := &etw.EventDesc{Name: name}
		var p []byte
		if field != "" {
			d.Fields = []etw.FieldDesc{{Name: field, Type: etw.InUnicodeString}}
			p = append(etw.MakeUTF16(text), 0, 0)
		}
		s.Activity, s.Related = id, related
		s.Record(time.Duration(at)*time.Millisecond, 3, &etw.Record{Provider: etw.GUID{7: 0x50}, ProviderName: "S", Opcode: op, Schema: d, Payload: p})
	}
}

func TestNesting(t *testing.T) {
	var mux etw.Mux
	a := New(&mux)
	s := testtrace.NewScript(t, &mux)
	send := sender(s)
	outer, first, second, none := actid.Make(1, 0x11), actid.Make(1, 0x11, 0x10), actid.Make(1, 0x11, 0x20), etw.GUID{}
	send(0, etw.OpcodeStart, "WorkStart", outer, none, "path", "/x")
	send(1, etw.OpcodeStart, "PartStart", first, outer, "", "")
	send(2, etw.OpcodeStart, "PartStart", second, outer, "", "")
	send(4, etw.OpcodeStop, "PartStop", first, none, "statusCode", "503")
	send(5, etw.OpcodeInfo, "PartFailed", second, none, "", "")
	send(6, etw.OpcodeStop, "PartStop", second, none, "Status", "200")
	send(6, etw.OpcodeStop, "PartStop", second, none, "", "") // again
	send(7, etw.OpcodeStart, "PartStart", first, outer, "", "")
	send(8, etw.OpcodeStart, "PartStart", first, outer, "", "") // the one before lost its end
	send(10, etw.OpcodeStop, "WorkStop", outer, none, "", "")
	send(10, etw.OpcodeStart, "PartStart", none, none, "", "")
	send(10, etw.OpcodeStop, "PartStop", none, none, "", "")
	p := a.Result().Processes[0]
	if p.Started != 5 || p.Stopped != 4 || p.StopsWithoutStart != 1 || p.Open != 1 || p.LostStops != 1 || p.WithoutID != 1 {
		t.Errorf("%+v", p)
	}
	work, part := p.Tasks[0], p.Tasks[1]
	if work.Task != "Work" || work.DurationMS.Total != 10 || work.ExclusiveMS != 2 || work.Slowest[0].Name != "path=/x" || work.Slowest[0].ID != "/#1/1/1/" || !work.Errors.IsZero() {
		t.Errorf("%+v", work)
	}
	if part.Count != 2 || part.Errors.Or(-1) != 2 || part.MaxConcurrency != 2 || part.Open != 1 || part.Slowest[0].Parent != "Work" || len(part.Statuses) != 2 {
		t.Errorf("%+v", part)
	}
}

func TestQueries(t *testing.T) {
	var mux etw.Mux
	a := New(&mux)
	s := testtrace.NewScript(t, &mux)
	number := func(name string) etw.FieldDesc { return etw.FieldDesc{Name: name, Type: etw.InInt32} }
	begin := &etw.EventDesc{Name: "BeginExecute", Fields: []etw.FieldDesc{number("objectId"), {Name: "commandText", Type: etw.InUnicodeString}}}
	end := &etw.EventDesc{Name: "EndExecute", Fields: []etw.FieldDesc{number("objectId"), number("compositeState"), number("sqlExceptionNumber")}}
	send := func(ms int, d *etw.EventDesc, p []byte) {
		s.Record(time.Duration(ms)*time.Millisecond, 1, &etw.Record{ProviderName: "Microsoft-AdoNet-SystemData", Schema: d, Payload: p})
	}
	text := append(etw.MakeUTF16(strings.Repeat("select ", 20)), 0, 0)
	send(1, begin, append([]byte{1, 0, 0, 0}, text...))
	send(2, begin, append([]byte{2, 0, 0, 0}, text...))
	send(4, end, []byte{2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0})
	send(9, end, []byte{1, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0})
	send(9, &etw.EventDesc{Name: "EndExecute", Fields: end.Fields[1:2]}, []byte{1, 0, 0, 0})
	send(9, end, nil)
	task := a.Result().Processes[0].Tasks[0]
	if task.Task != "Execute" || task.Count != 2 || task.Errors.Or(-1) != 1 || task.DurationMS.Total != 10 || task.MaxConcurrency != 2 {
		t.Errorf("%+v", task)
	}
	if q := task.Slowest[0]; q.Status != "7" || !q.Failed || len([]rune(q.Name)) != maxCommand+1 || cutAfter("x", maxCommand) != "x" {
		t.Errorf("%+v", q)
	}
}

// An activity is called by the text that tells it from others of its task.
func TestNames(t *testing.T) {
	for want, fields := range map[string][][2]string{
		"GET /bread":              {{"connectionId", "7"}, {"path", "/bread"}, {"method", "GET"}},
		"http://shop:80/bread?n=": {{"scheme", "http"}, {"host", "shop"}, {"port", "80"}, {"pathAndQuery", "/bread?n="}},
		"https://shop/":           {{"scheme", "https"}, {"host", "shop"}, {"pathAndQuery", "/"}},
		"path=/bread":             {{"path", "/bread"}},
		"":                        nil,
	} {
		var mux etw.Mux
		a := New(&mux)
		s := testtrace.NewScript(t, &mux)
		s.Activity = actid.Make(1, 0x11)
		d := &etw.EventDesc{Name: "RequestStart"}
		var p []byte
		for _, f := range fields {
			d.Fields = append(d.Fields, etw.FieldDesc{Name: f[0], Type: etw.InUnicodeString})
			p = append(etw.AppendUTF16(p, f[1]), 0, 0)
		}
		s.Record(0, 3, &etw.Record{Provider: etw.GUID{7: 0x50}, ProviderName: "S", Opcode: etw.OpcodeStart, Schema: d, Payload: p})
		s.Record(time.Millisecond, 3, &etw.Record{Provider: etw.GUID{7: 0x50}, ProviderName: "S", Opcode: etw.OpcodeStop, Schema: &etw.EventDesc{Name: "RequestStop"}})
		if got := a.Result().Processes[0].Tasks[0].Slowest[0].Name; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
