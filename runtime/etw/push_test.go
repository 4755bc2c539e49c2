package etw_test

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A list is a source of records, and leaves out those that are not wanted if it pushes.
type list struct {
	records []etw.Record
	pushed  int
	end     error
}

func (l *list) Next(r *etw.Record) error {
	if len(l.records) == 0 {
		if err := l.end; err != nil {
			l.end = nil
			return err
		}
		return io.EOF
	}
	*r = l.records[0]
	l.records = l.records[1:]
	return nil
}

type pushed struct{ *list }

func (p pushed) Push(ctx context.Context, w *etw.Wants, do func(*etw.Record) error) error {
	return etw.Push(ctx, p.list, nil, func(r *etw.Record) error {
		if w != nil && !w.Kind(r) {
			w.Skipped++
			return nil
		}
		p.pushed++
		return do(r)
	})
}

func collections(t *testing.T, n int) *list {
	l := &list{}
	for i := range n {
		start, end := clr.GCStart{Count: uint32(i)}, clr.GCEnd{Count: uint32(i)}
		for _, e := range []interface {
			etw.Described
			AppendPayload([]byte, etw.PtrSize) ([]byte, error)
		}{&start, &end} {
			payload := testio.Payload(t, e, etw.Ptr64)
			d := e.EventDesc()
			l.records = append(l.records, etw.Record{
				Kind: etw.KindManifest, Provider: d.Provider.GUID, ID: d.ID, Version: d.Version, PointerSize: etw.Ptr64, Payload: payload,
			})
		}
	}
	return l
}

// TestRunPushes runs a source that pushes and one that does not: handlers and counts are
// the same, and handlers that come later have their events.
func TestRunPushes(t *testing.T) {
	run := func(source func(*list) etw.Source) (etw.MuxStats, [2]int, int) {
		l := collections(t, 5)
		l.end = etw.ErrIncomplete
		var mux etw.Mux
		var n [2]int
		etw.Handle(&mux, func(_ *etw.Record, e *clr.GCStart) error {
			if n[0]++; e.Count == 2 {
				etw.Handle(&mux, func(*etw.Record, *clr.GCEnd) error { n[1]++; return nil })
			}
			return nil
		})
		if err := mux.Run(t.Context(), source(l)); !errors.Is(err, etw.ErrIncomplete) {
			t.Error(err)
		}
		return mux.Stats(), n, l.pushed
	}
	want, seen, _ := run(func(l *list) etw.Source { return l })
	if seen != [2]int{5, 3} || want.Records != 10 || want.Unhandled != 2 {
		t.Errorf("one by one: %v, %+v", seen, want)
	}
	got, seen, n := run(func(l *list) etw.Source { return pushed{l} })
	if seen != [2]int{5, 3} || got != want || n != 8 {
		t.Errorf("pushed %d: %v, %+v", n, seen, got)
	}
}

// TestRunRest gives all records to a function for the rest.
func TestRunRest(t *testing.T) {
	l, n := collections(t, 4), 0
	var mux etw.Mux
	mux.HandleRest(func(*etw.Record) error { n++; return nil })
	if err := mux.Run(t.Context(), pushed{l}); err != nil || n != 8 || mux.Stats().Unhandled != 8 {
		t.Errorf("%v; %d records, %+v", err, n, mux.Stats())
	}
}

// TestRunEnds ends by an error of a handler, and by the context.
func TestRunEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	enough := errors.New("enough")
	var mux etw.Mux
	etw.Handle(&mux, func(_ *etw.Record, e *clr.GCStart) error {
		switch e.Count {
		case 1:
			return enough
		case 3:
			cancel()
		}
		return nil
	})
	l := collections(t, 6)
	if err := mux.Run(ctx, pushed{l}); err != enough {
		t.Error(err)
	}
	if err := mux.Run(ctx, pushed{l}); !errors.Is(err, context.Canceled) || len(l.records) == 0 {
		t.Errorf("%v with %d records left", err, len(l.records))
	}
}
