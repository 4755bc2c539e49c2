package schema_test

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/schema"
	"github.com/google/go-cmp/cmp"
)

// testManifest is a manifest as an EventSource writes it. The strings, the templates and the
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

// manifestRecords returns the records by which an EventSource writes a manifest, in
// chunks of at most size bytes of text, like base.
func manifestRecords(base *etw.Record, manifest []byte, size int) (records []*etw.Record) {
	total := (len(manifest) + size - 1) / size
	for i := range total {
		r := *base
		r.ID, r.Opcode, r.Task = 0xfffe, 0xfe, 0xfffe
		r.Payload = []byte{1, 1, 0, 0x5b}
		r.Payload = binary.LittleEndian.AppendUint16(r.Payload, uint16(total))
		r.Payload = binary.LittleEndian.AppendUint16(r.Payload, uint16(i))
		r.Payload = append(r.Payload, manifest[i*size:min((i+1)*size, len(manifest))]...)
		records = append(records, &r)
	}
	return records
}

// manifestEvent returns an event of the provider of testManifest.
func manifestEvent(id uint16, version uint8, payload string) *etw.Record {
	r := event()
	r.ID, r.Version, r.Payload = id, version, []byte(payload)
	return r
}

func TestManifest(t *testing.T) {
	records := []*etw.Record{
		manifestEvent(1, 2, string(etw.MakeUTF16("http://x"))+"\x00\x00"+"\x00\x00\x00\x00"+"\x03"+"\x01\x00\x00\x00"+"\x02\x00\x00\x00\x0a\x0b"+"\x05\x40\x00\x80"),
		manifestEvent(2, 0, "\x02\x00"+"\x07\x08"+"\x01a\x01\x02"+"\x02bc\x03\x04"),
		manifestEvent(3, 0, ""),
		manifestEvent(4, 0, ""),
		manifestEvent(5, 0, ""),
		manifestEvent(1, 1, ""),
		manifestEvent(1, 2, string(etw.MakeUTF16("y"))+"\x00\x00"+"\xff\xff\xff\xff"+"\x04"+"\x00\x00\x00\x00"+"\x00\x00\x00\x00"+"\x00\x00\x00\x00"),
	}
	// The manifest comes last, in chunks.
	records = append(records, manifestRecords(event(), []byte(testManifest), 700)...)
	all := described(records...)
	got := decoded(t, all)
	want := []string{
		`My-Source: RequestStart url=http://x color="Red & hot" flags=A|no_such_string ok=true size=2 data=0a0b status=0x80004005`,
		"My-Source: Deep n=2 ids=[7 8] pairs=[{len=1 text=a each=[1 2]} {len=2 text=bc each=[3 4]}]",
		"My-Source: Request/Custom",
		"My-Source: no schema", "My-Source: no schema", "My-Source: no schema",
		`My-Source: RequestStart url=y color=None flags=0x4 ok=false size=0 data= status=0x00000000`,
	}
	if diff := cmp.Diff(want, got[:7]); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	d := all[0].Schema
	if d.Level != 3 || d.Opcode != 1 || d.OpcodeName != "Start" || d.Task != 7 || d.TaskName != "Request" || d.Keywords != 6 || d.Message != `GET %1 <€> "'> &no; &#xD800; R&D` {
		t.Errorf("description %+v", d)
	}
	if d.Fields[1].Map == nil || all[1].Schema.Fields[0].Map != nil {
		t.Errorf("maps %v and %v, want one and none", d.Fields[1].Map, all[1].Schema.Fields[0].Map)
	}
	if d := all[1].Schema; d.Opcode != 50 || all[2].Schema.Opcode != 40 {
		t.Errorf("opcodes %d and %d, want 50 and 40", d.Opcode, all[2].Schema.Opcode)
	}
	if last := got[len(got)-1]; !strings.HasPrefix(last, "My-Source: ManifestData Format=1 MajorVersion=1") {
		t.Error(last)
	}
}

// TestLive: a description learned holds for later events, and a manifest that changes holds
// from then on.
func TestLive(t *testing.T) {
	var set schema.Set
	titleOf := func() string {
		r := describe(&set, manifestEvent(2, 0, ""))[0]
		if r.Schema == nil {
			return r.ProviderName + ": no schema"
		}
		return r.ProviderName + ": " + r.Schema.Title()
	}
	learn := func(records ...*etw.Record) {
		for _, r := range records {
			if !set.Learn(r) {
				t.Errorf("event %d was not learned from", r.ID)
			}
		}
	}
	got := []string{titleOf()}
	chunks := manifestRecords(event(), []byte(testManifest), 700)
	learn(chunks[:2]...)
	got = append(got, titleOf())
	learn(chunks[2:]...)
	got = append(got, titleOf())
	changed := strings.NewReplacer(`symbol="Deep"`, `symbol="Deeper"`, "My-Source", "My-New-Source").Replace(testManifest)
	learn(manifestRecords(event(), []byte(changed), 60000)...)
	got = append(got, titleOf())
	learn(manifestRecords(event(), []byte("<not a manifest>"), 60000)...)
	got = append(got, titleOf())
	want := []string{": no schema", ": no schema", "My-Source: Deep", "My-New-Source: Deeper", "My-New-Source: Deeper"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestNotLearned: an event that only looks like a chunk is passed over.
func TestNotLearned(t *testing.T) {
	var set schema.Set
	good := manifestRecords(event(), []byte(testManifest), 700)
	for name, change := range map[string]func(*etw.Record){
		"another event":   func(r *etw.Record) { r.ID = 1 },
		"another kind":    func(r *etw.Record) { r.Kind = etw.KindMessage },
		"too short":       func(r *etw.Record) { r.Payload = r.Payload[:7] },
		"format":          func(r *etw.Record) { r.Payload[0] = 2 },
		"magic":           func(r *etw.Record) { r.Payload[3] = 0 },
		"not the first":   func(r *etw.Record) { r.Payload[6] = 1 },
		"beyond the last": func(r *etw.Record) { r.Payload[4] = 0 },
	} {
		r := good[0].Clone()
		change(r)
		if set.Learn(r) {
			t.Errorf("%s: learned", name)
		}
	}
}

// TestManifestChunks: chunks of several processes come mixed, repeated and cut
// off.
func TestManifestChunks(t *testing.T) {
	chunks := func(process int64, text string) []*etw.Record {
		base := event()
		base.ProcessID, base.ThreadID = process, process
		return manifestRecords(base, []byte(text), 500)
	}
	other := strings.ReplaceAll(testManifest, `symbol="Deep"`, `symbol="Other"`)
	a, b := chunks(1, testManifest), chunks(2, other)
	var mixed []*etw.Record
	mixed = append(mixed, a[:3]...) // never finished
	for i := range max(len(a), len(b)) {
		mixed = append(mixed, a[min(i, len(a)-1)], b[min(i, len(b)-1)])
	}
	for i, want := range []string{"Deep", "Other", "Other"} {
		r := manifestEvent(2, 0, "\x00\x00")
		r.ProcessID = int64(1 + i) // the third wrote no manifest: the last one counts
		all := described(append(mixed[:len(mixed):len(mixed)], r)...)
		if d := all[len(all)-1].Schema; d == nil || d.Name != want {
			t.Errorf("process %d: %+v, want %s", r.ProcessID, d, want)
		}
	}
}

// TestManyManifests: many different manifests of one provider take time in
// proportion, and so does one of many ampersands.
func TestManyManifests(t *testing.T) {
	var set schema.Set
	learn := func(process int64, text string) {
		base := event()
		base.ProcessID = process
		for _, r := range manifestRecords(base, []byte(text), 60000) {
			set.Learn(r)
		}
	}
	before := allocatedBytes()
	n := 50000
	if testing.Short() {
		n /= 20
	}
	for i := range n {
		learn(int64(i), fmt.Sprintf("<manifest %d>", i))
	}
	learn(1, `<m><provider name="P`+strings.Repeat("&", 20*n)+`"><events><event value="2" symbol="`+strings.Repeat("&lt", 5*n)+`"/></events>`)
	r := describe(&set, manifestEvent(2, 0, ""))[0]
	if r.Schema == nil || !strings.HasPrefix(r.ProviderName, "P&&&") {
		t.Errorf("the last manifest was not learned: provider %.10q", r.ProviderName)
	}
	if bytes := int(allocatedBytes() - before); bytes > 100*n*100 {
		t.Errorf("%d bytes were allocated for %d manifests", bytes, n)
	}
}

// allocatedBytes returns how many bytes were allocated so far. A set that copied all for
// each manifest would allocate as the square of their number.
func allocatedBytes() uint64 {
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	return mem.TotalAlloc
}

// TestOpenManifests: manifests that are begun and never finished are given up.
func TestOpenManifests(t *testing.T) {
	var set schema.Set
	chunk := func(thread int64, number byte) *etw.Record {
		r := event()
		r.ID, r.ThreadID = 0xfffe, thread
		r.Payload = append([]byte{1, 1, 0, 0x5b, 3, 0, number, 0}, make([]byte, 60000)...)
		return r
	}
	for thread := range int64(1000) {
		set.Learn(chunk(thread, 0))
	}
	if set.Learn(chunk(1, 1)) {
		t.Error("the second manifest of a thousand that are open is still there")
	}
	if !set.Learn(chunk(999, 1)) || !set.Learn(chunk(999, 2)) {
		t.Error("the last one is not there any more")
	}
}

// TestManyFields: a list of more fields than any event has describes nothing.
func TestManyFields(t *testing.T) {
	for _, n := range []int{4000, 5000} {
		text := `<m><provider name="P"><events><event value="2" template="T"/></events><templates><template tid="T">` +
			strings.Repeat(`<data name="a" inType="win:UInt8"/>`, n) + `</template></templates>`
		all := described(append(manifestRecords(event(), []byte(text), 60000), manifestEvent(2, 0, ""))...)
		if d := all[len(all)-1].Schema; (d != nil) != (n == 4000) {
			t.Errorf("%d fields: description %v", n, d != nil)
		}
	}
}

// TestDenseManifest: a manifest of nothing but the shortest events and fields
// describes those up to a limit.
func TestDenseManifest(t *testing.T) {
	var text strings.Builder
	text.WriteString(`<m><provider name="P"><events>`)
	for i := range 50000 {
		fmt.Fprintf(&text, `<event value="%d"/>`, i)
	}
	records := manifestRecords(event(), []byte(text.String()), 60000)
	last := len(records)
	records = append(records, manifestEvent(0, 0, ""), manifestEvent(49999, 0, ""))
	all := described(records...)
	if all[last].Schema == nil || all[last+1].Schema != nil {
		t.Errorf("the first event is described: %v, the last: %v", all[last].Schema != nil, all[last+1].Schema != nil)
	}
	fields := `<m><provider name="P"><events><event value="3" template="T999"/></events>`
	for i := range 1000 {
		fields += fmt.Sprintf(`<template tid="T%d">%s</template>`, i, strings.Repeat(`<data inType="win:Int8"/>`, 100))
	}
	all = described(append(manifestRecords(event(), []byte(fields), 60000), manifestEvent(3, 0, ""))...)
	if d := all[len(all)-1].Schema; d != nil && strconv.IntSize == 64 { // descriptions of 32 bits are small enough
		t.Errorf("the last of a thousand templates describes %+v", d)
	}
}
