package etw

import (
	"errors"
	"fmt"
	"io"
)

var (
	// ErrTruncated says that a payload ends before its event does. It wraps
	// io.ErrUnexpectedEOF.
	ErrTruncated = fmt.Errorf("truncated payload: %w", io.ErrUnexpectedEOF)
	// ErrCount says that a count differs from the number of elements that it
	// counts, or that a payload cannot hold that many.
	ErrCount = errors.New("count does not fit the elements")
	// ErrLength says that a value does not have the length that its event gives
	// it.
	ErrLength = errors.New("length does not fit the value")
	// ErrNUL says that a string that ends at a NUL contains one.
	ErrNUL = errors.New("NUL in a NUL-terminated string")
	// ErrPointer says that a pointer does not fit the pointer size.
	ErrPointer = errors.New("pointer does not fit 4 bytes")
	// ErrPointerSize says that a view was made for another pointer size.
	ErrPointerSize = errors.New("elements are of another pointer size")
	// ErrSID says that bytes are not a security identifier.
	ErrSID = errors.New("malformed SID")
	// ErrUser says that a [TokenUser] with a SID has no user, so that it would be
	// read as none.
	ErrUser = errors.New("a SID with the user 0")
	// ErrOptional says that an optional field is given, but one before it is not.
	ErrOptional = errors.New("an optional field before it is missing")
	// ErrVarInt says that a variable-length integer is longer than 64 bits.
	ErrVarInt = errors.New("malformed variable-length integer")
	// ErrSchema says that a description of an event contradicts itself.
	ErrSchema = errors.New("malformed description")
)

// A DecodeError says where a payload does not fit its event.
type DecodeError struct {
	Event  *EventDesc
	Field  string // the path of the field, such as Values[17].Name
	Offset int    // of the field in the payload
	Len    int    // of the payload
	Err    error
}

func (e *DecodeError) Error() string {
	if e.Field == "" {
		return fmt.Sprintf("etw: decode %s of %d bytes: %v", e.Event.fullTitle(), e.Len, e.Err)
	}
	return fmt.Sprintf("etw: decode %s.%s at offset %d of %d: %v", e.Event.fullTitle(), e.Field, e.Offset, e.Len, e.Err)
}

// Unwrap returns the fault: [ErrTruncated] or another sentinel of this package.
func (e *DecodeError) Unwrap() error { return e.Err }

// An EncodeError says which field of an event cannot be encoded.
type EncodeError struct {
	Event *EventDesc
	Field string
	Err   error
}

func (e *EncodeError) Error() string {
	return fmt.Sprintf("etw: encode %s.%s: %v", e.Event.fullTitle(), e.Field, e.Err)
}

// Unwrap returns the fault: [ErrCount] or another sentinel of this package.
func (e *EncodeError) Unwrap() error { return e.Err }
