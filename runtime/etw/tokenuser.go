package etw

import "bytes"

// A TokenUser is a SID as classic events hold it: behind the TOKEN_USER structure
// that it was copied from, or, where there is none, as 4 bytes of 0 alone.
type TokenUser struct {
	// User is where the SID was in the program that logged it. It says whether
	// there is one, and nothing else.
	User       Pointer
	Attributes Pointer // and padding, in the size of a pointer
	SID        SID     // nil if there is none
}

// Clone returns a copy of u that does not alias the payload.
func (u TokenUser) Clone() TokenUser {
	u.SID = bytes.Clone(u.SID)
	return u
}

// String returns the SID as text, and "" if there is none.
func (u TokenUser) String() string { return u.SID.String() }

// AppendText appends the form of String. It implements encoding.TextAppender
// and never fails.
func (u TokenUser) AppendText(b []byte) ([]byte, error) { return u.SID.AppendText(b) }

// MarshalText implements encoding.TextMarshaler.
func (u TokenUser) MarshalText() ([]byte, error) { return u.SID.AppendText(nil) }
