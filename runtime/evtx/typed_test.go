package evtx_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/etwgen/etwgen/generated/windows/auditing"
	"github.com/etwgen/etwgen/generated/windows/defender"
	"github.com/etwgen/etwgen/generated/windows/powershell"
	"github.com/etwgen/etwgen/generated/windows/scheduler"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/evtx"
	"github.com/etwgen/etwgen/tests/corpus"
)

// Types of manifests decode records of real logs to the names and values that the log has for
// them, and make the same payload of these again.
func TestTyped(t *testing.T) {
	types := map[etw.Key]etw.Event{}
	for _, list := range [][]etw.Event{auditing.Types(), defender.Types(), powershell.Types(), scheduler.Types()} {
		for _, e := range list {
			types[e.EventDesc().Key()] = e
		}
	}
	events, fields := 0, 0
	for _, path := range corpus.Glob(t, "evtx", "*.evtx.gz") {
		data := testio.Unpacked(t, path)
		r, err := evtx.NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		var rec etw.Record
		var logged etw.Dynamic
		for r.Next(&rec) == nil {
			e := types[rec.Key()]
			if e == nil {
				continue
			}
			n, err := e.DecodePayload(rec.Payload, rec.PointerSize)
			if err != nil || n != len(rec.Payload) {
				t.Errorf("%s: record %d: %d of %d bytes: %v", path, r.Event().RecordID, n, len(rec.Payload), err)
				continue
			}
			if again, err := e.AppendPayload(nil, rec.PointerSize); err != nil || !bytes.Equal(again, rec.Payload) {
				t.Errorf("%s: record %d is % x when it is written again, %v", path, r.Event().RecordID, again, err)
			}
			if _, err := logged.Decode(rec.Schema, rec.Payload, rec.PointerSize); err != nil {
				t.Fatal(err)
			}
			events++
			for i, f := range e.EventDesc().Fields {
				want, got := logged.FieldValue(i), e.FieldValue(i)
				if rec.Schema.Fields[i].Name != f.Name || plain(want) != plain(got) {
					t.Errorf("%s: record %d: %s is %s, in the log %s is %s", path, r.Event().RecordID, f.Name, plain(got), rec.Schema.Fields[i].Name, plain(want))
				}
				fields++
			}
		}
	}
	if events == 0 {
		t.Error("no event has a type")
	}
	t.Logf("%d events, %d fields", events, fields)
}

// plain is a value, whatever its type is shown as.
func plain(v etw.Value) string {
	if p, ok := v.Any().(etw.Pointer); ok {
		return fmt.Sprint(uint64(p))
	}
	return fmt.Sprint(v.Any())
}
