package mutate

import "encoding/binary"

// number reads a size, which is small in a trace that is intact.
func number(b []byte) int { return int(min(binary.LittleEndian.Uint32(b), 1<<30)) }

// readETL maps an .etl file: a row of buffers, each behind a header that says
// its size.
func readETL(t *Trace) bool {
	const header, compressed = 0x48, 0x40
	data := t.Data
	if len(data) < header+8 || data[header+3] != 0xc0 || data[header+6] != 0 || data[header+7] != 0 {
		return false
	}
	t.Format = ETL
	for at := 0; at < len(data); {
		if len(data)-at < header {
			return false
		}
		size := number(data[at:])
		if size < header || size > len(data)-at {
			return false
		}
		if data[at+0x34]&compressed != 0 {
			t.Format = ETLCompressed
		}
		t.Parts = append(t.Parts, Part{at, at + header, at + size})
		at += size
	}
	return true
}
