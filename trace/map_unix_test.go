//go:build unix

package trace

import (
	"bytes"
	"os"
	"runtime/debug"
	"testing"

	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etw"
)

// TestMappedETL: a mapped .etl file says what one says that is read, and where it becomes
// shorter, whoever reads it can survive.
func TestMappedETL(t *testing.T) {
	for _, c := range []etl.Compression{etl.CompressionNone, etl.CompressionXpress} {
		data := longETLTrace(t, c)
		read, mapped := identities(t, openOne(t, data)), identities(t, openOne(t, data, MapFiles()))
		if len(read) != len(mapped) {
			t.Fatalf("%d records, mapped %d", len(read), len(mapped))
		}
		for i := range read {
			if read[i] != mapped[i] {
				t.Fatalf("record %d: %s, mapped %s", i, read[i], mapped[i])
			}
		}
		f := openOne(t, data, MapFiles())
		if err := os.Truncate(f.Name(), 100); err != nil {
			t.Fatal(err)
		}
		if _, ok := faultOf(func() {
			for rec := new(etw.Record); f.Next(rec) == nil; {
				_ = len(rec.Payload)
			}
		}).(interface{ Addr() uintptr }); !ok {
			t.Errorf("%v: no fault", c)
		}
	}
}

// Who writes to the memory of a record does not write to the file.
func TestMappedIsPrivate(t *testing.T) {
	data := longETLTrace(t, etl.CompressionNone)
	f := openOne(t, data, MapFiles())
	for rec := new(etw.Record); f.Next(rec) == nil; {
		for i := range rec.Payload {
			rec.Payload[i] = 0x55
		}
	}
	if after, err := os.ReadFile(f.Name()); err != nil || !bytes.Equal(after, data) {
		t.Errorf("the file has changed, or error %v", err)
	}
}

// faultOf returns what do panics with.
func faultOf(do func()) (fault any) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() { fault = recover() }()
	do()
	return nil
}
