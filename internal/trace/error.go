package trace

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/nettrace"
)

var (
	// ErrFormat says that a file is no trace.
	ErrFormat = errors.New("not a trace: neither .etl, .nettrace nor .netperf, nor a .zip or .gz file of one")
	// ErrEmpty says that a file has no content.
	ErrEmpty = errors.New("the file is empty")
	// ErrUnpack says that a compressed file unpacks to more than the limit.
	ErrUnpack = errors.New("it unpacks to more than the limit")
)

// An Error is what is wrong with one file. Its text is one line that begins with
// the name of the file; File is empty if Err has that name already.
type Error struct {
	File string
	Err  error
}

func (e *Error) Error() string {
	text := describe(e.File, e.Err)
	if e.File == "" {
		return text
	}
	return e.File + ": " + text
}

// Unwrap returns what is wrong.
func (e *Error) Unwrap() error { return e.Err }

// describe returns the text of err without what names the package or the file
// again.
func describe(file string, err error) string {
	if located := (*nettrace.Error)(nil); errors.As(err, &located) {
		return fmt.Sprintf("offset %d: %s: %v", located.Offset, located.What, located.Err)
	}
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		return path.Err.Error()
	}
	text := strings.TrimPrefix(err.Error(), "etl: ")
	text = strings.TrimPrefix(text, "nettrace: ")
	return strings.TrimPrefix(text, file+": ")
}

// inFile adds the name of a file to err.
func inFile(name string, err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, etl.ErrNotETL) {
		err = ErrFormat // that it is no .etl file in particular is of no interest
	}
	return &Error{name, err}
}
