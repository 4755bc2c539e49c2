package etw

import (
	"errors"
	"fmt"
	"io"
	"iter"
)

// A Source delivers records, one at a time, in the order that it promises: a
// reader of files, a live session, or several of them merged.
type Source interface {
	// Next sets r, all of it, to the next record. The record and the memory that
	// it points to are valid until the next call.
	//
	// After the last record Next returns io.EOF. Where not everything could be
	// read, all that could is delivered first; then comes one error, which
	// [ErrIncomplete] recognises if records are missing, and then io.EOF.
	Next(r *Record) error
}

// An Interrupter is a [Source] that waits for its records, such as a live session.
// [Mux.Run] calls Interrupt when its context is done.
type Interrupter interface {
	Source
	// Interrupt ends the source without its unread rest, and any Next that waits. It may be
	// called by any goroutine, and more than once.
	Interrupt()
}

// Records iterates over the records that are left of s. The record is reused: it and the
// memory that it points to are valid until the next turn. If not everything could be read,
// the last pair is nil and the error; a program that breaks off there without showing its
// results would lose all that was good:
//
//	for r, err := range etw.Records(s) {
//		if err != nil {
//			log.Print(err)
//			break // and show what there is
//		}
//		...
//	}
func Records(s Source) iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		var r Record
		for {
			switch err := s.Next(&r); {
			case err == io.EOF:
				return
			case err != nil:
				yield(nil, err)
				return
			}
			if !yield(&r, nil) {
				return
			}
		}
	}
}

// ErrIncomplete says that a source could not deliver everything: the trace is cut
// off, parts of it are damaged, or its medium failed. The records that it did
// deliver are good.
var ErrIncomplete = errors.New("the trace is incomplete")

// A Damage is one place of a trace that could not be read.
type Damage struct {
	Format string // of the trace: etl or nettrace
	File   string // "" if it is not known
	Offset int64  // in the file or stream
	Part   string // of the format, such as "event block"
	Err    error  // what is wrong
}

// Error returns the place and the fault.
func (d *Damage) Error() string {
	where := d.Format
	if d.File != "" {
		where += ": " + d.File
	}
	where = fmt.Sprintf("%s: offset %d", where, d.Offset)
	if d.Part != "" {
		where += ": " + d.Part
	}
	return fmt.Sprintf("%s: %v", where, d.Err)
}

// Unwrap returns the fault.
func (d *Damage) Unwrap() error { return d.Err }

// An IncompleteError lists the parts of a trace that could not be read. It is
// [ErrIncomplete].
type IncompleteError struct {
	Damages []*Damage // the first of them, at least one
	Count   int       // of all
}

// Error returns the first damage, and how many more there are.
func (e *IncompleteError) Error() string {
	switch {
	case len(e.Damages) == 0:
		return ErrIncomplete.Error()
	case e.Count <= 1:
		return e.Damages[0].Error()
	}
	return fmt.Sprintf("%v (and %d more)", e.Damages[0], e.Count-1)
}

// Is reports whether target is [ErrIncomplete].
func (e *IncompleteError) Is(target error) bool { return target == ErrIncomplete }

// Unwrap returns the damages, so that errors.Is finds the fault of each.
func (e *IncompleteError) Unwrap() []error {
	errs := make([]error, len(e.Damages))
	for i, d := range e.Damages {
		errs[i] = d
	}
	return errs
}

// maxDamages is how many damages a DamageLog keeps.
const maxDamages = 100

// A DamageLog collects the damages that a source meets: the first hundred, and
// the number of all.
type DamageLog struct {
	Damages []*Damage
	Count   int
}

// Add adds a damage.
//
//go:noinline
func (l *DamageLog) Add(d *Damage) {
	if len(l.Damages) < maxDamages {
		l.Damages = append(l.Damages, d)
	}
	l.Count++
}

// Err returns an [*IncompleteError] if there is any damage, or nil.
func (l *DamageLog) Err() error {
	if l.Count == 0 {
		return nil
	}
	return &IncompleteError{l.Damages, l.Count}
}
