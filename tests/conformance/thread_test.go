package conformance

import (
	"reflect"
	"testing"

	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/runtime/classic"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/etwtest"
)

// TestOwnThread: an operation on files or disks is of the thread that its payload
// names, wherever that stands in its version.
func TestOwnThread(t *testing.T) {
	const thread = 0x1234
	checked := 0
	for _, e := range kernel.Types() {
		d := e.EventDesc()
		if d.TaskName != "FileIo" && d.TaskName != "DiskIo" {
			continue
		}
		for _, ptr := range []etw.PtrSize{etw.Ptr32, etw.Ptr64} {
			e := etwtest.New(e)
			v := reflect.ValueOf(e).Elem()
			field := v.FieldByName("TTID")
			if !field.IsValid() {
				field = v.FieldByName("IssuingThreadId")
			}
			if !field.IsValid() || d.Opcode >= 55 && d.TaskName == "DiskIo" { // of optical disks, which nobody has
				continue
			}
			field.SetUint(thread)
			p, err := e.AppendPayload(nil, ptr)
			if err != nil {
				t.Fatal(d, err)
			}
			r := &etw.Record{Kind: etw.KindClassic, Provider: d.Class, Opcode: d.Opcode, Version: d.Version, PointerSize: ptr, ProcessID: -1, ThreadID: -1, Payload: p}
			new(classic.Owners).Attribute(r)
			if r.ThreadID != thread {
				t.Errorf("%s, version %d, pointers of %d: thread %#x, want %#x", d.Title(), d.Version, ptr, r.ThreadID, thread)
			}
			checked++
		}
	}
	if checked < 40 {
		t.Errorf("only %d were checked", checked)
	}
}
