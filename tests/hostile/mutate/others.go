package mutate

import (
	"bytes"
	"encoding/binary"
)

// readEVTX maps an .evtx file: a header of 4 KiB, and chunks of 64 KiB, each behind a header
// with tables of the parts that it shares.
func readEVTX(t *Trace) bool {
	const header, chunk, chunkHeader = 4096, 65536, 512
	if !bytes.HasPrefix(t.Data, []byte("ElfFile\x00")) || len(t.Data) < header+chunk {
		return false
	}
	t.Format, t.Head = EVTX, header
	for at := header; at+chunk <= len(t.Data); at += chunk {
		if bytes.HasPrefix(t.Data[at:], []byte("ElfChnk\x00")) { // others are room for more
			t.Parts = append(t.Parts, Part{at, at + chunkHeader, at + chunk})
		}
	}
	return true
}

// mostGroups is how many parts a perf.data file has at most: of each it is read what comes before
// it.
const mostGroups = 32

// readPerf maps a perf.data file: a header that says where records are, which begin with a kind,
// bits and a size. A part is a group of records in a row; the last has what is behind them too.
func readPerf(t *Trace) bool {
	const header, recordHeader = 104, 8
	data := t.Data
	if !bytes.HasPrefix(data, []byte("PERFILE2")) || len(data) < header || binary.LittleEndian.Uint64(data[8:]) != header {
		return false
	}
	start, size := binary.LittleEndian.Uint64(data[40:]), binary.LittleEndian.Uint64(data[48:])
	if start < header || start > uint64(len(data)) || size > uint64(len(data))-start {
		return false
	}
	const packed, packedToo = 81, 83
	t.Format, t.Head = Perf, int(start)
	end := int(start + size)
	group := int(start)
	for at := int(start); at < end; {
		if end-at < recordHeader {
			return false
		}
		n := int(binary.LittleEndian.Uint16(data[at+6:]))
		if n < recordHeader || n > end-at {
			return false
		}
		if kind := binary.LittleEndian.Uint32(data[at:]); kind == packed || kind == packedToo {
			t.Format = PerfPacked
		}
		at += n
		if at-group >= int(size)/mostGroups || at == end {
			t.Parts = append(t.Parts, Part{group, group + recordHeader, at})
			group = at
		}
	}
	if len(t.Parts) > 0 {
		t.Parts[len(t.Parts)-1].End = len(data)
	}
	return true
}
