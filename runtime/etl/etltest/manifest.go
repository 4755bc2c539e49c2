package etltest

import (
	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etw"
)

// ManifestRecords returns the records by which an EventSource writes its manifest
// into a trace: see [etl.ManifestRecords].
func ManifestRecords(base *etw.Record, manifest []byte, size int) []*etw.Record {
	return etl.ManifestRecords(base, manifest, size)
}
