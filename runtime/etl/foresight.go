package etl

import (
	"sort"
	"sync"

	"github.com/etwgen/etwgen/runtime/etw"
)

// foreseen are the records of a prepass that the user wants to see.
type foreseen struct {
	mu      sync.Mutex
	records []foreseenRecord
	size    int64
}

type foreseenRecord struct {
	place
	*etw.Record
}

// foreseenRecordSize is about the size of one without its payload.
const foreseenRecordSize = 512

// add keeps the record r of a file of some size, unless they take too much together: they
// are a help, and missing ones come in their time.
func (f *foreseen) add(r *etw.Record, at place, fileSize int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	size := foreseenRecordSize + int64(len(r.Payload))
	if f.size+size > 4<<20+fileSize/4 {
		return
	}
	f.size += size
	f.records = append(f.records, foreseenRecord{at, r.Clone()})
}

// show shows the kept records, in the order of time.
func (p *prepass) show() {
	records := p.foreseen.records
	sort.Slice(records, func(i, j int) bool { return records[i].compare(records[j].place) < 0 })
	for _, r := range records {
		if p.Reader.schemas != nil {
			p.Reader.schemas.Describe(r.Record)
		}
		p.options.foresight.see(r.Record)
	}
}
