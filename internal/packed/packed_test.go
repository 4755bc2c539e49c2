package packed_test

import (
	"strings"
	"testing"

	"github.com/etwgen/etwgen/internal/packed"
)

// TestText: a text is smaller when it is packed, and comes back; damage is no other text.
func TestText(t *testing.T) {
	text := strings.Repeat("Microsoft-Windows-Kernel-Process\n", 100)
	of := string(packed.Of([]byte(text)))
	if got := packed.Text(of); got != text || len(of) > len(text)/10 {
		t.Errorf("%d bytes of %d: %.40q", len(of), len(text), got)
	}
	defer func() {
		if recover() == nil {
			t.Error("a text without its end is taken")
		}
	}()
	packed.Text(of[:len(of)-1])
}
