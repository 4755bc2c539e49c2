package activities

import (
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/internal/actid"
	"github.com/etwgen/etwgen/runtime/etw"
)

// TestSiblings: of a request that begins two activities and goes on after both, all that was awaited
// is the one that ended last, from its begin on.
func TestSiblings(t *testing.T) {
	var mux etw.Mux
	a := New(&mux)
	s := newShop(t, &mux)
	var x *Activity
	a.OnSpan(func(_ int64, span Span) {
		if span.Of.Parent == nil {
			x = span.Of
		}
	})
	whole := actid.Make(1, 0x10)
	parts := []etw.GUID{actid.Make(1, 0x11), actid.Make(1, 0x12)}
	of := func(i int, op string) *etw.EventDesc {
		task := [...]string{"Fast", "Slow"}[i]
		return &etw.EventDesc{Name: task + op, TaskName: task}
	}
	s.worksFor(1, whole)
	s.source(1, s.start, etw.OpcodeStart, whole)
	for i, id := range parts {
		s.worksFor(1, id)
		s.source(1, of(i, "Start"), etw.OpcodeStart, id)
		s.worksFor(1, whole)
	}
	s.worksFor(1, etw.GUID{})
	for i, id := range parts {
		s.at += 20 * time.Millisecond
		thread := int64(2 + i)
		s.worksFor(thread, id)
		s.at += 3 * time.Millisecond // more than within which work goes on
		s.source(thread, of(i, "Stop"), etw.OpcodeStop, id)
		s.worksFor(thread, whole)
		if i == 0 {
			s.worksFor(thread, etw.GUID{})
		}
	}
	s.source(3, s.stop, etw.OpcodeStop, whole)
	if x == nil || x.Causes == nil {
		t.Fatalf("%+v", x)
	}
	awaited := make(map[string]int64)
	for _, p := range x.Causes.Path {
		if p.Kind == Awaiting {
			awaited[p.Name] += p.To - p.From
		}
	}
	if len(awaited) != 1 || awaited["Slow"] < 43e6 || awaited["Slow"] > 43e6+1e5 {
		t.Errorf("%v", awaited)
	}
}
