package nettrace_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
	"github.com/etwgen/etwgen/runtime/nettrace/nettracetest"
)

type (
	field  = nettracetest.Field
	fields = []nettracetest.Field
)

// render reads a stream with one row and one event, and returns the event as text, with the
// part beyond the description in brackets.
func render(t *testing.T, version int, row nettracetest.Row, payload []byte) string {
	t.Helper()
	row.ID = 1
	if row.Provider == "" {
		row.Provider = "P"
	}
	w := nettracetest.NewWriter(version, nettracetest.Trace{})
	w.Metadata(row)
	w.Events(nettracetest.Event{Metadata: 1, Payload: payload})
	w.End()
	recs, _ := mustRead(t, w.Bytes())
	if recs[0].Schema == nil {
		return "no schema"
	}
	var d etw.Dynamic
	_, err := d.DecodeLoose(recs[0].Schema, payload, recs[0].PointerSize)
	text := string(etw.AppendText(nil, &d))
	if rest := d.Rest(); len(rest) > 0 {
		text += " [" + strings.TrimSpace(strings.Repeat("?", len(rest))) + "]"
	}
	if err != nil {
		text += " !"
	}
	return text
}

// join concatenates payloads.
func join(parts ...any) []byte {
	var b []byte
	for _, p := range parts {
		switch v := p.(type) {
		case string:
			b = append(b, nettracetest.UTF16(v)...)
		case []byte:
			b = append(b, v...)
		default:
			b, _ = binary.Append(b, binary.LittleEndian, v)
		}
	}
	return b
}

// scalars are the types of one value, which all versions of the list share.
var scalars = fields{
	{Name: "bool", Type: 3}, {Name: "char", Type: 4}, {Name: "i8", Type: 5}, {Name: "u8", Type: 6}, {Name: "i16", Type: 7}, {Name: "u16", Type: 8},
	{Name: "i32", Type: 9}, {Name: "u32", Type: 10}, {Name: "i64", Type: 11}, {Name: "u64", Type: 12}, {Name: "f32", Type: 13}, {Name: "f64", Type: 14},
	{Name: "when", Type: 16}, {Name: "guid", Type: 17}, {Name: "text", Type: 18},
}

var (
	someGUID      = etw.MustParseGUID("00112233-4455-6677-8899-aabbccddeeff")
	scalarPayload = join(uint32(1), uint16('é'), int8(-1), uint8(255), int16(-2), uint16(65535), int32(-3), uint32(1<<32-1), int64(-4), uint64(math.MaxUint64),
		float32(0.5), float64(-0.25), int64(132274244967890000), someGUID[:], "wörld")
)

const scalarText = `bool=true char=é i8=-1 u8=255 i16=-2 u16=65535 i32=-3 u32=4294967295 i64=-4 u64=18446744073709551615 f32=0.5 f64=-0.25` +
	` when=2020-02-29T04:34:56.7890000Z guid=00112233-4455-6677-8899-aabbccddeeff text=wörld`

func TestFieldLists(t *testing.T) {
	array := func(name string, elem field) field { return field{Name: name, Type: 19, Elem: &elem} }
	nested := field{Name: "in", Type: 1, Fields: fields{{Name: "a", Type: 9}, {Name: "deep", Type: 1, Fields: fields{{Name: "b", Type: 18}}}}}
	type test struct {
		name    string
		version int // of the stream
		v2      bool
		fields  fields
		payload []byte
		want    string
	}
	tests := []test{
		{"V1", 4, false, scalars, scalarPayload, scalarText},
		{"V1 netperf", 3, false, scalars, scalarPayload, scalarText},
		{"V2", 4, true, scalars, scalarPayload, scalarText},
		{"V6", 6, false, scalars, scalarPayload, scalarText},
		{"V1 struct", 4, false, fields{nested, {Name: "n", Type: 6}}, join(int32(5), "x", uint8(6)), "in={a=5 deep={b=x}} n=6"},
		{"V2 struct", 4, true, fields{nested, {Name: "n", Type: 6}}, join(int32(5), "x", uint8(6)), "in={a=5 deep={b=x}} n=6"},
		{"V6 struct", 6, false, fields{nested, {Name: "n", Type: 6}}, join(int32(5), "x", uint8(6)), "in={a=5 deep={b=x}} n=6"},
		{"V1 unnamed struct", 3, false, fields{{Type: 1, Fields: fields{{Name: "a", Type: 9}, {Name: "b", Type: 18}}}}, join(int32(5), "x"), "a=5 b=x"},
		{"V6 decimal", 6, false, fields{{Name: "d", Type: 15}}, join(uint32(1<<16), uint32(0), uint32(15), uint32(0)), "d=1.5"},
		{"V2 decimal", 4, true, fields{{Name: "d", Type: 15}}, join(1.5), "d=1.5"},
		{"V6 varint", 6, false, fields{{Name: "s", Type: 20}, {Name: "u", Type: 21}}, []byte{0x83, 0x01, 0x83, 0x01}, "s=-66 u=131"},
		{"V6 chars and bool", 6, false, fields{{Name: "c", Type: 23}, {Name: "b", Type: 26}}, []byte{'q', 1}, "c=q b=true"},
	}
	for _, version := range []int{4, 6} {
		v := map[int]string{4: "V2 ", 6: "V6 "}[version]
		tests = append(tests,
			test{v + "array", version, true, fields{array("a", field{Type: 9}), {Name: "n", Type: 6}}, join(uint16(2), int32(-1), int32(7), uint8(5)), "a=[-1 7] n=5"},
			test{v + "empty array", version, true, fields{array("a", field{Type: 9}), {Name: "n", Type: 6}}, join(uint16(0), uint8(5)), "a=[] n=5"},
			test{v + "strings", version, true, fields{array("a", field{Type: 18})}, join(uint16(2), "x", "yz"), "a=[x yz]"},
			test{v + "text", version, true, fields{array("a", field{Type: 4}), {Name: "n", Type: 6}}, join(uint16(2), uint16('h'), uint16('i'), uint8(5)), "a=hi n=5"},
			test{v + "structs", version, true, fields{array("a", field{Type: 1, Fields: fields{{Name: "k", Type: 18}, {Name: "v", Type: 6}}})},
				join(uint16(2), "x", uint8(1), "y", uint8(2)), "a=[{k=x v=1} {k=y v=2}]"},
			test{v + "array of arrays", version, true, fields{array("a", array("", field{Type: 6})), {Name: "n", Type: 6}},
				join(uint16(2), uint16(1), uint8(7), uint16(2), uint8(8), uint8(9), uint8(5)), "a=[{field0=[7]} {field0=[8 9]}] n=5"},
			test{v + "array of texts", version, true, fields{array("a", array("", field{Type: 4}))},
				join(uint16(2), uint16(1), uint16('p'), uint16(1), uint16('q')), "a=[{field0=p} {field0=q}]"},
		)
	}
	twoBools := fields{{Name: "a", Type: 3}, {Name: "b", Type: 3}, {Name: "s", Type: 18}}
	tests = append(tests,
		test{"narrow bools", 4, false, fields{{Name: "a", Type: 3}, {Name: "n", Type: 9}, {Name: "b", Type: 3}}, join(uint8(1), int32(7), uint8(0)), "a=true n=7 b=false"},
		test{"narrow bools in netperf", 3, false, fields{{Name: "n", Type: 9}, {Name: "b", Type: 3}}, join(int32(7), uint8(1)), "n=7 b=true"},
		test{"wide bools", 4, false, twoBools, join(uint32(1), uint32(0), "x"), "a=true b=false s=x"},
		test{"narrow bools that fit when they are wide", 4, false, twoBools, join(uint8(1), uint8(0), "abc"), "a=true b=false s=abc"},
		test{"narrow bools in an array", 4, true, fields{array("a", field{Type: 3}), {Name: "n", Type: 9}}, join(uint16(3), uint8(1), uint8(0), uint8(1), int32(7)), "a=[true false true] n=7"},
		test{"narrow bools in a struct", 4, false, fields{{Name: "s", Type: 1, Fields: fields{{Name: "b", Type: 3}}}, {Name: "n", Type: 9}}, join(uint8(1), int32(7)), "s={b=true} n=7"},
		test{"bools that fit neither way", 4, false, fields{{Name: "b", Type: 3}, {Name: "n", Type: 9}}, join(uint32(1), uint16(7)), "b=true [??] !"},
		test{"small integers as 4 bytes", 4, false, fields{{Name: "a", Type: 6}, {Name: "b", Type: 11}, {Name: "c", Type: 8}}, join(uint32(200), int64(-1), uint32(5)), "a=200 b=-1 c=5"},
		test{"integers as 8 bytes", 4, false, fields{{Name: "a", Type: 9}, {Name: "b", Type: 9}, {Name: "c", Type: 11}}, join(int64(1), int64(-2), int64(3)), "a=1 b=-2 c=3"},
		test{"many integers as 8 bytes", 4, false, fields{{Name: "a", Type: 9}, {Name: "b", Type: 9}, {Name: "c", Type: 9}, {Name: "d", Type: 9}},
			join(int64(1), int64(2), int64(3), int64(4)), "a=1 b=0 c=2 d=0 [????????????????]"},
		test{"V6 bools are wide", 6, false, fields{{Name: "n", Type: 9}, {Name: "b", Type: 3}}, join(int32(7), uint8(1)), "n=7 [?] !"},
	)
	tests = append(tests,
		test{"V6 UTF-8", 6, false, fields{array("a", field{Type: 23}), {Name: "n", Type: 6}}, join(uint16(3), []byte("hé"), uint8(5)), "a=hé n=5"},
		test{"V6 fixed array", 6, false, fields{{Name: "a", Type: 22, Elem: &field{Type: 7}, Count: 3}}, join(int16(1), int16(2), int16(-3)), "a=[1 2 -3]"},
		test{"V6 fixed text", 6, false, fields{{Name: "a", Type: 22, Elem: &field{Type: 23}, Count: 3}}, []byte("abc"), "a=abc"},
		test{"V6 relative location", 6, false, fields{{Name: "r", Type: 24, Elem: &field{Type: 9}}, {Name: "n", Type: 6}},
			join(uint32(8<<16|1), uint8(5), int32(1), int32(2)), "r=[1 2] n=5 [????????]"},
		test{"V6 data location", 6, false, fields{{Name: "d", Type: 25, Elem: &field{Type: 23}}, {Name: "n", Type: 6}},
			join(uint32(2<<16|5), uint8(5), []byte("ok")), "d=ok n=5 [??]"},
		test{"V6 location outside", 6, false, fields{{Name: "n", Type: 6}, {Name: "d", Type: 25, Elem: &field{Type: 9}}},
			join(uint8(5), uint32(8<<16|100)), "n=5 [????] !"},
	)
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			row := nettracetest.Row{Name: "E", Fields: c.fields}
			if c.v2 && c.version != 6 {
				row.Fields, row.Fields2, row.Tags = nil, c.fields, []nettracetest.Tag{{Kind: 2}}
			}
			if got := render(t, c.version, row, c.payload); got != "E "+c.want {
				t.Errorf("got  %s\nwant E %s", got, c.want)
			}
		})
	}
}

func TestFieldListsThatAreRefused(t *testing.T) {
	deep := func(n int) fields {
		f := fields{{Name: "end", Type: 6}}
		for range n {
			f = fields{{Name: "s", Type: 1, Fields: f}}
		}
		return f
	}
	arrays := func(n int) fields {
		f := field{Type: 6}
		for range n {
			elem := f
			f = field{Type: 19, Elem: &elem}
		}
		f.Name = "a"
		return fields{f}
	}
	v2 := func(f fields) nettracetest.Row {
		return nettracetest.Row{Name: "E", Tags: []nettracetest.Tag{{Kind: 2}}, Fields2: f}
	}
	v1 := func(f fields) nettracetest.Row { return nettracetest.Row{Name: "E", Fields: f} }
	for _, c := range []struct {
		name    string
		version int
		row     nettracetest.Row
		want    string
	}{
		{"V1 nesting", 4, v1(deep(40)), "E [?]"},
		{"V2 nesting", 4, v2(deep(40)), "E [?]"},
		{"V2 arrays of arrays", 4, v2(arrays(40)), "E [?]"},
		{"V6 nesting", 6, v1(deep(40)), "E [?]"},
		{"nesting at the limit", 4, v1(deep(25)), "E s=" + strings.Repeat("{s=", 24) + "{end=9}" + strings.Repeat("}", 24)},
		{"unknown code", 4, v1(fields{{Name: "n", Type: 99}}), "E [?]"},
		{"array in V1", 4, v1(fields{{Name: "n", Type: 19}}), "E [?]"},
		{"object", 4, v1(fields{{Name: "n", Type: 0}}), "E [?]"},
		{"array of nothing", 4, v2(fields{{Name: "n", Type: 19, Elem: &field{Type: 1}}}), "E [?]"},
		{"fixed array of nothing", 6, v1(fields{{Name: "n", Type: 22, Count: 65535, Elem: &field{Type: 22, Elem: &field{Type: 6}}}}), "E [?]"},
		{"cut tag", 4, nettracetest.Row{Name: "E", Rest: []byte{200, 0, 0, 0, 1}}, "E [?]"},
		{"garbage after the list", 4, nettracetest.Row{Name: "E", Fields: fields{{Name: "n", Type: 6}}, Rest: []byte{1, 2}}, "E n=9"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := render(t, c.version, c.row, []byte{9}); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// A row that ends early or claims too much costs its own events, not the trace, and
// is reported.
func TestBadRows(t *testing.T) {
	good := clrRow(2, 11)
	w := nettracetest.NewWriter(4, nettracetest.Trace{})
	row := (&nettracetest.Row{ID: 1, Provider: "Provider", EventID: 1, Name: "Name"}).Bytes()
	for n := range row[:len(row)-4] { // without the list of fields it is whole
		r, _ := func() ([]*etw.Record, *nettrace.Reader) {
			w := nettracetest.NewWriter(4, nettracetest.Trace{})
			b := binary.LittleEndian.AppendUint16(nil, 20)
			b = append(b, 1, 0)
			b = append(b, make([]byte, 16)...)
			b = append(b, 0x80, 0, byte(n))
			w.Object("MetadataBlock", append(b, row[:n]...))
			w.Metadata(good)
			w.Events(nettracetest.Event{Metadata: 1}, nettracetest.Event{Metadata: 2})
			w.End()
			recs, r, err := readStream(t, w.Bytes())
			if s := r.Stats(); !errors.Is(err, nettrace.ErrDamaged) || s.BadMetadata != 1 || s.UnknownMetadata != 1 {
				t.Errorf("%d bytes of the row: %v, stats %+v", n, err, s)
			}
			return recs, r
		}()
		if len(r) != 2 || r[1].ID != 11 {
			t.Errorf("%d bytes of the row: %+v", n, r)
		}
	}
	w.Metadata(nettracetest.Row{ID: 1, Provider: "P", Name: "E", Fields: fields{{Type: 99}}})
	w.End()
	if _, r := mustRead(t, w.Bytes()); r.Stats().BadFields != 1 {
		t.Errorf("stats %+v", r.Stats())
	}
}

func TestTags(t *testing.T) {
	tag2 := nettracetest.Tag{Kind: 2}
	unknown := nettracetest.Tag{Kind: 200, Data: []byte("whatever")}
	opcode := nettracetest.OpcodeTag(24)
	list := fields{{Name: "n", Type: 6}}
	for _, tags := range [][]nettracetest.Tag{{opcode, tag2}, {tag2, opcode}, {unknown, opcode, unknown, tag2, unknown}} {
		w := nettracetest.NewWriter(4, nettracetest.Trace{})
		w.Metadata(nettracetest.Row{ID: 1, Provider: "P", Name: "E", Tags: tags, Fields2: list})
		w.Events(nettracetest.Event{Metadata: 1, Payload: []byte{7}})
		w.End()
		recs, _ := mustRead(t, w.Bytes())
		if recs[0].Opcode != 24 || recs[0].Schema.Opcode != 24 || decode(t, recs[0]).FieldValue(0).Uint() != 7 {
			t.Errorf("record %+v", recs[0])
		}
	}
}

func TestTaskAndOpcode(t *testing.T) {
	for _, c := range []struct {
		name   string
		tags   []nettracetest.Tag
		opcode etw.Opcode
		task   string
		op     string
	}{
		{"RequestStart", nil, 1, "Request", "Start"},
		{"RequestSTOP", nil, 2, "Request", "Stop"},
		{"Start", nil, 0, "Start", ""},
		{"Request", nil, 0, "Request", ""},
		{"RequestStart", []nettracetest.Tag{nettracetest.OpcodeTag(1)}, 1, "Request", "Start"},
		{"RequestStart", []nettracetest.Tag{nettracetest.OpcodeTag(24)}, 24, "RequestStart", ""},
		{"Sent", []nettracetest.Tag{nettracetest.OpcodeTag(9)}, 9, "Sent", "Send"},
	} {
		w := nettracetest.NewWriter(4, nettracetest.Trace{})
		w.Metadata(nettracetest.Row{ID: 1, Provider: "P", Name: c.name, Tags: c.tags})
		w.Events(nettracetest.Event{Metadata: 1})
		w.End()
		recs, _ := mustRead(t, w.Bytes())
		d := recs[0].Schema
		if recs[0].Opcode != c.opcode || d.Opcode != c.opcode || d.TaskName != c.task || d.OpcodeName != c.op || d.Name != c.name {
			t.Errorf("%s: opcode %d, task %q, opcode name %q", c.name, d.Opcode, d.TaskName, d.OpcodeName)
		}
	}
}

func TestProviderGUID(t *testing.T) {
	for name, want := range map[string]string{
		"TestEventSource":                        "f150d8fb-960c-5e38-a69d-49bae6f97289",
		"System.Runtime":                         "49592c0f-5a05-516d-aa4b-a64e02026c89",
		"Microsoft-Windows-DotNETRuntime":        "e13c0d23-ccbc-4e12-931b-d9cc2eee27e4",
		"microsoft-windows-dotnetruntimerundown": "a669021c-c450-4609-a035-5af59af4df18",
		"Microsoft-Windows-DotNETRuntimePrivate": "763fd754-7086-4dfe-95eb-c01a46faf4ca",
		"Microsoft-Windows-DotNETRuntimeStress":  "cc2bcbba-16b6-4cf3-8990-d74c2e8af500",
		"Microsoft-DotNETCore-SampleProfiler":    "3c530d44-97ae-513a-1e6d-783e8f8e03a9",
		"System.Threading.Tasks.TplEventSource":  "2e5dba47-a3d2-4d16-8ee0-6671ffdcd7b5",
		"":                                       "00000000-0000-0000-0000-000000000000",
	} {
		if got := nettrace.ProviderGUID(name).String(); got != want {
			t.Errorf("%q: %s, want %s", name, got, want)
		}
	}
}

// Events that no metadata describes, or describes wrongly, and no manifest does.
func TestKnownEvents(t *testing.T) {
	s16 := func(s string) []byte { return append(binary.LittleEndian.AppendUint16(nil, uint16(len(s))), s...) }
	utf8 := field{Name: "Text", Type: 23}
	for _, c := range []struct {
		version int
		row     nettracetest.Row
		payload []byte
		want    string
	}{
		{4, nettracetest.Row{Provider: "Microsoft-DotNETCore-SampleProfiler"}, join(uint32(1)), "ThreadSample Type=External"},
		{4, nettracetest.Row{Provider: "Microsoft-Diagnostics-DiagnosticSource", EventID: 2, Name: "Event"},
			join("Src", "Evt", uint16(2), "a", "1", "b", "2"), "Event SourceName=Src EventName=Evt Arguments=[{Key=a Value=1} {Key=b Value=2}]"},
		{6, nettracetest.Row{Provider: "Universal.System", EventID: 1, Name: "ProcessCreate", Fields: fields{{Name: "NamespaceProcessId", Type: 21}, utf8, utf8}},
			join([]byte{0x90, 3}, s16("dotnet"), s16("host")), "ProcessCreate NamespaceProcessId=400 Name=dotnet NamespaceName=host"},
		{6, nettracetest.Row{Provider: "Universal.System", EventID: 2, Name: "ProcessExit"}, nil, "ProcessExit"},
		{6, nettracetest.Row{Provider: "Universal.System", EventID: 3, Name: "ProcessMapping", Fields: fields{utf8}},
			join([]byte{1, 0x80, 0x20, 0x80, 0x40, 0}, s16("/lib/é.so"), []byte{7}),
			"ProcessMapping Id=1 StartAddress=0x1000 EndAddress=0x2000 FileOffset=0x0 FileName=/lib/é.so MetadataId=7"},
		{6, nettracetest.Row{Provider: "Universal.System", EventID: 4, Name: "ProcessSymbol", Fields: fields{utf8}},
			join([]byte{1, 2, 3, 4}, s16("f")), "ProcessSymbol Id=1 MappingId=2 StartAddress=0x3 EndAddress=0x4 Name=f"},
		{6, nettracetest.Row{Provider: "Universal.System", EventID: 5, Name: "ProcessMappingMetadata", Fields: fields{utf8}},
			join([]byte{1}, s16("{}"), s16("[]")), `ProcessMappingMetadata Id=1 SymbolMetadata="{}" VersionMetadata="[]"`},
		{6, nettracetest.Row{Provider: "Universal.Events", EventID: 9, Name: "cpu", Fields: fields{{Name: "Value", Type: 21}}}, []byte{0x81, 1}, "cpu Value=129"},
		{6, nettracetest.Row{Provider: "Universal.Events", EventID: 9, Name: "cswitch"}, []byte{5, 1, 2}, "cswitch Value=5 [??]"},
		{6, nettracetest.Row{Provider: "Universal.System", EventID: 77, Name: "Later", Fields: fields{{Name: "n", Type: 6}}}, []byte{5}, "Later n=5"},
	} {
		if got := render(t, c.version, c.row, c.payload); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

// A row that comes again replaces the first.
func TestRowAgain(t *testing.T) {
	w := nettracetest.NewWriter(4, nettracetest.Trace{})
	w.Metadata(clrRow(1, 10))
	w.Events(nettracetest.Event{Metadata: 1})
	w.Metadata(clrRow(1, 11))
	w.Events(nettracetest.Event{Metadata: 1})
	w.End()
	recs, _ := mustRead(t, w.Bytes(), nettrace.WithFileOrder())
	if recs[0].ID != 10 || recs[1].ID != 11 {
		t.Errorf("ids %d, %d", recs[0].ID, recs[1].ID)
	}
}

func TestSparseMetadataIDs(t *testing.T) {
	w := nettracetest.NewWriter(4, nettracetest.Trace{})
	w.Metadata(clrRow(1<<32-1, 10), clrRow(5000, 11), clrRow(3, 12))
	w.Events(nettracetest.Event{Metadata: 1<<32 - 1}, nettracetest.Event{Metadata: 5000}, nettracetest.Event{Metadata: 3})
	w.End()
	recs, _ := mustRead(t, w.Bytes(), nettrace.WithFileOrder())
	if recs[0].ID != 10 || recs[1].ID != 11 || recs[2].ID != 12 {
		t.Errorf("ids %d, %d, %d", recs[0].ID, recs[1].ID, recs[2].ID)
	}
}

// An event of netperf of which zeros were made looks like a row of metadata. That it
// is lost is reported.
func TestEventTakenForRow(t *testing.T) {
	w := nettracetest.NewWriter(3, nettracetest.Trace{})
	w.Metadata(clrRow(1, 10))
	for i := range int64(3) {
		w.Events(nettracetest.Event{Metadata: 1, Thread: 7, Time: i, Payload: bytes.Repeat([]byte("payload!"), 8)})
	}
	w.End()
	data := w.Bytes()
	at := bytes.Index(data, []byte("payload!"))
	clear(data[at-52 : at+64]) // from the number of its metadata on, but for the size
	binary.LittleEndian.PutUint32(data[at-4:], 64)
	recs, r, err := readStream(t, data)
	if len(recs) != 2 || !errors.Is(err, nettrace.ErrDamaged) || r.Stats().BadMetadata != 1 {
		t.Errorf("%d events, %v, stats %+v", len(recs), err, r.Stats())
	}
}

// TestManyKinds writes a trace of many kinds of events, of which each is known; and one whose
// rows are made to cost much, of which it says that they are too many, not that they are
// damaged. Metadata after them is known again as the stream goes on.
func TestManyKinds(t *testing.T) {
	for _, version := range []int{4, 6} {
		w, out := widthWriter(t, version)
		const n = 20_000
		for i := range n {
			r := widthRecord(int64(i))
			r.ID = uint16(i)
			r.Schema = &etw.EventDesc{Name: fmt.Sprint("Event", i), Fields: []etw.FieldDesc{{Name: fmt.Sprint("f", i), Type: etw.InUInt32}}}
			testio.Add(t, w, r)
		}
		testio.Close(t, w)
		for i, r := range readWidths(t, out.Bytes()) {
			if r.Schema == nil || r.Schema.Name != fmt.Sprint("Event", i) || r.Schema.Fields[0].Name != fmt.Sprint("f", i) {
				t.Fatalf("version %d: event %d is described as %+v", version, i, r.Schema)
			}
		}
	}
}

func TestTooManyKinds(t *testing.T) {
	w := nettracetest.NewWriter(4, nettracetest.Trace{})
	fields := make([]nettracetest.Field, 16_000) // of 6 bytes each
	for i := range fields {
		fields[i].Type = 3 // of two possible widths
	}
	const n = 30
	for id := range uint32(n) {
		w.Metadata(nettracetest.Row{ID: id + 1, Fields: fields})
	}
	w.Object("Unknown", make([]byte, 16<<20)) // and more of the stream
	w.Metadata(nettracetest.Row{ID: n + 1, Provider: "Later", Name: "Later"})
	w.Events(nettracetest.Event{Metadata: n + 1, Thread: 1, Time: 1})
	w.End()
	r := testio.Reader(t, nettrace.NewReader, w.Bytes())
	var rec etw.Record
	if err := r.Next(&rec); err != nil || rec.ProviderName != "Later" {
		t.Errorf("%v, %q", err, rec.ProviderName)
	}
	err := r.Next(&rec)
	if s := r.Stats(); err == nil || !strings.Contains(err.Error(), "more kinds of events than the reader keeps") || s.BadMetadata == 0 || s.BadMetadata == n {
		t.Errorf("%v, %d rows left out", err, s.BadMetadata)
	}
}
