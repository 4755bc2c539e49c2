package etw

import (
	"bytes"
	"encoding/hex"
)

// Binary is a run of bytes whose meaning the event does not tell. It is a view
// of the payload and prints in hexadecimal.
type Binary []byte

// Equal reports whether v and w are the same bytes.
func (v Binary) Equal(w Binary) bool { return bytes.Equal(v, w) }

// String returns the bytes in lower-case hexadecimal.
func (v Binary) String() string { return hex.EncodeToString(v) }

// AppendText appends the form of String. It implements encoding.TextAppender
// and never fails.
func (v Binary) AppendText(b []byte) ([]byte, error) { return hex.AppendEncode(b, v), nil }

// MarshalText implements encoding.TextMarshaler.
func (v Binary) MarshalText() ([]byte, error) { return v.AppendText(nil) }
