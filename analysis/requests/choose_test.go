package requests

import (
	"testing"

	"github.com/etwgen/etwgen/analysis/internal/actid"
	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/runtime/etw"
)

// ordering returns what two orders of the path /a, one of /b and one of /c make, of which the last of
// /a and that of /c are not over at the end; each has a part of its own.
func ordering(t *testing.T, a *Analysis, mux *etw.Mux) *Process {
	t.Helper()
	s := testtrace.NewScript(t, mux)
	send := sender(s)
	for i, path := range []string{"/a", "/b", "/a", "/c"} {
		id, part := actid.Make(1, byte(0x11+i*0x10)), actid.Make(1, byte(0x11+i*0x10), 0x10)
		at := 10 * i
		send(at, etw.OpcodeStart, "OrderStart", id, etw.GUID{}, "path", path)
		send(at+1, etw.OpcodeStart, "PartStart", part, id, "", "")
		send(at+3, etw.OpcodeStop, "PartStop", part, etw.GUID{}, "status", "7")
		if i < 2 {
			send(at+5+i, etw.OpcodeStop, "OrderStop", id, etw.GUID{}, "Status", []string{"200", "503"}[i])
		}
	}
	send(50, etw.OpcodeStop, "PartStop", actid.Make(1, 0x71), etw.GUID{}, "", "")
	return a.Result().Processes[0]
}

// The status of an activity of any EventSource is in a field that is called so, if it is one of HTTP.
func TestOpen(t *testing.T) {
	var mux etw.Mux
	a := New(&mux)
	p := ordering(t, a, &mux)
	if p.Started != 8 || p.Stopped != 7 || p.Open != 2 || p.StopsWithoutStart != 1 {
		t.Errorf("%+v", p)
	}
	order := p.Tasks[0]
	if len(order.Unended) != 2 || order.Unended[0].DurationMS != 30 || order.Unended[0].Name != "path=/a" || !order.Unended[0].Open || order.Errors.Or(0) != 1 || len(order.Statuses) != 2 {
		t.Errorf("%+v", order)
	}
	for _, e := range order.Endpoints {
		want := map[string]struct {
			count, open int
			ms          float64
		}{"/a": {1, 1, 30}, "/b": {1, 0, 0}, "/c": {0, 1, 20}}[e.Endpoint]
		if e.Count != want.count || e.Open != want.open || e.OpenMS.Or(0) != want.ms || e.Errors.Or(0) != 0 && e.Endpoint != "/b" {
			t.Errorf("%+v", e)
		}
	}
	if part := p.Tasks[1]; part.Task != "Part" || len(part.Statuses) != 0 || !part.Errors.IsZero() {
		t.Errorf("%+v", part)
	}
}

// TestChoose: of chosen activities and those within them alone anything is counted.
func TestChoose(t *testing.T) {
	var mux etw.Mux
	a := New(&mux)
	a.Choose(func(_, task string, act *Activity) bool { return task == "Order" && act.Endpoint == "/a" })
	p := ordering(t, a, &mux)
	if p.Started != 4 || p.Stopped != 3 || p.Open != 1 || p.StopsWithoutStart != 0 || len(p.Tasks) != 2 {
		t.Errorf("%+v", p)
	}
	order, part := p.Tasks[0], p.Tasks[1]
	if order.Count != 1 || order.Open != 1 || len(order.Endpoints) != 1 || order.Errors.Or(0) != 0 || order.MaxConcurrency != 1 {
		t.Errorf("%+v", order)
	}
	if part.Task != "Part" || part.Count != 2 || part.DurationMS.Total != 4 {
		t.Errorf("%+v", part)
	}
}
