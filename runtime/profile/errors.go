package profile

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/etwgen/etwgen/runtime/etw"
)

// ErrFormat says that a file is no profile of a kind that is known.
var ErrFormat = errors.New("not a profile")

// A formatError names the kind of a file that is no profile.
type formatError struct{ text string }

func (e *formatError) Error() string        { return e.text }
func (e *formatError) Is(target error) bool { return target == ErrFormat }

// A lineError says that text has no folded stacks.
type lineError struct{ line int }

func (e *lineError) Error() string {
	return "line " + strconv.Itoa(e.line) + ": neither frames, separated by semicolons, with a number behind them, as in folded stacks, nor another profile"
}

func (e *lineError) Is(target error) bool { return target == ErrFormat }

// wrong returns an error at an offset of a file.
func (p *Profile) wrong(offset int64, part, format string, args ...any) error {
	return &etw.Damage{Format: p.Format, Offset: offset, Part: part, Err: fmt.Errorf(format, args...)}
}
