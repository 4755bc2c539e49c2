package stacks

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/etwgen/etwgen/runtime/etw"
)

// TestKnownStacks interns stacks that have parts in common, of two processes and two sizes of
// addresses: each stack has one number.
func TestKnownStacks(t *testing.T) {
	known := NewSamples("test", counts)
	r := rand.New(rand.NewPCG(1, 2))
	type key struct {
		process int64
		stack   string
	}
	numbers := make(map[key]ID)
	for range 20_000 {
		addresses := make([]byte, 8*(1+r.IntN(5)))
		for i := range len(addresses) / 4 {
			addresses[4*i] = byte(r.IntN(3)) // the rest is 0, so that both sizes have the same bytes
		}
		process, size := int64(r.IntN(2)), []etw.PtrSize{etw.Ptr32, etw.Ptr64}[r.IntN(2)]
		s := etw.Stack{Addresses: addresses, PtrSize: size}
		id := known.Intern(process, s)
		if want := slices.Collect(s.All()); !slices.Equal(known.Stack(id), want) {
			t.Fatalf("%d is %v, want %v", id, known.Stack(id), want)
		}
		k := key{process, s.String()}
		if before, ok := numbers[k]; ok && before != id {
			t.Fatalf("%v of process %d is %d, and was %d", s, process, id, before)
		}
		numbers[k] = id
	}
	if len(numbers) < 1000 {
		t.Errorf("%d stacks", len(numbers))
	}
}
