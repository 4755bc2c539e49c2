package linux

import (
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
)

// recursion is a program that is built without frame pointers: a function that calls itself
// five times, and then another one, which works.
const recursion = `
volatile double sink;
__attribute__((noinline)) double leaf(double x) { for (int i = 0; i < 5000; i++) x = x * 1.0000001 + i; return x; }
__attribute__((noinline)) double again(double x, int n) { return n == 0 ? leaf(x) * 2 : again(x, n - 1) + 1; }
int main() { for (;;) sink += again(sink, 5); }
`

// TestUnwound finds the callers in a program without frame pointers by copies of its stack, and
// does not without.
func TestUnwound(t *testing.T) {
	source, program := filepath.Join(t.TempDir(), "again.c"), filepath.Join(t.TempDir(), "again")
	testio.Write(t, source, recursion)
	if out, err := exec.Command("gcc", "-O1", "-fomit-frame-pointer", "-o", program, source).CombinedOutput(); err != nil {
		t.Skipf("no compiler of C: %v: %s", err, out)
	}
	cmd := exec.Command(program)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	for _, copied := range []int{0, 8 << 10} {
		s, err := Start(Config{Processes: []int{cmd.Process.Pid}, StackBytes: copied})
		if err != nil {
			t.Skipf("nothing can be sampled here: %v", err)
		}
		deep, all := 0, 0
		for r := range testio.Records(t, s.Records()) {
			if r.Schema.Name != "cpu" {
				continue
			}
			all++
			if same := sameCallers(r.Stack.Addresses); same == 5 {
				deep++
			}
			if all == 50 {
				s.Stop()
			}
		}
		n := s.Stats()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		t.Logf("%d bytes: %d of %d samples are five calls deep; %+v", copied, deep, all, n)
		if (copied > 0) != (n.Unwound > 0) || copied == 0 && deep > 0 || copied > 0 && deep*10 < all*9 {
			t.Errorf("%d bytes: %d of %d samples are five calls deep; %+v", copied, deep, all, n)
		}
	}
	for _, bad := range []int{-1, 7, MaxStackBytes + 1} {
		if _, err := Start(Config{StackBytes: bad}); err == nil || errors.Is(err, os.ErrPermission) {
			t.Errorf("%d bytes: %v", bad, err)
		}
	}
}

// sameCallers returns how often the commonest address in a row comes.
func sameCallers(stack []byte) int {
	most, n, last := 0, 0, uint64(0)
	for ; len(stack) >= 8; stack = stack[8:] {
		at := binary.LittleEndian.Uint64(stack)
		if n++; at != last {
			n = 1
		}
		last, most = at, max(most, n)
	}
	return most
}
