//go:build !linux

package perf

import (
	"errors"
	"fmt"
	"runtime"
	"time"
)

// A Session takes records of the kernel.
type Session struct{}

// Open begins to take records.
func Open(Config) (*Session, error) {
	return nil, fmt.Errorf("the kernel's samples are there on Linux alone, and this is %s: %w", runtime.GOOS, errors.ErrUnsupported)
}

// Now returns the time that records have.
func Now() int64 { return 0 }

// Wait waits until there may be records.
func (s *Session) Wait(time.Duration) error { return errors.ErrUnsupported }

// Wake ends a Wait.
func (s *Session) Wake() {}

// Read delivers records in the order of time.
func (s *Session) Read(func(*Record)) error { return errors.ErrUnsupported }

// Stop ends the session and delivers the records that are left.
func (s *Session) Stop(func(*Record)) error { return errors.ErrUnsupported }

// Close ends the session.
func (s *Session) Close() error { return nil }
