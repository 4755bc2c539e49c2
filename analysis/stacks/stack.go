package stacks

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// A Stack is the addresses of a call stack, the innermost first. In JSON they are
// strings in hexadecimal, which keep all 64 bits.
type Stack []uint64

// MarshalJSON implements json.Marshaler.
func (s Stack) MarshalJSON() ([]byte, error) {
	b := []byte{'['}
	for i, a := range s {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `"0x`...)
		b = strconv.AppendUint(b, a, 16)
		b = append(b, '"')
	}
	return append(b, ']'), nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (s *Stack) UnmarshalJSON(b []byte) error {
	var list []string
	if err := json.Unmarshal(b, &list); err != nil {
		return err
	}
	*s = nil
	for _, text := range list {
		a, err := strconv.ParseUint(text, 0, 64)
		if err != nil {
			return fmt.Errorf("stacks: %q is not an address", text)
		}
		*s = append(*s, a)
	}
	return nil
}
