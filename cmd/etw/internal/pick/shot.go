package pick

import (
	"strings"
)

// Problem returns the fault in the values of s.
func (s *Shot) Problem() string {
	if s.Err != nil {
		return strings.TrimPrefix(s.Err.Error(), "etw: ")
	}
	return s.Event.Note
}

// Undecoded reports whether there are bytes that the values of s do not show.
func (s *Shot) Undecoded() bool { return len(s.Rest) > 0 }
