package lanes_test

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/etwgen/etwgen/internal/lanes"
)

// A lane takes note of its items.
type lane struct {
	lanes.Lane
	seen []string
}

// fill adds items to lanes, a third of them to the first, and returns all that these have seen, with
// how much that was after each batch.
func fill(t *testing.T, processors int, fail func(n int) error) (seen [][]string, sums []int, err error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
	list := make([]lane, 7)
	p := lanes.New(func() *[]byte { return new([]byte) }, func(worker int, l *lane, item *[]byte) error {
		if worker >= processors {
			return fmt.Errorf("there is no worker %d", worker)
		}
		l.seen = append(l.seen, string(*item))
		return fail(len(l.seen))
	}, func() error {
		sum := 0
		for i := range list {
			sum += len(list[i].seen)
		}
		sums = append(sums, sum)
		return nil
	})
	if (processors == 1) != p.Direct() || p.Workers() != processors {
		t.Errorf("%d processors, %d workers", processors, p.Workers())
	}
	var buf []byte
	for i := range 10_000 {
		buf = fmt.Appendf(buf[:0], "%d", i) // which the items refer to
		*p.Next(&list[max(0, i%9-2)]) = p.Keep(buf)
		if err = p.Add(); err != nil {
			break
		}
		if i%70 == 69 || p.Lanes() == 7 {
			if err = p.End(); err != nil {
				break
			}
		}
	}
	if end := p.Close(); err == nil {
		err = end
	}
	if again := p.Close(); !errors.Is(again, err) {
		t.Errorf("closed again: %v, not %v", again, err)
	}
	for i := range list {
		seen = append(seen, list[i].seen)
	}
	return seen, sums, err
}

// TestAnyNumber says that any number of processors has the same outcome.
func TestAnyNumber(t *testing.T) {
	never := func(int) error { return nil }
	want, sums, err := fill(t, 1, never)
	if err != nil || len(sums) < 1000 || sums[len(sums)-1] != 10_000 {
		t.Fatal(err, len(sums))
	}
	for _, n := range []int{2, 4, 16} {
		got, gotSums, err := fill(t, n, never)
		if err != nil || !slices.EqualFunc(got, want, slices.Equal) || !slices.Equal(gotSums, sums) {
			t.Errorf("%d processors differ: %v", n, err)
		}
	}
}

// TestFault says that nothing is handled after an error, but what is under way.
func TestFault(t *testing.T) {
	fault := errors.New("full")
	for _, n := range []int{1, 2, 4} {
		seen, sums, err := fill(t, n, func(n int) error {
			if n == 500 {
				return fault
			}
			return nil
		})
		if !errors.Is(err, fault) || len(seen[0]) != 500 || sums[len(sums)-1] >= 10_000/2 {
			t.Errorf("%d processors: %v, %d of the first lane, %d batches", n, err, len(seen[0]), len(sums))
		}
	}
}
