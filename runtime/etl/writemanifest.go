package etl

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/etwgen/etwgen/runtime/etw"
)

// An EventSource writes its manifest into the trace: events of a reserved number,
// each with a part of the text.
const (
	manifestID     = 0xfffe
	manifestFormat = 1
	manifestMagic  = 0x5b
	manifestPart   = 0xff00 // the largest part that .NET writes
)

// WriteManifest writes an instrumentation manifest as EventSources do, from which readers
// learn the fields of the events of a provider. Base says the provider, the process, the
// thread, the processor and the time.
func (w *Writer) WriteManifest(base *etw.Record, manifest []byte) error {
	part := min(manifestPart, int(w.header.BufferSize)-bufferHeaderSize-eventHeaderSize-64)
	if (len(manifest)-1)/math.MaxUint16 >= part {
		return fmt.Errorf("etl: a manifest of %d bytes is longer than %d parts of %d", len(manifest), math.MaxUint16, part)
	}
	for _, r := range ManifestRecords(base, manifest, part) {
		if err := w.Write(r); err != nil {
			return err
		}
	}
	return nil
}

// ManifestRecords returns the records by which an EventSource writes its manifest
// into a trace, in parts of at most size bytes of text. They are like base, which
// says the provider, the process and the time. There are none of a manifest with more
// parts than 65,535.
func ManifestRecords(base *etw.Record, manifest []byte, size int) []*etw.Record {
	total := max(1, (len(manifest)+size-1)/size)
	if total > math.MaxUint16 {
		return nil
	}
	var records []*etw.Record
	for i := range total {
		r := *base
		r.Kind, r.ID, r.Version, r.Opcode, r.Task = etw.KindManifest, manifestID, 1, manifestID&0xff, manifestID
		r.Payload = []byte{manifestFormat, 1, 0, manifestMagic}
		r.Payload = binary.LittleEndian.AppendUint16(r.Payload, uint16(total))
		r.Payload = binary.LittleEndian.AppendUint16(r.Payload, uint16(i))
		r.Payload = append(r.Payload, manifest[i*size:min((i+1)*size, len(manifest))]...)
		records = append(records, &r)
	}
	return records
}
