//go:build !windows

package session

import "errors"

// replaced is the tests' stand-in for Windows.
var replaced system

// current returns the calls of the system, or an error where there are none.
func current() (system, error) {
	if replaced != nil {
		return replaced, nil
	}
	return nil, errElsewhere{}
}

// An errElsewhere says that there is no Event Tracing for Windows.
type errElsewhere struct{}

func (errElsewhere) Error() string { return "session: sessions of ETW take Windows" }

func (errElsewhere) Unwrap() error { return errors.ErrUnsupported }
