package etwtest

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A tape is a source that plays records, then err, and then io.EOF.
type tape struct {
	records []etw.Record
	err     error
}

func (s *tape) Next(r *etw.Record) error {
	if len(s.records) > 0 {
		*r = s.records[0]
		s.records = s.records[1:]
		return nil
	}
	err := s.err
	if s.err = io.EOF; err != nil {
		return err
	}
	return io.EOF
}

func TestPoison(t *testing.T) {
	record := func(n byte) etw.Record {
		return etw.Record{
			ID: uint16(n), Payload: []byte{n, n}, Stack: etw.Stack{Addresses: bytes.Repeat([]byte{n}, 8), PtrSize: etw.Ptr64},
			Extended: []etw.ExtendedItem{{Type: etw.ExtEventKey, Data: []byte{n}}, {Type: etw.ExtCounters, Data: []byte{n, n}}},
		}
	}
	original := []etw.Record{record(1), record(1), {ID: 3}}
	src := &tape{slices.Clone(original), etw.ErrIncomplete}
	var kept [][]byte // views of all records so far
	gone := func() bool {
		return !slices.ContainsFunc(kept, func(b []byte) bool { return !bytes.Equal(b, bytes.Repeat([]byte{poisonByte}, len(b))) })
	}
	poisoned := Poison(src)
	var r etw.Record
	for i, want := range original {
		if err := poisoned.Next(&r); err != nil {
			t.Fatal(err)
		}
		if !gone() {
			t.Errorf("at record %d views of earlier ones are still good", i)
		}
		if r.ID != want.ID || !bytes.Equal(r.Payload, want.Payload) || !slices.Equal(slices.Collect(r.Stack.All()), slices.Collect(want.Stack.All())) ||
			len(r.Extended) != len(want.Extended) {
			t.Errorf("record %d is %+v, want %+v", i, r, want)
		}
		kept = append(kept, r.Payload, r.Stack.Addresses)
		for k, item := range r.Extended {
			if item.Type != want.Extended[k].Type || !bytes.Equal(item.Data, want.Extended[k].Data) {
				t.Errorf("item %d is %+v", k, item)
			}
			kept = append(kept, item.Data)
		}
	}
	if err := poisoned.Next(&r); !errors.Is(err, etw.ErrIncomplete) || !gone() {
		t.Errorf("after the last record: %v, views gone %v", err, gone())
	}
	if err := poisoned.Next(&r); err != io.EOF {
		t.Errorf("at the end: %v", err)
	}
	if first := record(1); !bytes.Equal(original[0].Payload, first.Payload) || original[0].Extended[0].Data[0] != 1 {
		t.Error("the memory of the source itself was destroyed")
	}
}
