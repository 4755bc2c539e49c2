package etw_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A tape is a source that delivers GCStart_V2 events with the given counts, then
// its errors one by one, and then io.EOF for ever.
type tape struct {
	counts []uint32
	errs   []error
}

func (s *tape) Next(r *etw.Record) error {
	if len(s.counts) > 0 {
		payload, err := (&clr.GCStartV2{Count: s.counts[0]}).AppendPayload(nil, etw.Ptr64)
		*r = etw.Record{Provider: clr.Provider.Desc.GUID, ID: 1, Version: 2, PointerSize: etw.Ptr64, Payload: payload}
		s.counts = s.counts[1:]
		return err
	}
	if len(s.errs) > 0 {
		err := s.errs[0]
		s.errs = s.errs[1:]
		return err
	}
	return io.EOF
}

// incomplete is the error of a source for a trace that is cut off.
func incomplete() error {
	var log etw.DamageLog
	log.Add(&etw.Damage{Format: "nettrace", File: "app.nettrace", Offset: 2842, Part: "event block", Err: io.ErrUnexpectedEOF})
	return log.Err()
}

// cutOffTrace is the input of examples.
func cutOffTrace() etw.Source {
	return &tape{counts: []uint32{1, 2}, errs: []error{incomplete()}}
}

func TestRecords(t *testing.T) {
	s := &tape{counts: []uint32{1, 2, 3}, errs: []error{incomplete()}}
	n := 0
	var last error
	for r, err := range etw.Records(s) {
		if err != nil {
			if r != nil {
				t.Error("a record comes with the error")
			}
			last = err
			continue
		}
		if last != nil {
			t.Error("a record comes after the error")
		}
		n++
	}
	if n != 3 || !errors.Is(last, etw.ErrIncomplete) {
		t.Errorf("%d records and %v", n, last)
	}
	for r, err := range etw.Records(s) {
		t.Errorf("after the end there is %v, %v", r, err)
	}
	s = &tape{counts: []uint32{1, 2, 3}}
	for range etw.Records(s) {
		break
	}
	if len(s.counts) != 2 {
		t.Errorf("after an early end %d records are left, want 2", len(s.counts))
	}
}

func TestRun(t *testing.T) {
	stop := errors.New("stop")
	canceled, cancel := context.WithCancel(context.Background())
	defer cancel()
	for _, test := range []struct {
		name  string
		s     *tape
		ctx   context.Context
		on    func(count uint32) error
		want  error
		calls int
	}{
		{"to the end", &tape{counts: []uint32{1, 2, 3}}, context.Background(), nil, nil, 3},
		{"of a trace that is cut off", &tape{counts: []uint32{1, 2, 3}, errs: []error{incomplete()}}, context.Background(), nil, etw.ErrIncomplete, 3},
		{"to an error of a handler", &tape{counts: []uint32{1, 2, 3}}, context.Background(), func(n uint32) error {
			if n == 2 {
				return stop
			}
			return nil
		}, stop, 2},
		{"until it is cancelled", &tape{counts: []uint32{1, 2, 3}}, canceled, func(n uint32) error {
			if n == 2 {
				cancel()
			}
			return nil
		}, context.Canceled, 2},
		{"after it was cancelled", &tape{counts: []uint32{1, 2, 3}}, canceled, nil, context.Canceled, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			var m etw.Mux
			calls := 0
			etw.Handle(&m, func(r *etw.Record, e *clr.AnyGCStart) error {
				calls++
				if r.ProviderName != "Microsoft-Windows-DotNETRuntime" {
					t.Errorf("the provider is called %q", r.ProviderName)
				}
				if test.on != nil {
					return test.on(e.Count)
				}
				return nil
			})
			if err := m.Run(test.ctx, test.s); !errors.Is(err, test.want) {
				t.Errorf("got %v, want %v", err, test.want)
			}
			if calls != test.calls || m.Stats().Records != uint64(test.calls) {
				t.Errorf("%d calls, %v; want %d", calls, m.Stats(), test.calls)
			}
		})
	}
}

func TestDamage(t *testing.T) {
	for _, test := range []struct {
		damage etw.Damage
		want   string
	}{
		{etw.Damage{Format: "etl", Offset: 5, Err: io.ErrUnexpectedEOF}, "etl: offset 5: unexpected EOF"},
		{etw.Damage{Format: "etl", File: "a.etl", Offset: 5, Part: "buffer", Err: io.ErrUnexpectedEOF}, "etl: a.etl: offset 5: buffer: unexpected EOF"},
	} {
		if got := test.damage.Error(); got != test.want || !errors.Is(&test.damage, io.ErrUnexpectedEOF) {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}

func TestDamageLog(t *testing.T) {
	var log etw.DamageLog
	if err := log.Err(); err != nil {
		t.Errorf("no damage is %v", err)
	}
	for i := range int64(150) {
		cause := io.ErrNoProgress
		if i == 99 {
			cause = io.ErrUnexpectedEOF
		}
		log.Add(&etw.Damage{Format: "etl", Offset: i, Err: cause})
		err := log.Err()
		if text := err.Error(); !strings.HasPrefix(text, "etl: offset 0: ") || (i == 0) != !strings.Contains(text, "more") {
			t.Fatalf("%d damages are %q", i+1, text)
		}
	}
	err := log.Err()
	var one *etw.Damage
	var all *etw.IncompleteError
	switch {
	case len(log.Damages) != 100 || log.Count != 150:
		t.Errorf("%d damages of %d are kept", len(log.Damages), log.Count)
	case !strings.HasSuffix(err.Error(), " (and 149 more)"):
		t.Errorf("got %v", err)
	case !errors.Is(err, etw.ErrIncomplete) || !errors.As(err, &all) || !errors.As(err, &one) || one.Offset != 0:
		t.Errorf("%v is not what it should be", err)
	case !errors.Is(err, io.ErrUnexpectedEOF) || !errors.Is(err, io.ErrNoProgress) || errors.Is(err, io.EOF):
		t.Errorf("the causes of %v are not found", err)
	}
	if got := new(etw.IncompleteError).Error(); got != etw.ErrIncomplete.Error() {
		t.Errorf("an error without damages is %q", got)
	}
}
