package kernel_test

import (
	"testing"

	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
)

// TestNewer: an event of a version that is not known is decoded by the newest that is, the
// rest is left unread, and the event says so.
func TestNewer(t *testing.T) {
	stop := kernel.ProcessStopV4{ProcessID: 4242, ExitStatus: 3, ImageFileName: etw.ANSI("a.exe")}
	payload := testio.Payload(t, &stop, etw.Ptr64)
	d := stop.EventDesc()
	r := &etw.Record{
		Kind: etw.KindClassic, Provider: d.Class, Opcode: d.Opcode, Version: 9, PointerSize: etw.Ptr64,
		Payload: append(payload, "what came with version 9"...),
	}
	var mux etw.Mux
	var got []*kernel.AnyProcessStop
	etw.Handle(&mux, func(_ *etw.Record, e *kernel.AnyProcessStop) error {
		got = append(got, e.Clone())
		return nil
	})
	if err := mux.Dispatch(r); err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 || !got[0].Seen.Newer() || got[0].Seen.Layout != 4 || got[0].ProcessID != 4242 || got[0].ExitStatus != 3 {
		t.Errorf("dispatched as %+v", got)
	}
	decoder := etw.NewDecoder(kernel.Provider)
	values, err := decoder.Decode(r)
	if err != nil || decoder.Event(r).Basis != etw.BasisOlder || string(decoder.Rest()) != "what came with version 9" {
		t.Errorf("decoded by %v with the rest %q, error %v", decoder.Event(r).Basis, decoder.Rest(), err)
	}
	if v, ok := etw.Field(values, "ExitStatus"); !ok || v.Uint() != 3 {
		t.Errorf("ExitStatus is %v", v)
	}
}

// TestThreadName: a layout grew without a new version.
func TestThreadName(t *testing.T) {
	named := kernel.ThreadStartV3{TThreadID: 8, ThreadName: etw.MakeUTF16("worker"), HasThreadName: true}
	for _, ptr := range []etw.PtrSize{etw.Ptr32, etw.Ptr64} {
		payload := testio.Payload(t, &named, ptr)
		var e kernel.AnyThreadStart
		if _, err := e.DecodeVersion(3, payload, ptr); err != nil || !e.HasThreadName || e.ThreadName.String() != "worker" {
			t.Errorf("with a name: %v, error %v", &e, err)
		}
		older := payload[:len(payload)-len(named.ThreadName)-2]
		n, err := e.DecodeVersion(3, older, ptr)
		if err != nil || n != len(older) || e.HasThreadName || len(e.ThreadName) != 0 || e.TThreadID != 8 {
			t.Errorf("without a name: %v, read %d of %d bytes, error %v", &e, n, len(older), err)
		}
	}
}
