package main

import (
	"strings"
)

// problem returns what is not right with the values of s.
func (s *shot) problem() string {
	if s.err != nil {
		return strings.TrimPrefix(s.err.Error(), "etw: ")
	}
	return s.event.Note
}

// undecoded reports whether there are bytes that the values of s do not show.
func (s *shot) undecoded() bool { return len(s.rest) > 0 }
