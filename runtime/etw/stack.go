package etw

import "iter"

// A Stack is a call stack: a view of return addresses, the innermost first.
type Stack struct {
	Addresses []byte // little-endian, PtrSize bytes each
	PtrSize   PtrSize
}

// Len returns the number of addresses.
func (s Stack) Len() int { return len(s.Addresses) / s.PtrSize.Bytes() }

// At returns address i, which must be in [0, Len).
func (s Stack) At(i int) uint64 { return s.PtrSize.load(s.Addresses, i) }

// All iterates over the addresses, the innermost first.
func (s Stack) All() iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for i := range s.Len() {
			if !yield(s.At(i)) {
				return
			}
		}
	}
}

// String returns the addresses in brackets.
func (s Stack) String() string { return s.pointers().String() }

// MarshalText returns the form of String.
func (s Stack) MarshalText() ([]byte, error) { return s.pointers().MarshalText() }

// MarshalJSON returns an array of strings.
func (s Stack) MarshalJSON() ([]byte, error) { return s.pointers().MarshalJSON() }

func (s Stack) pointers() Pointers { return Pointers{s.Addresses, s.PtrSize} }
