package trace

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/etwgen/etwgen/runtime/etw"
)

var (
	// ErrFormat says that a file is no trace.
	ErrFormat = errors.New("not a trace: neither .etl, .nettrace, .netperf, .evtx, perf.data nor .gcdump, nor a profile of another tool, nor a .zip or .gz file of one")
	// ErrEmpty says that a file has no content.
	ErrEmpty = errors.New("the file is empty")
	// ErrUnpack says that a compressed file unpacks to more than the limit.
	ErrUnpack = errors.New("it unpacks to more than the limit")
)

// An Error is the fault of one file. Its text is one line that begins with the name of the
// file.
type Error struct {
	File string // "" if Err has the name already
	Err  error
}

// Error returns the name of the file and its fault.
func (e *Error) Error() string {
	text := describe(e.Err)
	if e.File == "" {
		return text
	}
	return e.File + ": " + text
}

// Unwrap returns the fault.
func (e *Error) Unwrap() error { return e.Err }

// describe returns the text of err without a second name of the file.
func describe(err error) string {
	if several, ok := errors.AsType[*etw.IncompleteError](err); ok && several.Count > 1 {
		return fmt.Sprintf("%s (and %d more)", describe(several.Damages[0]), several.Count-1)
	}
	if d := (*etw.Damage)(nil); errors.As(err, &d) {
		if d.Part == "" {
			return fmt.Sprintf("offset %d: %v", d.Offset, d.Err)
		}
		return fmt.Sprintf("offset %d: %s: %v", d.Offset, d.Part, d.Err)
	}
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		return path.Err.Error()
	}
	return err.Error()
}

// inFile adds the name of a file to err.
func inFile(name string, err error) error {
	if err == nil {
		return nil
	}
	// Of several files that are read as one, a damage names its own.
	if d := (*etw.Damage)(nil); errors.As(err, &d) && d.File != "" {
		name = d.File
	}
	return &Error{name, err}
}

// An incomplete is an error that ends a trace before its end.
type incomplete struct{ err error }

func (e *incomplete) Error() string { return e.err.Error() }

func (e *incomplete) Unwrap() []error { return []error{etw.ErrIncomplete, e.err} }
