package nettrace

import (
	"bytes"
	stdcontext "context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
)

// The declarations of the kernel's events are trusted as far as they can be.
func TestKernelFields(t *testing.T) {
	with := func(fields ...etw.FieldDesc) []etw.FieldDesc {
		return append(commonFields[:len(commonFields):len(commonFields)], fields...)
	}
	field := func(name string, typ etw.InType, room uint16) etw.FieldDesc {
		return etw.FieldDesc{Name: name, Type: typ, Room: room}
	}
	for name, tt := range map[string]struct {
		provider       string
		declared, want []etw.FieldDesc
	}{
		"alignment": {"kmem", with(field("pfn", etw.InUInt64, 0), field("order", etw.InUInt32, 0), field("flags", etw.InUInt64, 0), field("type", etw.InInt32, 0)),
			with(field("pfn", etw.InUInt64, 0), field("order", etw.InUInt32, 8), field("flags", etw.InUInt64, 0), field("type", etw.InInt32, 0))},
		"an array at the end": {"sched", with(field("pid", etw.InInt32, 0), field("comm", etw.InUInt8, 0)), with(field("pid", etw.InInt32, 0))},
		"text at the end":     {"sched", with(field("filename", etw.InUInt32, 0)), with()},
		"a system call":       {"syscalls", with(field("nr", etw.InInt32, 0), field("dfd", etw.InInt32, 0), field("size", etw.InInt32, 0)), with(field("nr", etw.InInt32, 8), field("dfd", etw.InInt32, 8), field("size", etw.InInt32, 0))},
		"a type without size": {"x", with(etw.FieldDesc{Name: "s", Type: etw.InUnicodeString}, field("n", etw.InInt32, 0)), with()},
		"another event":       {"x", []etw.FieldDesc{field("Value", etw.InVarUint, 0)}, nil},
		"other first fields":  {"x", append([]etw.FieldDesc{field("common_type", etw.InUInt32, 0)}, commonFields[1:]...), nil},
	} {
		got, is := kernelFields(tt.provider, tt.declared)
		if diff := cmp.Diff(tt.want, got); diff != "" || is != (tt.want != nil) {
			t.Errorf("%s: %v (-want +got):\n%s", name, is, diff)
		}
	}
}

// Events of EventHeader are those of the programs that wrote them, also for a mux that wants
// nothing else. One that is damaged stays that of the kernel.
func TestEventHeader(t *testing.T) {
	fields := append(commonFields[:len(commonFields):len(commonFields)],
		etw.FieldDesc{Name: "eventheader_flags", Type: etw.InUInt8}, etw.FieldDesc{Name: "version", Type: etw.InUInt8},
		etw.FieldDesc{Name: "id", Type: etw.InUInt16}, etw.FieldDesc{Name: "tag", Type: etw.InUInt16},
		etw.FieldDesc{Name: "opcode", Type: etw.InUInt8}, etw.FieldDesc{Name: "level", Type: etw.InUInt8})
	kernel := &etw.EventDesc{Provider: &etw.ProviderDesc{Name: "user_events"}, ID: 1500, Name: "Bakery_L4K1f", Named: true, Fields: fields}
	metadata := "Baked\x00loaves\x00\x04" // a number of 32 bits
	event := "\xdc\x05\x00\x00\x07\x00\x00\x00" + "\x06\x00\x00\x00\x00\x00\x00\x04" + string(rune(len(metadata))) + "\x00\x01\x00" + metadata + "\x0c\x00\x00\x00"
	var out bytes.Buffer
	w, err := NewWriter(&out, Header{Version: 6, ProcessID: -1})
	if err != nil {
		t.Fatal(err)
	}
	for _, payload := range []string{event, event[:12] + event[13:], event + "\x00\x00"} { // the last one is padded
		err := w.Write(&etw.Record{Kind: etw.KindManifest, ProviderName: "user_events", ID: 1500, Schema: kernel, PointerSize: etw.Ptr64, ProcessID: 7, ThreadID: 7, Payload: []byte(payload)})
		if err != nil {
			t.Fatal(err)
		}
	}
	testio.Close(t, w)
	r := testio.Reader(t, NewReader, out.Bytes())
	var got []string
	var e etw.Dynamic
	wants := &etw.Wants{Kind: func(r *etw.Record) bool { return r.ProviderName == "Bakery" }}
	err = r.Push(stdcontext.Background(), wants, func(rec *etw.Record) error {
		if _, err := e.Decode(rec.Schema, rec.Payload, rec.PointerSize); err != nil {
			return err
		}
		got = append(got, fmt.Sprint(rec.ProviderName, " ", rec.Level, " ", rec.Keywords, " ", &e))
		return nil
	})
	want := []string{"Bakery Informational 31 Baked loaves=12", "user_events", "Bakery Informational 31 Baked loaves=12"}
	if len(got) == 3 {
		got[1], _, _ = strings.Cut(got[1], " ")
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}
