package etl

import (
	"errors"
	"fmt"
	"io"
)

var (
	// ErrNotETL says that a file does not begin like an .etl file.
	ErrNotETL = errors.New("not an .etl file")
	// ErrTruncated says that a buffer or record is cut off. It wraps
	// io.ErrUnexpectedEOF.
	ErrTruncated = fmt.Errorf("truncated: %w", io.ErrUnexpectedEOF)
	// ErrHeader says that the header of the file or of a buffer makes no sense.
	ErrHeader = errors.New("damaged header")
	// ErrRecord says that what is in the place of a record is none.
	ErrRecord = errors.New("damaged record")
	// ErrCompression says that a buffer cannot be decompressed to its end.
	ErrCompression = errors.New("damaged compressed data")
)

// A Damage is one place in a file that could not be read.
type Damage struct {
	File   string
	Offset int64  // in the file, of the buffer
	At     int    // in the buffer as it is without compression; 0 if all of it is meant
	What   string // in words
	Err    error  // ErrTruncated, ErrHeader, ErrRecord, ErrCompression, or of the file's reader
}

func (d *Damage) Error() string {
	where := fmt.Sprintf("etl: %s: buffer at offset %d", d.File, d.Offset)
	if d.File == "" {
		where = fmt.Sprintf("etl: buffer at offset %d", d.Offset)
	}
	if d.At > 0 {
		where += fmt.Sprintf(" at %#x", d.At)
	}
	if d.What == "" {
		return fmt.Sprintf("%s: %v", where, d.Err)
	}
	return fmt.Sprintf("%s: %v: %s", where, d.Err, d.What)
}

// Unwrap returns the kind of the damage.
func (d *Damage) Unwrap() error { return d.Err }

// A DamageError says that parts of a trace could not be read. It is no reason to
// mistrust the records that were delivered.
type DamageError struct {
	Damages []*Damage // the first of them
	Count   int       // of all
}

func (e *DamageError) Error() string {
	if e.Count == 1 {
		return e.Damages[0].Error()
	}
	return fmt.Sprintf("%v (and %d more)", e.Damages[0], e.Count-1)
}

// Unwrap returns the damages, so that errors.Is finds their kinds.
func (e *DamageError) Unwrap() []error {
	errs := make([]error, len(e.Damages))
	for i, d := range e.Damages {
		errs[i] = d
	}
	return errs
}

// maxDamages is how many damages are kept.
const maxDamages = 100

// A damageLog collects damages.
type damageLog struct {
	list  []*Damage
	count int
}

func (l *damageLog) add(d *Damage) {
	if len(l.list) < maxDamages {
		l.list = append(l.list, d)
	}
	l.count++
}
