package counters

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/etwtest"
	"github.com/etwgen/etwgen/tests/corpus"
	"github.com/etwgen/etwgen/trace"
)

func TestEvents(t *testing.T) {
	etwtest.RoundTrip(t, Types()...)
	etwtest.Truncate(t, Types()...)
	etwtest.Clone(t, Types()...)
}

// counted decodes all counters of a recording and encodes them again.
func counted(t *testing.T, name string) (values, increments int) {
	t.Helper()
	same := func(r *etw.Record, e etw.Event, name etw.UTF16) error {
		if again, err := e.AppendPayload(nil, r.PointerSize); err != nil || !bytes.Equal(again, r.Payload) {
			t.Errorf("%s/%s: encoded again %x, %v, want %x", r.ProviderName, name, again, err, r.Payload)
		}
		info, ok := Counter(r.ProviderName, name.String())
		if ours := sources()[r.ProviderName]; ours && !ok {
			t.Errorf("%s of %s is not known", name, r.ProviderName)
		} else if ok && info.Description == "" {
			t.Errorf("%+v says nothing", info)
		}
		return nil
	}
	var mux etw.Mux
	mux.HandleRest(Handler(
		func(r *etw.Record, v *Value) error {
			values++
			if v.CounterType.String() != "Mean" || v.Count < 0 {
				t.Errorf("%s: %v", r.ProviderName, v)
			}
			return same(r, v, v.Name)
		},
		func(r *etw.Record, i *Increment) error {
			increments++
			if i.CounterType.String() != "Sum" {
				t.Errorf("%s: %v", r.ProviderName, i)
			}
			return same(r, i, i.Name)
		},
	))
	tr := testio.Open(t, trace.Open, corpus.File(t, "dotnet10", name))
	defer tr.Close()
	all := 0
	for r := new(etw.Record); ; {
		if err := tr.Next(r); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if r.Schema != nil && r.Schema.Name == eventName {
			all++
		}
		mux.Dispatch(r)
	}
	if s := mux.Stats(); s.FirstError != nil || all != values+increments {
		t.Errorf("%s: %d values and %d increments of %d events, %v", name, values, increments, all, s.FirstError)
	}
	t.Logf("%s: %d of %d events of counters", name, values+increments, all)
	return values, increments
}

// sources are those of which all counters are to be known.
func sources() map[string]bool {
	m := make(map[string]bool)
	for _, i := range Known() {
		if !i.Meter {
			m[i.Provider] = true
		}
	}
	return m
}

func TestRecorded(t *testing.T) {
	for _, name := range []string{"counters.nettrace", "eventsource-web.nettrace.gz", "eventsource-fire.nettrace.gz"} {
		if values, increments := counted(t, name); values < 10 || increments < 5 {
			t.Errorf("%s: %d values, %d increments", name, values, increments)
		}
	}
}

// TestOthers has Handler pass over other events than those of counters.
func TestOthers(t *testing.T) {
	called := false
	h := Handler(func(*etw.Record, *Value) error { called = true; return nil }, nil)
	number := etw.FieldDesc{Name: "Name", Type: etw.InInt32}
	for _, r := range []*etw.Record{
		{}, {Schema: &etw.EventDesc{Name: "EventCounters"}}, {Schema: &etw.EventDesc{Name: "EventCounters", Fields: []etw.FieldDesc{number}}},
		{Schema: &etw.EventDesc{Name: "Other", Fields: value.Fields}}, {Schema: &etw.EventDesc{Name: "EventCounters", Fields: increment.Fields}},
	} {
		if err := h(r); err != nil || called {
			t.Errorf("%+v: %v, called %v", r, err, called)
		}
	}
	cut := &etw.Record{Schema: &etw.EventDesc{Name: "EventCounters", Fields: value.Fields}, Payload: []byte{1}}
	if err := h(cut); !errors.Is(err, etw.ErrTruncated) || called {
		t.Errorf("of a payload that is cut off: %v, called %v", err, called)
	}
}

func TestKnown(t *testing.T) {
	all := Known()
	if len(all) < 150 {
		t.Errorf("%d are known", len(all))
	}
	for _, i := range all {
		if i.Provider == "" || i.Name == "" || i.Unit == "" || i.Description == "" || strings.ContainsAny(i.Description, "\t;") || strings.HasSuffix(i.Description, ".") {
			t.Errorf("%+v", i)
		}
		find := Counter
		if i.Meter {
			find = Instrument
		}
		if found, ok := find(i.Provider, i.Name); !ok || found != i {
			t.Errorf("%s of %s is %+v", i.Name, i.Provider, found)
		}
	}
	if i, ok := Instrument("System.Runtime", "gc-heap-size"); ok {
		t.Errorf("a counter is the instrument %+v", i)
	}
}
