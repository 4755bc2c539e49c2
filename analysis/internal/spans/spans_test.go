package spans

import (
	"testing"

	"github.com/etwgen/etwgen/runtime/etw"
)

// TestGap: spans that are open on a thread of which events were lost since are given up.
func TestGap(t *testing.T) {
	var s Table[int]
	of := func(thread int64, lost uint32) *etw.Record { return &etw.Record{ThreadID: thread, Lost: lost} }
	s.Push(1, 10)
	s.Push(2, 20)
	if s.Gap(of(1, 0)) || s.Top(1) == nil {
		t.Error("nothing was lost")
	}
	if !s.Gap(of(1, 5)) || s.Top(1) != nil || s.Top(2) == nil || s.Lost != 1 {
		t.Errorf("%+v", s)
	}
	s.Push(1, 11)
	if !s.Gap(of(1, 5)) || s.Top(1) == nil || s.Lost != 1 {
		t.Errorf("nothing more was lost: %+v", s)
	}
}

func TestTable(t *testing.T) {
	var s Table[int]
	if _, ok := s.Pop(1); ok || s.Top(1) != nil || s.Find(1, func(*int) bool { return true }) != nil {
		t.Error("something is open")
	}
	*s.Push(1, 9)++
	s.Push(1, 20)
	s.Push(1, 30)
	s.Push(2, 40)
	if *s.Top(1) != 30 || *s.Find(1, func(v *int) bool { return *v < 20 }) != 10 {
		t.Error(*s.Top(1))
	}
	if _, _, ok := s.PopMatch(1, func(v *int) bool { return *v == 99 }); ok {
		t.Error("99 is open")
	}
	v, lost, ok := s.PopMatch(1, func(v *int) bool { return *v == 20 })
	if v != 20 || len(lost) != 1 || lost[0] != 30 || !ok || s.Lost != 1 {
		t.Error(v, lost, ok)
	}
	if open := s.Open(); len(open) != 2 || open[0].Value != 10 || open[1].Thread != 2 {
		t.Errorf("%+v", open)
	}
	if v, ok := s.Pop(1); v != 10 || !ok {
		t.Error(v, ok)
	}
	for i := range maxDepth + 3 {
		s.Push(3, i)
	}
	if s.Lost != 4 || len(s.threads[3]) != maxDepth || s.threads[3][0] != 3 {
		t.Errorf("%d lost, %d open", s.Lost, len(s.threads[3]))
	}
}
