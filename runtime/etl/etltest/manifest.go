package etltest

import (
	"encoding/binary"

	"github.com/etwgen/etwgen/runtime/etw"
)

// ManifestRecords returns the records by which an EventSource writes its manifest
// into a trace, in chunks of at most size bytes of text. They are like base, which
// says the provider, the process and the time.
func ManifestRecords(base *etw.Record, manifest []byte, size int) []*etw.Record {
	const id, format, magic = 0xfffe, 1, 0x5b
	total := max(1, (len(manifest)+size-1)/size)
	var records []*etw.Record
	for i := range total {
		r := *base
		r.Kind, r.ID, r.Version, r.Opcode, r.Task = etw.KindManifest, id, 1, id&0xff, id
		r.Payload = []byte{format, 1, 0, magic}
		r.Payload = binary.LittleEndian.AppendUint16(r.Payload, uint16(total))
		r.Payload = binary.LittleEndian.AppendUint16(r.Payload, uint16(i))
		r.Payload = append(r.Payload, manifest[i*size:min((i+1)*size, len(manifest))]...)
		records = append(records, &r)
	}
	return records
}
