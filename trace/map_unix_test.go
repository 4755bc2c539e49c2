//go:build unix

package trace

import (
	"bytes"
	"os"
	"testing"

	"github.com/etwgen/etwgen/runtime/etw"
)

// Who writes to the memory of a record does not write to the file.
func TestMappedIsPrivate(t *testing.T) {
	data := longNetTrace(4)
	f := openOne(t, data, WithMapping())
	for rec := new(etw.Record); f.Next(rec) == nil; {
		for i := range rec.Payload {
			rec.Payload[i] = 0x55
		}
	}
	if after, err := os.ReadFile(f.Name()); err != nil || !bytes.Equal(after, data) {
		t.Errorf("the file has changed, or error %v", err)
	}
}
