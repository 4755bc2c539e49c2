package main

import (
	"io"

	"github.com/etwgen/etwgen/runtime/etw"
)

// aheadEvents is how many events are looked at before the first one is printed.
// It takes a few milliseconds.
const aheadEvents = 5000

// An ahead looks at the first records of a source, and then delivers them as if
// nothing had happened.
type ahead struct {
	src     etw.Source
	records []*etw.Record
	err     error // that ended the looking
	whole   bool  // it saw all of the source
}

// lookAhead reads up to limit records and shows them to see.
func lookAhead(src etw.Source, limit int, see func(*etw.Record)) *ahead {
	a := &ahead{src: src}
	for len(a.records) < limit {
		var rec etw.Record
		if a.err = src.Next(&rec); a.err != nil {
			a.whole = true
			break
		}
		c := rec.Clone()
		a.records = append(a.records, c)
		see(c)
	}
	return a
}

// Next delivers the next record: see [etw.Source].
func (a *ahead) Next(rec *etw.Record) error {
	if len(a.records) > 0 {
		*rec = *a.records[0]
		a.records[0] = nil
		a.records = a.records[1:]
		return nil
	}
	if err := a.err; err != nil {
		if a.err = nil; err == io.EOF {
			a.err = io.EOF
		}
		return err
	}
	return a.src.Next(rec)
}
