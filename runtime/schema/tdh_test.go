package schema_test

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/schema"
	"github.com/google/go-cmp/cmp"
)

// A tdhWriter builds TRACE_EVENT_INFO and EVENT_MAP_INFO.
type tdhWriter struct {
	p    []byte
	text []byte
	at   []int // offsets to be set to where their text is
}

func (w *tdhWriter) u16(v ...uint16) {
	for _, v := range v {
		w.p = binary.LittleEndian.AppendUint16(w.p, v)
	}
}

func (w *tdhWriter) u32(v ...uint32) {
	for _, v := range v {
		w.p = binary.LittleEndian.AppendUint32(w.p, v)
	}
}

// string appends the offset of s.
func (w *tdhWriter) string(s string) {
	if s == "" {
		w.u32(0)
		return
	}
	w.at = append(w.at, len(w.p))
	w.u32(uint32(len(w.text)))
	w.text = append(etw.AppendUTF16(w.text, s), 0, 0)
}

func (w *tdhWriter) bytes() []byte {
	for _, at := range w.at {
		v := binary.LittleEndian.Uint32(w.p[at:])
		binary.LittleEndian.PutUint32(w.p[at:], v+uint32(len(w.p)))
	}
	return append(w.p, w.text...)
}

// A tdhProperty is a property of a tdhWriter.
type tdhProperty struct {
	flags         uint32
	name          string
	in, out       uint16 // of a struct, its first member and their number
	mapName       string
	count, length uint16
}

func eventInfo(provider, class etw.GUID, source uint32, id uint16, opcode etw.Opcode, top int, properties ...tdhProperty) []byte {
	var w tdhWriter
	w.p = append(w.p, provider[:]...)
	w.p = append(w.p, class[:]...)
	w.u16(id)
	w.p = append(w.p, 3, 0, 4, byte(opcode))
	w.u16(9)
	w.p = append(w.p, make([]byte, 8)...)
	w.u32(source)
	w.string("Provider ")
	w.string("Informational ")
	w.u32(0, 0)
	w.string("Task ")
	w.string("win:Start ")
	w.string("Message %1 ")
	w.u32(0, 0, 0, 0, 0, uint32(len(properties)), uint32(top), 0)
	for _, p := range properties {
		w.u32(p.flags)
		w.string(p.name)
		w.u16(p.in, p.out)
		w.string(p.mapName)
		w.u16(p.count, p.length)
		w.u32(0)
	}
	return w.bytes()
}

func mapInfo(provider etw.GUID, name string, flags uint32, values map[uint32]string) []byte {
	var w tdhWriter
	w.string(name)
	w.u32(flags, uint32(len(values)), 0)
	for v, name := range values {
		w.string(name)
		w.u32(v)
	}
	return append(provider[:len(provider):len(provider)], w.bytes()...)
}

var metadata = etw.MustParseGUID("bbccf6c1-6cd1-48c4-80ff-839482e37671")

// stored returns the record in which a merge tool stores p.
func stored(opcode etw.Opcode, p []byte) *etw.Record {
	r := event()
	r.Kind, r.Provider, r.ID, r.Opcode, r.Payload = etw.KindClassic, metadata, 0, opcode, p
	return r
}

func TestStoredSchemas(t *testing.T) {
	const isStruct, lengthOf, countOf, fixedCount = 1, 2, 4, 0x20
	class := etw.MustParseGUID("11111111-2222-3333-4444-555555555555")
	info := eventInfo(testProvider, etw.GUID{}, 0, 5, 1, 7,
		tdhProperty{name: "Color ", in: 8, mapName: "Colors ", count: 1, length: 4},
		tdhProperty{name: "Text ", in: 1, count: 1},
		tdhProperty{name: "Size ", in: 6, count: 1, length: 2},
		tdhProperty{name: "Data ", flags: lengthOf, in: 14, count: 1, length: 2},
		tdhProperty{name: "Pairs ", flags: isStruct | countOf, in: 7, out: 2, count: 2},
		tdhProperty{name: "Fixed ", flags: fixedCount, in: 4, count: 1, length: 1},
		tdhProperty{name: "Handle ", in: 16, out: 0, count: 1, length: 8},
		tdhProperty{name: "Key ", in: 2, count: 1},
		tdhProperty{name: "Values ", flags: countOf, in: 4, count: 2, length: 1},
	)
	classic := eventInfo(etw.GUID{}, class, 1, 0, 32, 4,
		tdhProperty{name: "Who", in: 310, count: 1},
		tdhProperty{name: "Counted", in: 300, count: 1},
		tdhProperty{name: "Wide", in: 308, count: 1},
		tdhProperty{name: "Rest", in: 305, count: 1},
	)
	loop := eventInfo(testProvider, etw.GUID{}, 0, 6, 1, 1, tdhProperty{name: "Self", flags: isStruct, in: 0, out: 1, count: 1})
	ofClass := event()
	ofClass.Kind, ofClass.Provider, ofClass.ID, ofClass.Opcode, ofClass.Version, ofClass.PointerSize = etw.KindClassic, class, 0, 32, 3, etw.Ptr32
	ofClass.Payload = []byte("\x01\x00\x00\x00\x00\x00\x00\x00" + "\x01\x01\x00\x00\x00\x00\x00\x05\x12\x00\x00\x00" + "\x04\x00h\x00i\x00" + "\x44\x33\x22\x11" + "end")
	records := []*etw.Record{
		manifestEvent(5, 3, "\x01\x00\x00\x00"+"a\x00\x00\x00"+"\x02\x00"+"\x0a\x0b"+"k\x00\x01\x02"+"l\x00\x03\x04"+"\x09"+"\x10\x00\x00\x00\x00\x00\x00\x00"),
		manifestEvent(6, 3, ""),
		ofClass,
		stored(32, info), stored(32, classic), stored(32, loop), stored(32, info[:100]),
		// A map may come after the event that uses it.
		stored(33, mapInfo(testProvider, "Colors ", 1, map[uint32]string{1: "Green "})), stored(33, []byte("short")),
	}
	all := described(records...)
	want := []string{
		"Provider: Task/Start Color=Green Text=a Size=2 Data=0a0b Pairs=[{Key=k Values=[1 2]} {Key=l Values=[3 4]}] Fixed=[9] Handle=0x10",
		"Provider: no schema",
		"Provider: Task/Start Who=S-1-5-18 Counted=hi Wide=0x11223344 Rest=end",
	}
	if diff := cmp.Diff(want, decoded(t, all[:3])); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if d := all[0].Schema; d.Message != "Message %1" || d.TaskName != "Task" || d.Level != 4 || d.Task != 9 {
		t.Errorf("description %+v", d)
	}
}

// TestStoredTypes: the types of properties, and lengths that are constants.
func TestStoredTypes(t *testing.T) {
	const paramCount = 4
	utf16 := func(s string) string { return string(etw.MakeUTF16(s)) }
	for _, test := range []struct {
		property      tdhProperty
		payload, want string
	}{
		{tdhProperty{in: 301}, "\x02\x00hi", "hi"},
		{tdhProperty{in: 304}, utf16("to the end"), `"to the end"`},
		{tdhProperty{in: 305}, "all", "all"},
		{tdhProperty{in: 306}, utf16("é"), "é"},
		{tdhProperty{in: 307}, "c", "c"},
		{tdhProperty{in: 309}, "\x02\x00\x00\x00\x0a\x0b", "0a0b"},
		{tdhProperty{in: 400}, "\x01\x02", "0102"},
		{tdhProperty{in: 25}, "\x01\x00\x0a", "0a"},
		{tdhProperty{in: 1, length: 2}, utf16("ab"), "ab"},
		{tdhProperty{in: 14, length: 1}, "\x0c", "0c"},
		{tdhProperty{in: 14, out: 24}, strings.Repeat("\x00", 15) + "\x01", "::1"},
		{tdhProperty{in: 14}, "\x0d\x0e", "0d0e"},
		{tdhProperty{in: 4, count: 2}, "\x01\x02", "[1 2]"},
		{tdhProperty{in: 8, out: 99}, "\x07\x00\x00\x00", "7"},
		{tdhProperty{in: 4, flags: paramCount, count: 3}, "\x01", ""}, // there is no property 3
	} {
		test.property.name = "V"
		test.property.count = max(test.property.count, 1)
		info := eventInfo(testProvider, etw.GUID{}, 0, 5, 1, 1, test.property)
		all := described(manifestEvent(5, 3, test.payload), stored(32, info))
		want := []string{"Provider: Task/Start V=" + test.want}
		if test.want == "" {
			want = []string{": no schema"}
		}
		if diff := cmp.Diff(want, decoded(t, all[:1])); diff != "" {
			t.Errorf("%+v: (-want +got)\n%s", test.property, diff)
		}
	}
}

// TestStoredMaps: maps may come after the events that name them, one by one; an
// event that was replaced since does not come back.
func TestStoredMaps(t *testing.T) {
	two := eventInfo(testProvider, etw.GUID{}, 0, 5, 1, 2,
		tdhProperty{name: "A", in: 8, mapName: "Colors", count: 1}, tdhProperty{name: "B", in: 8, mapName: "Sizes", count: 1})
	colors := stored(33, mapInfo(testProvider, "Colors", 1, map[uint32]string{1: "Green"}))
	sizes := stored(33, mapInfo(testProvider, "Sizes", 2, map[uint32]string{1: "Small", 2: "Large"}))
	of := manifestEvent(5, 3, "\x01\x00\x00\x00\x02\x00\x00\x00")
	var set schema.Set
	var got []string
	for _, r := range []*etw.Record{stored(32, two), colors, sizes} {
		if !set.Learn(r) {
			t.Error("not learned")
		}
		got = append(got, decoded(t, describe(&set, of))...)
	}
	want := []string{"Provider: Task/Start A=1 B=2", "Provider: Task/Start A=Green B=2", "Provider: Task/Start A=Green B=Large"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}

	one := eventInfo(testProvider, etw.GUID{}, 0, 5, 1, 1, tdhProperty{name: "New", in: 8, count: 1})
	all := described(stored(32, two), stored(32, one), colors, sizes, of)
	if diff := cmp.Diff([]string{"Provider: Task/Start New=1"}, decoded(t, all[4:])); diff != "" {
		t.Errorf("replaced: (-want +got)\n%s", diff)
	}
}

// TestStoredClass: the description of a classic event has the key of its records,
// and a name that the record has already stays.
func TestStoredClass(t *testing.T) {
	class := etw.MustParseGUID("11111111-2222-3333-4444-555555555555")
	r := event()
	r.Kind, r.Provider, r.ID, r.Opcode, r.Version, r.ProviderName = etw.KindClassic, class, 0, 32, 3, "Class"
	info := eventInfo(etw.GUID{}, class, 1, 0, 32, 1, tdhProperty{name: "Who", in: 8, count: 1})
	got := described(stored(32, info), r)[1]
	if got.Schema == nil || got.Schema.Key() != r.Key() || got.ProviderName != "Class" {
		t.Errorf("%q, described as %+v", got.ProviderName, got.Schema)
	}
	r.Kind = etw.KindMessage
	if got := described(stored(32, info), r)[1]; got.Schema != nil {
		t.Errorf("a message is described as %+v", got.Schema)
	}
	classic := eventInfo(etw.GUID{}, class, 1, 0, 32, 1, tdhProperty{name: "Who", in: 8, mapName: "M", count: 1})
	r.Kind, r.Payload = etw.KindClassic, []byte("\x01\x00\x00\x00")
	all := described(stored(32, classic), stored(33, mapInfo(class, "M", 1, map[uint32]string{1: "One"})), r)
	if diff := cmp.Diff([]string{"Who=One"}, strings.Fields(decodedFields(all[2]))); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// decodedFields returns the fields of r by its own schema.
func decodedFields(r *etw.Record) string {
	var d etw.Dynamic
	if _, err := d.Decode(r.Schema, r.Payload, r.PointerSize); err != nil {
		return err.Error()
	}
	_, fields, _ := strings.Cut(string(etw.AppendText(nil, &d)), " ")
	return fields
}
