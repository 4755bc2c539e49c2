package dyn

import (
	"testing"

	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/runtime/etw"
)

func TestFields(t *testing.T) {
	d := &etw.EventDesc{Name: "E", Fields: []etw.FieldDesc{
		{Name: "n", Type: etw.InInt32},
		{Name: "u", Type: etw.InUInt32},
		{Name: "f", Type: etw.InFloat},
		{Name: "d", Type: etw.InDouble},
		{Name: "s", Type: etw.InStruct, Fields: []etw.FieldDesc{{Name: "t", Type: etw.InUnicodeString}, {Name: "a", Type: etw.InAnsiString}}},
		{Name: "w", Type: etw.InUnicodeString},
	}}
	p := []byte{0xff, 0xff, 0xff, 0xff, 7, 0, 0, 0, 0xcd, 0xcc, 0xcc, 0x3d, 0, 0, 0, 0, 0, 0, 0xe0, 0x3f, '5', 0, 0, 0, 'x', 0}
	p = append(append(p, etw.MakeUTF16("word")...), 0, 0)
	var f Reader
	if !f.Read(&etw.Record{Schema: d, Payload: p, PointerSize: etw.Ptr64}) {
		t.Fatal("the record is not read")
	}
	for name, want := range map[string]measure.Float{"n": measure.Known(-1), "u": measure.Known(7), "f": measure.Known(0.1),
		"d": measure.Known(0.5), "s": {}, "w": {}, "none": {}} {
		if got := f.Float(name); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	if name, text := f.FirstText(); name != "w" || text != "word" || f.Text("w") != "word" || f.First().Int() != -1 {
		t.Error(name, text)
	}
	s := f.Value("s")
	if Float(Member(s, "t")) != measure.Known(5) || Member(s, "a").Text() != "x" || Member(s, "none").Kind() != etw.ValueNone || Member(etw.Value{}, "t").Kind() != etw.ValueNone {
		t.Error(Member(s, "t"), Member(s, "a"))
	}
}

func TestNothing(t *testing.T) {
	var f Reader
	if f.Read(&etw.Record{}) {
		t.Error("a record without a schema is read")
	}
	if !f.Read(&etw.Record{Schema: &etw.EventDesc{}}) || f.First().Kind() != etw.ValueNone {
		t.Error("an event without fields is not read")
	}
	if name, text := f.FirstText(); name != "" || text != "" {
		t.Error(name, text)
	}
}
