package etwtest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/etwgen/etwgen/runtime/etw"
)

// Truncate decodes every strict prefix of payloads of every event, with both
// sizes of pointers. It checks that each is an error that names the event and a
// field, and that the dynamic decoder agrees. A prefix may be whole for an event
// whose last field takes the rest of the payload.
func Truncate(t testing.TB, types ...etw.Event) {
	t.Helper()
	for _, e := range types {
		for _, ptr := range ptrSizes {
			if err := truncate(e, ptr); err != nil {
				t.Errorf("%s: %v", label(e.EventDesc(), ptr), err)
			}
		}
	}
}

func truncate(like etw.Event, ptr etw.PtrSize) error {
	d := like.EventDesc()
	rest := takesRest(d.Fields)
	for seed := range uint64(3) {
		payload := Payload(d, ptr, seed)
		for n := range lengths(len(payload)) {
			// A slice without room: nothing may look behind the end.
			part := append([]byte(nil), payload[:n]...)[:n:n]
			e := New(like)
			read, err := e.DecodePayload(part, ptr)
			if err := agrees(d, ptr, part, e, read, err); err != nil {
				return fmt.Errorf("seed %d, %d of %d bytes: %w", seed, n, len(payload), err)
			}
			var decode *etw.DecodeError
			switch {
			case err == nil && rest:
			case err == nil:
				return fmt.Errorf("seed %d: %d of %d bytes are no error", seed, n, len(payload))
			case !errors.As(err, &decode):
				return fmt.Errorf("seed %d, %d of %d bytes: not a DecodeError: %w", seed, n, len(payload), err)
			case !errors.Is(err, etw.ErrTruncated) && !errors.Is(err, etw.ErrCount):
				return fmt.Errorf("seed %d, %d of %d bytes: neither truncated nor a count: %w", seed, n, len(payload), err)
			case decode.Event != d || decode.Field == "" || decode.Len != n || decode.Offset > n:
				return fmt.Errorf("seed %d, %d of %d bytes: wrong details: %+v", seed, n, len(payload), *decode)
			}
		}
	}
	return nil
}

// lengths iterates over the numbers below n: all of them, or for a large n
// every so many.
func lengths(n int) func(func(int) bool) {
	return func(yield func(int) bool) {
		step := 1 + n/2000
		for i := 0; i < n; i += step {
			if !yield(i) {
				return
			}
		}
	}
}
