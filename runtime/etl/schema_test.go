package etl_test

import (
	"encoding/binary"
	"fmt"
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

// testManifest is a short manifest as an EventSource writes it.
const testManifest = `<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events">
 <instrumentation><events>
  <provider name="My-Source" guid="{2e5dba47-a3d2-4d16-8ee0-6671ffdcd7b5}">
   <events>
    <event value="1" version="2" symbol="Request" template="RequestArgs"/>
    <event value="2" symbol="Deep" template="Lists"/>
    <event value="3" symbol="Nothing"/>
   </events>
   <templates>
    <template tid="RequestArgs"><data name="url" inType="win:UnicodeString"/><data name="color" inType="win:Int32" map="Color"/></template>
    <template tid="Lists"><data name="n" inType="win:UInt16"/><data name="ids" inType="win:UInt8" count="n"/></template>
   </templates>
   <maps><valueMap name="Color"><map value="0" message="$(string.red)"/></valueMap></maps>
  </provider>
 </events></instrumentation>
 <localization><resources culture="en-US"><stringTable><string id="red" value="Red"/></stringTable></resources></localization>
</instrumentationManifest>`

// manifestEvent returns an event of the provider of testManifest.
func manifestEvent(h *etl.Header, after int64, id uint16, version uint8, payload string) *etw.Record {
	r := event(h, 0, after, 0)
	r.ID, r.Version, r.Payload = id, version, []byte(payload)
	return r
}

// TestSchemas: whatever has a schema in the trace is described by it, also where the schema
// comes last, in chunks, and in any compression.
func TestSchemas(t *testing.T) {
	for _, c := range compressions {
		h := etltest.DefaultHeader()
		h.Compression = c
		records := []*etw.Record{
			traceLogging(&h, 1, "\x00Plain\x00n\x00\x04", "My-Other\x00", []byte("\x07")),
			manifestEvent(&h, 2, 1, 2, string(etw.MakeUTF16("http://x"))+"\x00\x00"+"\x00\x00\x00\x00"),
			manifestEvent(&h, 3, 2, 0, "\x02\x00"+"\x07\x08"),
			manifestEvent(&h, 4, 9, 0, ""),
		}
		records[0].Provider[0]++
		records = append(records, etltest.ManifestRecords(event(&h, 1, 8, 0), []byte(testManifest), 300)...)
		// The description that a merge tool stored of event 9, without a name and fields.
		stored := event(&h, 0, 9, 0)
		stored.Kind, stored.Provider, stored.Opcode = etw.KindClassic, etw.MustParseGUID("bbccf6c1-6cd1-48c4-80ff-839482e37671"), 32
		stored.Payload = make([]byte, 0x70)
		copy(stored.Payload, testProvider[:])
		stored.Payload[0x20] = 9
		records = append(records, stored)
		var got []string
		var d etw.Dynamic
		for _, r := range mustReadAll(t, newReader(t, file(t, h, records...)))[:4] {
			if r.Schema == nil {
				got = append(got, r.ProviderName+": no schema")
				continue
			}
			if _, err := d.Decode(r.Schema, r.Payload, r.PointerSize); err != nil {
				t.Error(err)
			}
			got = append(got, fmt.Sprintf("%s: %s", r.ProviderName, etw.AppendText(nil, &d)))
		}
		want := []string{"My-Other: Plain n=7", "My-Source: Request url=http://x color=Red", "My-Source: Deep n=2 ids=[7 8]", "My-Source: Event9"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%v: (-want +got)\n%s", c, diff)
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
