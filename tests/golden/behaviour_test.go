package golden

import (
	"bytes"
	"encoding"
	"encoding/binary"
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etwgen/etwgen/runtime/etw"
	constants "github.com/etwgen/etwgen/tests/golden/constants/want"
	count "github.com/etwgen/etwgen/tests/golden/count/want"
	enums "github.com/etwgen/etwgen/tests/golden/enums/want"
	length "github.com/etwgen/etwgen/tests/golden/length/want"
	outer "github.com/etwgen/etwgen/tests/golden/outer/want"
	pointer "github.com/etwgen/etwgen/tests/golden/pointer/want"
	sizeless "github.com/etwgen/etwgen/tests/golden/sizeless/want"
	stringsCase "github.com/etwgen/etwgen/tests/golden/strings/want"
	structs "github.com/etwgen/etwgen/tests/golden/structs/want"
	versions "github.com/etwgen/etwgen/tests/golden/versions/want"
)

// must returns v, for values that cannot fail.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestEncodeErrors encodes values that cannot be encoded.
func TestEncodeErrors(t *testing.T) {
	sid := etw.MakeSID(5, 18)
	nodes := must(structs.MakeGraphNodes(etw.Ptr64, structs.GraphNode{Address: 1}))
	rows := must(outer.MakeTableRows(etw.Ptr64, 1, outer.TableRow{Data: etw.Binary("x"), Cells: etw.MakeInts[uint32](7)}))
	counts := func() count.Counts {
		return count.Counts{
			Pair: etw.MakeInts[uint64](1, 2), One: must(etw.MakePointers(etw.Ptr64, 1)),
			Hashes: must(etw.MakeBinariesN(20, make(etw.Binary, 20), make(etw.Binary, 20))),
		}
	}
	short := counts()
	short.Pair = etw.MakeInts[uint64](1)
	more := counts()
	more.N = 2
	more.Offsets = etw.MakeInts[uint32](1, 2, 3)
	tests := []struct {
		name  string
		event etw.Event
		ptr   etw.PtrSize
		field string
		want  error
	}{
		{"NUL in UTF-16", &stringsCase.Strings{Name: etw.MakeUTF16("a\x00b"), User: sid}, etw.Ptr64, "Name", etw.ErrNUL},
		{"half a code unit", &stringsCase.Strings{Name: etw.UTF16("a"), User: sid}, etw.Ptr64, "Name", etw.ErrLength},
		{"NUL in ANSI", &stringsCase.Strings{Path: etw.ANSI("a\x00b"), User: sid}, etw.Ptr64, "Path", etw.ErrNUL},
		{"no SID", &stringsCase.Strings{}, etw.Ptr64, "User", etw.ErrSID},
		{"pointer too wide", &pointer.Pointers{Address: math.MaxUint32 + 1}, etw.Ptr32, "Address", etw.ErrPointer},
		{"shorter than its length", &length.Lengths{Size: 2, Text: etw.MakeUTF16("abc")}, etw.Ptr64, "Text", etw.ErrLength},
		{"other than the constant count", &short, etw.Ptr64, "Pair", etw.ErrCount},
		{"other than the count", &more, etw.Ptr64, "Offsets", etw.ErrCount},
		{"elements, other than the count", &structs.Graph{Count: 2, Nodes: nodes}, etw.Ptr64, "Nodes", etw.ErrCount},
		{"elements of the other pointer size", &structs.Graph{Count: 1, Nodes: nodes}, etw.Ptr32, "Nodes", etw.ErrPointerSize},
		{"elements of another size", &outer.Table{Count: 1, Size: 2, Rows: rows}, etw.Ptr64, "Rows", etw.ErrLength},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before := []byte("before")
			b, err := tt.event.AppendPayload(before, tt.ptr)
			if encode, ok := errors.AsType[*etw.EncodeError](err); !ok || !errors.Is(err, tt.want) || encode.Field != tt.field {
				t.Errorf("error %v, want %v of %s", err, tt.want, tt.field)
			}
			if string(b) != "before" {
				t.Errorf("buffer %q, want it as it was", b)
			}
		})
	}
	if _, err := structs.MakeGraphNodes(etw.Ptr32, structs.GraphNode{Address: math.MaxUint32 + 1}); !errors.Is(err, etw.ErrPointer) {
		t.Errorf("making elements: error %v, want %v", err, etw.ErrPointer)
	}
	if _, err := structs.MakeBulkValues(etw.Ptr32, structs.BulkValue{Count: 1}); !errors.Is(err, etw.ErrCount) {
		t.Errorf("making elements: error %v, want %v", err, etw.ErrCount)
	}
}

// TestBuildEvent builds an event of everything, and reads it back.
func TestBuildEvent(t *testing.T) {
	bulk := structs.Bulk{
		Count: 2,
		Values: must(structs.MakeBulkValues(etw.Ptr64,
			structs.BulkValue{ID: 1, Flags: 2, Name: etw.MakeUTF16("one"), Count: 2, Parameters: etw.MakeInts[uint64](10, 11)},
			structs.BulkValue{ID: 3, Name: etw.MakeUTF16("two")},
		)),
	}
	p := must(bulk.AppendPayload(nil, etw.Ptr64))
	var got structs.Bulk
	if n, err := got.DecodePayload(p, etw.Ptr64); n != len(p) || err != nil {
		t.Fatal(n, err)
	}
	if diff := cmp.Diff(bulk, got); diff != "" {
		t.Error(diff)
	}
	var names []string
	for v := range got.Values.All() {
		names = append(names, v.Name.String())
	}
	if diff := cmp.Diff([]string{"one", "two"}, names); diff != "" {
		t.Error(diff)
	}
	const text = `Bulk Count=2 Values=[{ID=1 Flags=2 Name=one Count=2 Parameters=[10 11]} {ID=3 Flags=0 Name=two Count=0 Parameters=[]}]`
	if got.String() != text {
		t.Errorf("text %s", got.String())
	}
}

func TestElementsAt(t *testing.T) {
	want := []structs.GraphNode{{Address: 1, Size: 2, Next: 3}, {Address: 4, Size: 5, Next: 6}}
	for _, ptr := range []etw.PtrSize{etw.Ptr32, etw.Ptr64} {
		nodes := must(structs.MakeGraphNodes(ptr, want...))
		var got []structs.GraphNode
		for i := range nodes.Len() {
			got = append(got, nodes.At(i))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		func() {
			defer func() {
				if recover() == nil {
					t.Error("no panic behind the last element")
				}
			}()
			nodes.At(2)
		}()
	}
}

// TestSizelessElements: elements that may take no bytes are bounded by the payload
// where they take some, and else by a number.
func TestSizelessElements(t *testing.T) {
	payload := func(count uint32, size uint8, rows, pair int) []byte {
		p := binary.LittleEndian.AppendUint32(nil, count)
		p = append(p, size)
		return append(p, make([]byte, 3*int(size)*rows+int(size)*pair)...) // names are empty
	}
	tests := []struct {
		name    string
		payload []byte
		rows    int
		want    error
	}{
		{"none", payload(0, 1, 0, 2), 0, nil},
		{"many", payload(5000, 1, 5000, 2), 5000, nil},
		{"too short", payload(5000, 1, 4999, 0), 0, etw.ErrTruncated},
		{"empty", payload(1024, 0, 0, 0), 1024, nil},
		{"too many empty", payload(1025, 0, 0, 0), 0, etw.ErrCount},
		{"billions", payload(math.MaxUint32, 1, 10, 0), 0, etw.ErrTruncated},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var e sizeless.Grid
			n, err := e.DecodePayload(tt.payload, etw.Ptr64)
			if !errors.Is(err, tt.want) || err == nil && n != len(tt.payload) {
				t.Fatalf("read %d of %d bytes, error %v, want %v", n, len(tt.payload), err, tt.want)
			}
			var d etw.Dynamic
			if m, again := d.Decode(e.EventDesc(), tt.payload, etw.Ptr64); m != n || !errors.Is(again, tt.want) {
				t.Errorf("dynamic: %d bytes, error %v; generated: %d, %v", m, again, n, err)
			}
			if err != nil {
				return
			}
			rows := 0
			for row := range e.Rows.All() {
				if rows++; len(row.Data) != int(e.Size) || row.Names.Len() != int(e.Size) {
					t.Fatalf("row %d: %v", rows, row)
				}
			}
			if rows != tt.rows || e.Rows.Len() != tt.rows {
				t.Errorf("%d rows, length %d, want %d", rows, e.Rows.Len(), tt.rows)
			}
			if got, err := e.AppendPayload(nil, etw.Ptr64); err != nil || !bytes.Equal(got, tt.payload) {
				t.Errorf("encoding gives other bytes: %v", err)
			}
		})
	}
}

// TestHostileCount decodes counts that no payload can hold: at once, and as an
// error that says where.
func TestHostileCount(t *testing.T) {
	p := make([]byte, 40)
	for i := range 4 {
		p[i] = 0xff
	}
	if n := testing.AllocsPerRun(1000, func() {
		var e structs.Bulk
		_, err := e.DecodePayload(p, etw.Ptr64)
		if decode, ok := errors.AsType[*etw.DecodeError](err); !ok || !errors.Is(err, etw.ErrCount) || decode.Field != "Values" || decode.Offset != 4 {
			t.Fatal(err)
		}
	}); n > 10 {
		t.Errorf("%v allocations", n)
	}
}

// TestAnyVersion decodes an event in versions that are known, in one between
// them, and in a newer one.
func TestAnyVersion(t *testing.T) {
	v0 := must((&versions.Start{Count: 7, Reason: etw.ANSI("old"), Gone: 9}).AppendPayload(nil, etw.Ptr64))
	v1 := must((&versions.StartV1{Count: 70000, Depth: 2, Reason: etw.MakeUTF16("new")}).AppendPayload(nil, etw.Ptr64))
	v3 := must((&versions.StartV3{Count: 70000, Depth: 2, Reason: etw.MakeUTF16("new"), Size: 5}).AppendPayload(nil, etw.Ptr64))
	later := append(append([]byte(nil), v3...), 1, 2, 3)
	tests := []struct {
		version uint8
		payload []byte
		want    versions.AnyStart
		text    string
		newer   bool
	}{
		{0, v0, versions.AnyStart{Seen: etw.Seen{Version: 0, Layout: 0}, Count: 7, ReasonV0: etw.ANSI("old"), Gone: 9},
			"Start Count=7 Reason=old Gone=9", false},
		{1, v1, versions.AnyStart{Seen: etw.Seen{Version: 1, Layout: 1}, Count: 70000, Depth: 2, Reason: etw.MakeUTF16("new")},
			"Start_V1 Count=70000 Depth=2 Reason=new", false},
		{2, v1, versions.AnyStart{Seen: etw.Seen{Version: 2, Layout: 1}, Count: 70000, Depth: 2, Reason: etw.MakeUTF16("new")},
			"Start_V1 Count=70000 Depth=2 Reason=new", true},
		{3, v3, versions.AnyStart{Seen: etw.Seen{Version: 3, Layout: 3}, Count: 70000, Depth: 2, Reason: etw.MakeUTF16("new"), Size: 5},
			"Start_V3 Count=70000 Depth=2 Reason=new Size=0x5", false},
		{9, later, versions.AnyStart{Seen: etw.Seen{Version: 9, Layout: 3}, Count: 70000, Depth: 2, Reason: etw.MakeUTF16("new"), Size: 5},
			"Start_V3 Count=70000 Depth=2 Reason=new Size=0x5", true},
	}
	// One variable for all: fields that a version lacks must not stay from the last.
	var e versions.AnyStart
	for _, tt := range tests {
		n, err := e.DecodeVersion(tt.version, tt.payload, etw.Ptr64)
		if err != nil {
			t.Fatal(err)
		}
		if want := len(tt.payload) - 3*(int(tt.version)/9); n != want {
			t.Errorf("version %d: read %d bytes, want %d", tt.version, n, want)
		}
		if diff := cmp.Diff(tt.want, e); diff != "" {
			t.Errorf("version %d (-want +got):\n%s", tt.version, diff)
		}
		if got := e.String(); got != tt.text {
			t.Errorf("version %d: text %s, want %s", tt.version, got, tt.text)
		}
		if e.Seen.Newer() != tt.newer {
			t.Errorf("version %d: newer %v", tt.version, e.Seen.Newer())
		}
		if e.HasDepth() != (tt.version > 0) || e.HasGone() != (tt.version == 0) || e.HasSize() != (tt.version >= 3) {
			t.Errorf("version %d: wrong fields", tt.version)
		}
	}
}

// marshalText returns the text that JSON has of a value.
func marshalText(v encoding.TextMarshaler) string {
	text, err := v.MarshalText()
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// TestTaskText: tasks have their names, also those of which no event is.
func TestTaskText(t *testing.T) {
	for task, want := range map[constants.Task]string{constants.TaskDisk: "Disk", constants.TaskIdle: "Idle", 99: "Task(99)"} {
		if got := task.String(); got != want {
			t.Errorf("task %d is %q, want %q", uint16(task), got, want)
		}
	}
}

func TestEnumText(t *testing.T) {
	tests := []struct{ got, want string }{
		{enums.StateBusy.String(), "Busy with work"},
		{enums.State(2).String(), "State(2)"},
		{marshalText(enums.State(2)), "2"},
		{marshalText(enums.StateBusy), "Busy with work"},
		{enums.State8Idle.String(), "Idle"},
		{(enums.AccessRead | enums.AccessWrite).String(), "Read|Write"},
		{(enums.AccessRead | 0x40).String(), "Read|0x40"},
		{enums.AccessNone.String(), "None"},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("text %q, want %q", tt.got, tt.want)
		}
	}
}
