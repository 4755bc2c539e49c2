package etl_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etl/etltest"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/schema"
	"github.com/google/go-cmp/cmp"
)

func TestHeader(t *testing.T) {
	for _, ptr := range []etw.PtrSize{etw.Ptr32, etw.Ptr64} {
		for _, c := range compressions {
			want := etltest.DefaultHeader()
			want.PointerSize = ptr
			want.Compression = c
			want.SessionName, want.LogFileName = "Sitzung über alles", `C:\temp\a.etl`
			want.TimerResolution = 15625 * time.Microsecond
			want.UTCOffset = -8 * time.Hour
			want.EventsLost, want.BuffersLost, want.MaxFileSize, want.StartBuffers = 7, 8, 500, 64
			want.Mode = etl.ModeCircular | etl.ModeIndependent
			want.BuffersWritten = 1 // by File
			r := newReader(t, file(t, want))
			if c != etl.CompressionNone {
				want.Mode |= etl.ModeCompressed
			}
			if diff := cmp.Diff(want, r.Header()); diff != "" {
				t.Errorf("pointers of %d, %v: (-want +got)\n%s", ptr, c, diff)
			}
			if s := r.Stats(); s.Lost != 7 || s.LostBuffers != 8 {
				t.Errorf("lost %d events and %d buffers, want 7 and 8", s.Lost, s.LostBuffers)
			}
		}
	}
}

func TestClockTypes(t *testing.T) {
	h := etltest.DefaultHeader()
	for _, c := range []struct {
		typ       etl.ClockType
		frequency int64
		want      int64
	}{
		{etl.ClockQPC, 2630627, 2630627},
		{etl.ClockRaw, 0, 1e7},
		{etl.ClockSystemTime, 2630627, 1e7},
		{etl.ClockCycles, 1e7, 3000e6},
	} {
		h.ClockType, h.Clock.Frequency = c.typ, c.frequency
		r := newReader(t, file(t, h, event(&h, 0, 2*c.want, 1)))
		all := mustReadAll(t, r)
		if got := r.Header().Clock.Frequency; got != c.want {
			t.Errorf("%v: frequency %d, want %d", c.typ, got, c.want)
		}
		if got := all[0].Elapsed(); got != 2*time.Second {
			t.Errorf("%v: elapsed %v, want 2s", c.typ, got)
		}
		if want := h.Start().Add(2 * time.Second); !all[0].Time().Equal(want) {
			t.Errorf("%v: time %v, want %v", c.typ, all[0].Time(), want)
		}
	}
}

// formRecords returns a record for each form, with everything that the form can
// hold.
func formRecords(ptr etw.PtrSize) map[etltest.Form]*etw.Record {
	address := make([]byte, 3*int(ptr))
	for i := range address {
		address[i] = byte(i + 1)
	}
	process, thread := etw.MustParseGUID("3d6fa8d0-fe05-11d0-9dda-00c04fd7ba7c"), etw.MustParseGUID("3d6fa8d1-fe05-11d0-9dda-00c04fd7ba7c")
	base := etw.Record{File: "a.etl", PointerSize: ptr, Processor: 2, ProcessID: 11, ThreadID: 12, Timestamp: 36e9 + 5, Payload: []byte("payload")}
	with := func(change func(*etw.Record)) *etw.Record {
		r := base
		change(&r)
		return &r
	}
	return map[etltest.Form]*etw.Record{
		etltest.FormEvent: with(func(r *etw.Record) {
			r.Provider, r.ID, r.Version, r.Channel, r.Level, r.Opcode, r.Task = testProvider, 513, 2, 3, 4, 5, 600
			r.Keywords = 0x8000_0000_0000_0001
			r.ProviderName = schema.ProviderName(testProvider)
			r.ActivityID, r.RelatedActivityID = etw.GUID{1, 2}, etw.GUID{3, 4}
			r.Stack = etw.Stack{Addresses: address, PtrSize: ptr}
			r.Extended = []etw.ExtendedItem{
				{Type: etw.ExtSID, Data: []byte{1, 1, 0, 0, 0, 0, 0, 5, 18, 0, 0, 0}},
				{Type: 0x77},
				{Type: etw.ExtEventKey, Data: []byte("12345678")},
			}
		}),
		etltest.FormFull: with(func(r *etw.Record) {
			r.Kind, r.Provider, r.Opcode, r.Level, r.Version = etw.KindClassic, testProvider, 32, 4, 3
		}),
		etltest.FormInstance: with(func(r *etw.Record) {
			r.Kind, r.Provider, r.Opcode, r.Level, r.Version = etw.KindClassic, testProvider, 32, 4, 3
			r.Extended = []etw.ExtendedItem{{Type: etw.ExtInstance, Data: []byte("iiiippppgggggggggggggggg")}}
		}),
		etltest.FormSystem: with(func(r *etw.Record) {
			r.Kind, r.Provider, r.Opcode, r.Version, r.ProviderName = etw.KindClassic, process, 1, 4, "Process"
			r.Extended = []etw.ExtendedItem{
				{Type: etw.ExtPEBSIndex, Data: []byte("pebspebs")},
				{Type: etw.ExtCounters, Data: []byte("counter1counter2counter3")},
			}
		}),
		etltest.FormCompact: with(func(r *etw.Record) {
			r.Kind, r.Provider, r.Opcode, r.Version = etw.KindClassic, thread, 50, 2
			r.ProviderName = "Thread"
			r.ProcessID = -1
		}),
		etltest.FormPerfInfo: with(func(r *etw.Record) {
			r.Kind, r.Provider, r.Opcode, r.Version = etw.KindClassic, thread, 36, 4
			r.ProviderName = "Thread"
			r.ProcessID, r.ThreadID = -1, -1
			r.Extended = []etw.ExtendedItem{{Type: etw.ExtCounters, Data: []byte("counter1")}}
		}),
		etltest.FormMessage: with(func(r *etw.Record) {
			r.Kind, r.Provider, r.ID = etw.KindMessage, testProvider, 99
		}),
	}
}

func TestForms(t *testing.T) {
	for _, ptr := range []etw.PtrSize{etw.Ptr32, etw.Ptr64} {
		for _, c := range compressions {
			for form, want := range formRecords(ptr) {
				h := etltest.DefaultHeader()
				h.Compression = c
				var out bytes.Buffer
				w := testio.Writer(t, etltest.NewWriter, &out, h)
				if err := w.WriteAs(form, want); err != nil {
					t.Fatal(err)
				}
				testio.Close(t, w)
				all := mustReadAll(t, newReader(t, out.Bytes(), etl.WithoutAttribution(), etl.WithName("a.etl")))
				if len(all) != 1 {
					t.Fatalf("form %d: %d records, want 1", form, len(all))
				}
				got := all[0]
				if clock := h.Clock; *got.Clock != clock {
					t.Errorf("form %d: clock %+v, want %+v", form, *got.Clock, clock)
				}
				got.Clock = nil
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("form %d, pointers of %d, %v: (-want +got)\n%s", form, ptr, c, diff)
				}
			}
		}
	}
}

// TestMessageOptions covers the members of messages that the writer leaves out.
func TestMessageOptions(t *testing.T) {
	h := etltest.DefaultHeader()
	var out bytes.Buffer
	w := testio.Writer(t, etltest.NewWriter, &out, h)
	write := func(text string) {
		p := []byte(text)
		p[0] = byte(len(p))
		if err := w.Raw(0, p); err != nil {
			t.Fatal(err)
		}
	}
	// Without a time: between two records, it is that of the one before.
	testio.Add(t, w, event(&h, 0, 10, 1))
	write("\x00\x00\x00\x90\x07\x00\x05\x00" + "seq!" + "\x2a\x00\x00\x00" + "args")
	testio.Add(t, w, event(&h, 0, 20, 2))
	// A buffer that begins without a time, and one that has none at all: it counts
	// from where the one before it began.
	write("\x00\x00\x00\x90\x08\x00\x00\x00" + "none")
	if err := w.Flush(0); err != nil {
		t.Fatal(err)
	}
	write("\x00\x00\x00\x90\x09\x00\x40\x00" + "first")
	testio.Add(t, w, event(&h, 0, 30, 3))
	w.Flush(0)
	write("\x00\x00\x00\x90\x0a\x00\x80\x00" + "alone")
	testio.Close(t, w)

	var got []string
	for _, r := range mustReadAll(t, newReader(t, out.Bytes())) {
		if r.Kind == etw.KindMessage {
			got = append(got, fmt.Sprintf("%d at %d: %q of %x, pointers %d, process %d", r.ID, r.Timestamp-h.Clock.Origin, r.Payload, r.Provider[:4], r.PointerSize, r.ProcessID))
		}
	}
	want := []string{
		`7 at 10: "args" of 2a000000, pointers 8, process -1`,
		`10 at 10: "alone" of 00000000, pointers 8, process -1`,
		`8 at 20: "none" of 00000000, pointers 8, process -1`,
		`9 at 30: "first" of 00000000, pointers 4, process -1`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestStackMatch keeps the id by which the halves of a stack find each other.
func TestStackMatch(t *testing.T) {
	h := etltest.DefaultHeader()
	e := event(&h, 0, 1, 1)
	e.Extended = []etw.ExtendedItem{
		{Type: etw.ExtStack64, Data: []byte("\x01\x00\x00\x00\x00\x00\x00\x00kernel64")},
		{Type: etw.ExtStack32, Data: []byte("\x01\x00\x00\x00\x00\x00\x00\x00use4")},
	}
	got := mustReadAll(t, newReader(t, file(t, h, e)))[0]
	if diff := cmp.Diff(e.Extended, got.Extended); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got.Stack.Len() != 1 || string(got.Stack.Addresses) != "kernel64" {
		t.Errorf("stack %q, want the first item's", got.Stack.Addresses)
	}
}

func TestUnknownKind(t *testing.T) {
	h := etltest.DefaultHeader()
	var out bytes.Buffer
	w := testio.Writer(t, etltest.NewWriter, &out, h)
	w.Write(event(&h, 0, 1, 1))
	w.Raw(0, []byte("\x18\x00\x0d\xc0error record with text!!!")[:24])
	w.Write(event(&h, 0, 2, 2))
	testio.Close(t, w)
	r := newReader(t, out.Bytes())
	if diff := cmp.Diff([]uint32{1, 2}, numbers(mustReadAll(t, r))); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if s := r.Stats(); s.Unknown != 1 || s.Undecodable != 0 {
		t.Errorf("unknown %d, undecodable %d, want 1 and 0", s.Unknown, s.Undecodable)
	}
}
