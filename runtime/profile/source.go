package profile

import (
	"io"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A Reader is a profile where a trace is expected: an [etw.Source] without records.
type Reader struct{ profile *Profile }

// NewReader returns the reader of a profile.
func NewReader(p *Profile) *Reader { return &Reader{p} }

// Profile returns the profile.
func (r *Reader) Profile() *Profile { return r.profile }

// Next returns io.EOF: a profile has no records.
func (r *Reader) Next(*etw.Record) error { return io.EOF }
