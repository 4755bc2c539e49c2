package etl_test

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etl/etltest"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/google/go-cmp/cmp"
)

// traceLogging returns a record with a schema and traits of its own.
func traceLogging(h *etl.Header, after int64, schema, traits string, payload []byte) *etw.Record {
	r := event(h, 0, after, 0)
	r.Payload = payload
	r.Channel, r.Level, r.Opcode = 11, 5, 1
	sized := func(s string) []byte {
		return append(binary.LittleEndian.AppendUint16(nil, uint16(len(s)+2)), s...)
	}
	// Traits come first, as Windows writes them.
	r.Extended = []etw.ExtendedItem{
		{Type: etw.ExtProviderTraits, Data: sized(traits)},
		{Type: etw.ExtSchema, Data: sized(schema)},
	}
	return r
}

// decoded returns how the records decode by their own schemas.
func decoded(t *testing.T, records []*etw.Record) (lines []string) {
	t.Helper()
	var d etw.Dynamic
	for _, r := range records {
		if r.Schema == nil {
			lines = append(lines, fmt.Sprintf("%s: no schema", r.ProviderName))
			continue
		}
		if _, err := d.Decode(r.Schema, r.Payload, r.PointerSize); err != nil {
			lines = append(lines, fmt.Sprintf("%s: %v", r.ProviderName, err))
			continue
		}
		if r.Schema == nil || r.Schema.Provider.Name != r.ProviderName && r.ID != 0xfffe {
			t.Errorf("schema of %q on a record of %q", r.Schema.Provider.Name, r.ProviderName)
		}
		lines = append(lines, fmt.Sprintf("%s: %s", r.ProviderName, etw.AppendText(nil, &d)))
	}
	return lines
}

func TestTraceLogging(t *testing.T) {
	h := etltest.DefaultHeader()
	u16 := func(s string) string { return string(etw.MakeUTF16(s)) + "\x00\x00" }
	const traits = "My.Provider\x00\x13\x00\x01group of 16 byte"
	trace := func(schema, payload string) *etw.Record {
		return traceLogging(&h, 1, schema, traits, []byte(payload))
	}
	records := []*etw.Record{
		trace("\x00Plain\x00", ""),
		trace("\x81\x82\x03Tagged\x00a\x00\x84\x84\x85\x06", "\x1f"),
		trace("\x00Numbers\x00a\x00\x03b\x00\x06c\x00\x07d\x00\x0ae\x00\x0bf\x00\x0c",
			"\xff"+"\x00\x01"+"\xfe\xff\xff\xff"+"\xff\xff\xff\xff\xff\xff\xff\xff"+"\x00\x00\x80\x3f"+"\x00\x00\x00\x00\x00\x00\xe0\x3f"),
		trace("\x00Shown\x00a\x00\x84\x03b\x00\x84\x04c\x00\x86\x02d\x00\x88\x0fe\x00\x88\x08f\x00\x86\x07",
			"\x01"+"\x7f"+"A\x00"+"\x05\x00\x07\x80"+"\x7f\x00\x00\x01"+"\x00\x50"),
		trace("\x00Text\x00a\x00\x01b\x00\x02c\x00\x16d\x00\x17e\x00\x82\x23",
			u16("wide")+"narrow\x00"+"\x04\x00h\x00i\x00"+"\x02\x00ho"+"gr\xc3\xb6\xc3\x9fe\x00"),
		trace("\x00Bytes\x00a\x00\x0eb\x00\x19c\x00\x8e\x09",
			"\x02\x00\x0a\x0b"+"\x01\x00\x0c"+"\x10\x00"+strings.Repeat("\x00", 15)+"\x01"),
		trace("\x00Arrays\x00a\x00\x26\x02\x00b\x00\x48c\x00\xc4\x02", "\x01\x00\x02\x00"+"\x01\x00\x03\x00\x00\x00"+"\x03\x00abc"),
		trace("\x00Struct\x00s\x00\x98\x02x\x00\x04n\x00\x98\x01y\x00\x02z\x00\x04", "\x01yes\x00\x02"),
		trace("\x00Structs\x00s\x00\xd8\x02k\x00\x02v\x00\x04", "\x02\x00a\x00\x01b\x00\x02"),
		trace("\x00Custom\x00c\x00\x6e\x03\x00abcd\x00\x04", "\x02\x00\x0a\x0b\x09"),
		trace("\x00Later type\x00a\x00\x04b\x00\x1f", "\x01\x02\x03"),
		trace("\x00Hex\x00a\x00\x86\x04b\x00\x88\x04c\x00\x8a\x04d\x00\x8e\x04e\x00\x87\x03",
			"\xff\x0f"+"\x10\x00\x00\x00"+"\x11\x00\x00\x00\x00\x00\x00\x00"+"\x01\x00\xab"+"\x01\x00\x00\x00"),
	}
	got := decoded(t, mustReadAll(t, newReader(t, file(t, h, records...))))
	want := []string{
		"My.Provider: Plain",
		"My.Provider: Tagged a=0x1f",
		"My.Provider: Numbers a=-1 b=256 c=-2 d=18446744073709551615 e=1 f=0.5",
		"My.Provider: Shown a=true b=0x7f c=A d=0x80070005 e=127.0.0.1 f=80",
		"My.Provider: Text a=wide b=narrow c=hi d=ho e=größe",
		"My.Provider: Bytes a=0a0b b=0c c=::1",
		"My.Provider: Arrays a=[1 2] b=[3] c=abc",
		"My.Provider: Struct s={x=1 n={y=yes}} z=2",
		"My.Provider: Structs s=[{k=a v=1} {k=b v=2}]",
		"My.Provider: Custom c=0a0b d=9",
		"My.Provider: Later type a=1 b=0203",
		"My.Provider: Hex a=0xfff b=0x10 c=0x11 d=ab e=true",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestCutTraceLogging cuts a schema and traits at every byte: what is not whole
// describes nothing, and the records are there.
func TestCutTraceLogging(t *testing.T) {
	h := etltest.DefaultHeader()
	// Where a list of members may end, an event may end: those cuts make another schema.
	const schema = "\x81\x00Name\x00s\x00\x98\x02x\x00\x84\x81\x02y\x00\x24\x02\x00c\x00\x64\x02\x00ab"
	whole := map[int]bool{2 + len("\x81\x00Name\x00"): true, 2 + len("\x81\x00Name\x00s\x00\x98\x02"): true,
		2 + len("\x81\x00Name\x00s\x00\x98\x02x\x00\x84\x81\x02"): true, 2 + len("\x81\x00Name\x00s\x00\x98\x02x\x00\x84\x81\x02y\x00\x24\x02\x00"): true}
	for cut := range 2 + len(schema) + 1 {
		r := traceLogging(&h, 1, schema, "P\x00", nil)
		item := &r.Extended[1].Data
		*item = (*item)[:cut]
		if cut >= 2 {
			binary.LittleEndian.PutUint16(*item, uint16(cut))
		}
		all := mustReadAll(t, newReader(t, file(t, h, r)))
		if described := all[0].Schema != nil; described != (whole[cut] || cut == 2+len(schema)) {
			t.Errorf("schema of %d bytes: %+v", cut, all[0].Schema)
		}
		// The size is that of all, and so too large for what there is.
		if cut < 2+len(schema) {
			if cut >= 2 {
				binary.LittleEndian.PutUint16(*item, uint16(2+len(schema)))
			}
			if all := mustReadAll(t, newReader(t, file(t, h, r))); all[0].Schema != nil {
				t.Errorf("schema of %d bytes that says it has more: %+v", cut, all[0].Schema)
			}
		}
	}
	for cut := range 4 {
		r := traceLogging(&h, 1, schema, "P\x00", nil)
		r.Extended[0].Data = r.Extended[0].Data[:cut]
		if all := mustReadAll(t, newReader(t, file(t, h, r))); all[0].ProviderName != "" {
			t.Errorf("traits of %d bytes: provider %q", cut, all[0].ProviderName)
		}
	}
}

// TestDeepTraceLogging nests structs deeper than any program.
func TestDeepTraceLogging(t *testing.T) {
	h := etltest.DefaultHeader()
	r := traceLogging(&h, 1, "\x00Deep\x00"+strings.Repeat("s\x00\x98\x01", 1000)+"x\x00\x04", "P\x00", nil)
	if all := mustReadAll(t, newReader(t, file(t, h, r))); all[0].Schema != nil {
		t.Error("it has a schema")
	}
}

// TestTraceLoggingHeader: the description has what the record's header says, and
// is the same one for the same schema.
func TestTraceLoggingHeader(t *testing.T) {
	h := etltest.DefaultHeader()
	const schema = "\x00Work\x00"
	a, b, c := traceLogging(&h, 1, schema, "P\x00", nil), traceLogging(&h, 2, schema, "P\x00", nil), traceLogging(&h, 3, schema, "P\x00", nil)
	c.Opcode = 2
	got := mustReadAll(t, newReader(t, file(t, h, a, b, c)))
	if got[0].Schema != got[1].Schema {
		t.Error("the same schema has two descriptions")
	}
	if d := got[2].Schema; d.Opcode != 2 || got[0].Schema.Opcode != 1 || d.Channel != 11 || d.Level != 5 || d.Provider.GUID != testProvider {
		t.Errorf("description %+v", d)
	}
}

// testManifest is what an EventSource writes. The strings, the templates and the
// maps come after the events that use them.
const testManifest = `<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE instrumentationManifest>
<!-- > not a tag < --><![CDATA[<provider name="Not-this"/>]]>
<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events">
 <instrumentation xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:win="http://manifests.microsoft.com/win/2004/08/windows/events">
  <events xmlns="http://schemas.microsoft.com/win/2004/08/events">
<provider name="My-Source" guid="{2e5dba47-a3d2-4d16-8ee0-6671ffdcd7b5}" resourceFileName="My.dll" messageFileName="My.dll" symbol="MySource">
 <tasks>
  <task name="Request" message="$(string.task_Request)" value="7">
   <opcodes><opcode name="Deep" value="50"/></opcodes>
  </task>
  <task name="EventSourceMessage" value="65534"/>
 </tasks>
 <opcodes><opcode name="Custom" symbol='C' value="40"/></opcodes>
 <keywords>
  <keyword name="Net" mask="0x2"/>
  <keyword name="Disk" mask="0x4"/>
 </keywords>
 <events>
  <event value="1" version="2" level="win:Warning" symbol="RequestStart" keywords="Net Disk" task="Request" opcode="win:Start" template="RequestArgs" message="$(string.event_1)"/>
  <event value="2" level="win:Verbose" symbol="Deep" task="Request" opcode="Deep" template="Lists"/>
  <event value="3" task="Request" opcode="Custom"></event>
  <event value="4" symbol="Broken" template="BrokenArgs"/>
  <event value="5" symbol="Nowhere" template="NoSuchTemplate"/>
  <event value="x" symbol="NoNumber"/>
 </events>
 <templates>
  <template tid="RequestArgs">
   <data name="url" inType="win:UnicodeString"/>
   <data name="color" inType="win:Int32" map="Color"/>
   <data name="flags" inType="win:UInt8" map="Flags"/>
   <data name="ok" inType="win:Boolean"/>
   <data name="size" inType="win:UInt32"/>
   <data name="data" inType="win:Binary" length="size"/>
   <data name="status" inType="win:UInt32" outType="win:HResult"/>
  </template>
  <template tid="Lists">
   <data name="n" inType="win:UInt16" map="NoSuchMap"/>
   <data name="ids" inType="win:UInt8" count="n"/>
   <struct name="pairs" count="n">
    <data name="len" inType="win:UInt8"/>
    <data name="text" inType="win:AnsiString" length="len"/>
    <data name="each" inType="win:UInt8" count="n"/>
   </struct>
  </template>
  <template tid="BrokenArgs"><data name="a" inType="win:NoSuchType"/></template>
  <template tid="Unused"/>
 </templates>
 <maps>
  <valueMap name="Color"><map value="0" message="$(string.map_Red)"/><map value="-1" message="$(string.map_None)"/></valueMap>
  <bitMap name="Flags"><map value="0x1" message="$(string.map_A)"/><map value="0x2" message="$(string.no_such_string)"/></bitMap>
 </maps>
</provider>
  </events>
 </instrumentation>
 <localization><resources culture="en-US"><stringTable>
  <string id="event_1" value="GET %1 &lt;&#x20AC;&#62; &quot;&apos;&gt; &no; &#xD800; R&D"/>
  <string id="map_Red" value="Red &amp; hot"/>
  <string id="map_None" value="None"/>
  <string id="map_A" value="A"/>
 </stringTable></resources></localization>
</instrumentationManifest>` + "\x00"

// manifestEvent returns an event of the provider of testManifest.
func manifestEvent(h *etl.Header, after int64, id uint16, version uint8, payload string) *etw.Record {
	r := event(h, 0, after, 0)
	r.ID, r.Version, r.Payload = id, version, []byte(payload)
	return r
}

func TestManifest(t *testing.T) {
	for _, c := range compressions {
		h := etltest.DefaultHeader()
		h.Compression = c
		records := []*etw.Record{
			manifestEvent(&h, 1, 1, 2, string(etw.MakeUTF16("http://x"))+"\x00\x00"+"\x00\x00\x00\x00"+"\x03"+"\x01\x00\x00\x00"+"\x02\x00\x00\x00\x0a\x0b"+"\x05\x40\x00\x80"),
			manifestEvent(&h, 2, 2, 0, "\x02\x00"+"\x07\x08"+"\x01a\x01\x02"+"\x02bc\x03\x04"),
			manifestEvent(&h, 3, 3, 0, ""),
			manifestEvent(&h, 4, 4, 0, ""),
			manifestEvent(&h, 5, 5, 0, ""),
			manifestEvent(&h, 6, 1, 1, ""),
			manifestEvent(&h, 7, 1, 2, string(etw.MakeUTF16("y"))+"\x00\x00"+"\xff\xff\xff\xff"+"\x04"+"\x00\x00\x00\x00"+"\x00\x00\x00\x00"+"\x00\x00\x00\x00"),
		}
		// The manifest comes last, in chunks.
		records = append(records, etltest.ManifestRecords(event(&h, 1, 8, 0), []byte(testManifest), 700)...)
		all := mustReadAll(t, newReader(t, file(t, h, records...)))
		got := decoded(t, all)
		want := []string{
			`My-Source: RequestStart url=http://x color="Red & hot" flags=A|no_such_string ok=true size=2 data=0a0b status=0x80004005`,
			"My-Source: Deep n=2 ids=[7 8] pairs=[{len=1 text=a each=[1 2]} {len=2 text=bc each=[3 4]}]",
			"My-Source: Request/Custom",
			"My-Source: no schema", "My-Source: no schema", "My-Source: no schema",
			`My-Source: RequestStart url=y color=None flags=0x4 ok=false size=0 data= status=0x00000000`,
		}
		if diff := cmp.Diff(want, got[:7]); diff != "" {
			t.Errorf("%v: (-want +got)\n%s", c, diff)
		}
		d := all[0].Schema
		if d.Level != 3 || d.Opcode != 1 || d.OpcodeName != "Start" || d.Task != 7 || d.TaskName != "Request" || d.Keywords != 6 || d.Message != `GET %1 <€> "'> &no; &#xD800; R&D` {
			t.Errorf("%v: description %+v", c, d)
		}
		if d.Fields[1].Map == nil || all[1].Schema.Fields[0].Map != nil {
			t.Errorf("%v: maps %v and %v, want one and none", c, d.Fields[1].Map, all[1].Schema.Fields[0].Map)
		}
		if d := all[1].Schema; d.Opcode != 50 || all[2].Schema.Opcode != 40 {
			t.Errorf("%v: opcodes %d and %d, want 50 and 40", c, d.Opcode, all[2].Schema.Opcode)
		}
		if last := got[len(got)-1]; !strings.HasPrefix(last, "My-Source: ManifestData Format=1 MajorVersion=1") {
			t.Errorf("%v: %s", c, last)
		}
	}
}

// TestManifestChunks: chunks of several processes come mixed, repeated and cut
// off.
func TestManifestChunks(t *testing.T) {
	h := etltest.DefaultHeader()
	chunks := func(process int64, text string) []*etw.Record {
		base := event(&h, 0, 1, 0)
		base.ProcessID, base.ThreadID = process, process
		return etltest.ManifestRecords(base, []byte(text), 500)
	}
	other := strings.ReplaceAll(testManifest, `symbol="Deep"`, `symbol="Other"`)
	a, b := chunks(1, testManifest), chunks(2, other)
	var mixed []*etw.Record
	mixed = append(mixed, a[:3]...) // never finished
	for i := range max(len(a), len(b)) {
		mixed = append(mixed, a[min(i, len(a)-1)], b[min(i, len(b)-1)])
	}
	for i, want := range []string{"Deep", "Other", "Other"} {
		r := manifestEvent(&h, 2, 2, 0, "\x00\x00")
		r.ProcessID = int64(1 + i) // the third wrote no manifest: the last one counts
		all := mustReadAll(t, newReader(t, file(t, h, append(mixed[:len(mixed):len(mixed)], r)...)))
		if d := all[len(all)-1].Schema; d == nil || d.Name != want {
			t.Errorf("process %d: %+v, want %s", r.ProcessID, d, want)
		}
	}
}

// TestManifestOnSeveralProcessors: a thread goes from processor to processor while
// it writes its manifest, into buffers that began in another order.
func TestManifestOnSeveralProcessors(t *testing.T) {
	h := etltest.DefaultHeader()
	var records []*etw.Record
	for i, r := range etltest.ManifestRecords(event(&h, 0, 100, 0), []byte(testManifest), 500) {
		r.Processor = int32(20 - i)
		r.Timestamp += int64(i)
		records = append(records, event(&h, int(r.Processor), int64(50-i), 0), r)
	}
	records = append(records, manifestEvent(&h, 200, 3, 0, ""))
	all := mustReadAll(t, newReader(t, file(t, h, records...)))
	if last := all[len(all)-1]; last.Schema == nil {
		t.Error("the manifest was not put together")
	}
}

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

func eventInfo(provider, class etw.GUID, source uint32, id uint16, opcode uint8, top int, properties ...tdhProperty) []byte {
	var w tdhWriter
	w.p = append(w.p, provider[:]...)
	w.p = append(w.p, class[:]...)
	w.u16(id)
	w.p = append(w.p, 3, 0, 4, opcode)
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
func stored(h *etl.Header, after int64, opcode uint8, p []byte) *etw.Record {
	r := event(h, 0, after, 0)
	r.Kind, r.Provider, r.ID, r.Opcode, r.Payload = etw.Classic, metadata, 0, opcode, p
	return r
}

func TestStoredSchemas(t *testing.T) {
	const isStruct, lengthOf, countOf, fixedCount = 1, 2, 4, 0x20
	h := etltest.DefaultHeader()
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
	ofClass := event(&h, 0, 3, 0)
	ofClass.Kind, ofClass.Provider, ofClass.ID, ofClass.Opcode, ofClass.Version, ofClass.PointerSize = etw.Classic, class, 0, 32, 3, etw.Ptr32
	ofClass.Payload = []byte("\x01\x00\x00\x00\x00\x00\x00\x00" + "\x01\x01\x00\x00\x00\x00\x00\x05\x12\x00\x00\x00" + "\x04\x00h\x00i\x00" + "\x44\x33\x22\x11" + "end")
	records := []*etw.Record{
		manifestEvent(&h, 1, 5, 3, "\x01\x00\x00\x00"+"a\x00\x00\x00"+"\x02\x00"+"\x0a\x0b"+"k\x00\x01\x02"+"l\x00\x03\x04"+"\x09"+"\x10\x00\x00\x00\x00\x00\x00\x00"),
		manifestEvent(&h, 2, 6, 3, ""),
		ofClass,
		stored(&h, 4, 32, info), stored(&h, 4, 32, classic), stored(&h, 4, 32, loop), stored(&h, 4, 32, info[:100]),
		// A map may come after the event that uses it.
		stored(&h, 5, 33, mapInfo(testProvider, "Colors ", 1, map[uint32]string{1: "Green "})), stored(&h, 5, 33, []byte("short")),
	}
	all := mustReadAll(t, newReader(t, file(t, h, records...)))
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
	h := etltest.DefaultHeader()
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
		{tdhProperty{in: 4, flags: paramCount, count: 3}, "\x01", ""}, // property 3 is none
	} {
		test.property.name = "V"
		test.property.count = max(test.property.count, 1)
		info := eventInfo(testProvider, etw.GUID{}, 0, 5, 1, 1, test.property)
		all := mustReadAll(t, newReader(t, file(t, h, manifestEvent(&h, 1, 5, 3, test.payload), stored(&h, 2, 32, info))))
		want := []string{"Provider: Task/Start V=" + test.want}
		if test.want == "" {
			want = []string{": no schema"}
		}
		if diff := cmp.Diff(want, decoded(t, all[:1])); diff != "" {
			t.Errorf("%+v: (-want +got)\n%s", test.property, diff)
		}
	}
}

func TestWithoutSchemas(t *testing.T) {
	h := etltest.DefaultHeader()
	records := append(etltest.ManifestRecords(event(&h, 0, 1, 0), []byte(testManifest), 60000),
		manifestEvent(&h, 2, 3, 0, ""), traceLogging(&h, 3, "\x00Plain\x00", "P\x00", nil))
	for _, r := range mustReadAll(t, newReader(t, file(t, h, records...), etl.WithoutSchemas())) {
		if r.Schema != nil || r.ProviderName != "" {
			t.Errorf("event %d has the schema %v of %q", r.ID, r.Schema, r.ProviderName)
		}
	}
}
