package pick

import (
	"context"
	"io"

	"github.com/etwgen/etwgen/runtime/etw"
)

// AheadEvents is how many events are looked at before the first one is printed.
// It takes a few milliseconds.
const AheadEvents = 5000

// An Ahead looks at the first records of a source, and then delivers them as if
// nothing had happened.
type Ahead struct {
	Src     etw.Source
	records []*etw.Record
	err     error // that ended the looking
	Whole   bool  // it saw all of the source
}

// LookAhead reads up to limit records and shows them to see.
func LookAhead(src etw.Source, limit int, see func(*etw.Record)) *Ahead {
	a := &Ahead{Src: src}
	for len(a.records) < limit {
		var rec etw.Record
		if a.err = src.Next(&rec); a.err != nil {
			a.Whole = true
			break
		}
		c := rec.Clone()
		a.records = append(a.records, c)
		see(c)
	}
	return a
}

// Next delivers the next record: see [etw.Source].
func (a *Ahead) Next(rec *etw.Record) error {
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
	return a.Src.Next(rec)
}

// Push calls do with the records that are wanted: see [etw.Pusher]. Those that were looked
// at all are.
func (a *Ahead) Push(ctx context.Context, w *etw.Wants, do func(*etw.Record) error) error {
	var rec etw.Record
	for len(a.records) > 0 || a.err != nil {
		err := a.Next(&rec)
		if err == nil {
			err = do(&rec)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return etw.Push(ctx, a.Src, w, do)
}
