package schema_test

import (
	"testing"

	"github.com/etwgen/etwgen/runtime/etw"
)

// FuzzSchemas has a set learn from hostile schemas of all kinds, and describe by
// them.
func FuzzSchemas(f *testing.F) {
	f.Add([]byte("\x00Event\x00s\x00\xd8\x02k\x00\x02v\x00\x04"), []byte("\x02\x00a\x00\x01b\x00\x02"))
	f.Add([]byte(testManifest[600:1200]), []byte{})
	f.Add(eventInfo(testProvider, etw.GUID{}, 0, 1, 1, 1, tdhProperty{name: "S", flags: 1, in: 1, out: 1, count: 2}, tdhProperty{name: "A", in: 1, count: 1}), []byte("a\x00\x00\x00"))
	f.Add(mapInfo(testProvider, "M", 1, map[uint32]string{1: "One"}), []byte{})
	f.Fuzz(func(t *testing.T, text, payload []byte) {
		records := []*etw.Record{
			traceLogging(string(text), "P\x00", payload),
			traceLogging("\x00E\x00", string(text), payload),
			manifestEvent(1, 0, string(payload)),
			stored(32, text),
			stored(33, text),
		}
		manifest := `<m><provider name="P"><events><event value="1" template="T"/></events><templates><template tid="T">` + string(text)
		records = append(records, manifestRecords(event(), []byte(manifest), 20000)...)
		records = append(records, manifestRecords(event(), text, 20000)...)
		var d etw.Dynamic
		for _, r := range described(records...) {
			if r.Schema == nil {
				continue
			}
			if n, err := d.Decode(r.Schema, r.Payload, r.PointerSize); err == nil && n > len(r.Payload) {
				t.Fatalf("%d bytes of %d", n, len(r.Payload))
			}
			etw.AppendText(nil, &d)
		}
	})
}
