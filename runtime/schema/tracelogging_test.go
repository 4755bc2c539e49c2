package schema_test

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/schema"
	"github.com/google/go-cmp/cmp"
)

// traceLogging returns a record with a schema and traits of its own.
func traceLogging(schema, traits string, payload []byte) *etw.Record {
	r := event()
	r.ID = 0
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

func TestTraceLogging(t *testing.T) {
	u16 := func(s string) string { return string(etw.MakeUTF16(s)) + "\x00\x00" }
	const traits = "My.Provider\x00\x13\x00\x01group of 16 byte"
	trace := func(schema, payload string) *etw.Record {
		return traceLogging(schema, traits, []byte(payload))
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
	got := decoded(t, described(records...))
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

// TestCutTraceLogging cuts a schema and traits at every byte: a part of one describes
// nothing, and the records are there.
func TestCutTraceLogging(t *testing.T) {
	// Where a list of members may end, an event may end: those cuts make another schema.
	const schema = "\x81\x00Name\x00s\x00\x98\x02x\x00\x84\x81\x02y\x00\x24\x02\x00c\x00\x64\x02\x00ab"
	whole := map[int]bool{2 + len("\x81\x00Name\x00"): true, 2 + len("\x81\x00Name\x00s\x00\x98\x02"): true,
		2 + len("\x81\x00Name\x00s\x00\x98\x02x\x00\x84\x81\x02"): true, 2 + len("\x81\x00Name\x00s\x00\x98\x02x\x00\x84\x81\x02y\x00\x24\x02\x00"): true}
	for cut := range 2 + len(schema) + 1 {
		r := traceLogging(schema, "P\x00", nil)
		item := &r.Extended[1].Data
		*item = (*item)[:cut]
		if cut >= 2 {
			binary.LittleEndian.PutUint16(*item, uint16(cut))
		}
		all := described(r)
		if described := all[0].Schema != nil; described != (whole[cut] || cut == 2+len(schema)) {
			t.Errorf("schema of %d bytes: %+v", cut, all[0].Schema)
		}
		// The size is that of all, and so too large for the data.
		if cut < 2+len(schema) {
			if cut >= 2 {
				binary.LittleEndian.PutUint16(*item, uint16(2+len(schema)))
			}
			if all := described(r); all[0].Schema != nil {
				t.Errorf("schema of %d bytes that says it has more: %+v", cut, all[0].Schema)
			}
		}
	}
	for cut := range 4 {
		r := traceLogging(schema, "P\x00", nil)
		r.Extended[0].Data = r.Extended[0].Data[:cut]
		if all := described(r); all[0].ProviderName != "" {
			t.Errorf("traits of %d bytes: provider %q", cut, all[0].ProviderName)
		}
	}
}

// TestDeepTraceLogging nests structs deeper than any program.
func TestDeepTraceLogging(t *testing.T) {
	r := traceLogging("\x00Deep\x00"+strings.Repeat("s\x00\x98\x01", 1000)+"x\x00\x04", "P\x00", nil)
	if all := described(r); all[0].Schema != nil {
		t.Error("it has a schema")
	}
}

// TestTraceLoggingHeader: the description has the values of the record's header, and is the
// same one for the same schema.
func TestTraceLoggingHeader(t *testing.T) {
	const schema = "\x00Work\x00"
	a, b, c := traceLogging(schema, "P\x00", nil), traceLogging(schema, "P\x00", nil), traceLogging(schema, "P\x00", nil)
	c.Opcode = 2
	got := described(a, b, c)
	if got[0].Schema != got[1].Schema {
		t.Error("the same schema has two descriptions")
	}
	if d := got[2].Schema; d.Opcode != 2 || got[0].Schema.Opcode != 1 || d.Channel != 11 || d.Level != 5 || d.Provider.GUID != testProvider {
		t.Errorf("description %+v", d)
	}
}

// TestManySchemas: schemas that differ from event to event are forgotten again,
// and events of all providers are described all the same.
func TestManySchemas(t *testing.T) {
	var set schema.Set
	for i := range 50000 {
		r := traceLogging(fmt.Sprintf("\x00Event%d\x00a\x00\x04", i), fmt.Sprintf("P%d\x00", i%7), []byte("\x01"))
		r.Provider[0] = byte(i % 7)
		r.Provider[15] = byte(i >> 8)
		set.Describe(r)
		if r.Schema == nil || r.Schema.Name != fmt.Sprintf("Event%d", i) || r.ProviderName != fmt.Sprintf("P%d", i%7) {
			t.Fatalf("event %d is described as %+v of %q", i, r.Schema, r.ProviderName)
		}
	}
}
