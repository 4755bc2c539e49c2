package evtx

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/runtime/etw"
)

// TestSaysLosses: a log that is cut off before its chunks, or whose first record does not begin as
// records do, says so.
func TestSaysLosses(t *testing.T) {
	whole := log(shop().chunk(1))
	wiped := bytes.Clone(whole)
	wiped[headerBlock+chunkHead] = 0
	for name, b := range map[string][]byte{
		"after 200 bytes of 4096": whole[:200],
		"none begins here":        wiped,
		"the file ends within it": whole[:headerBlock-1],
		"of 65536":                whole[:headerBlock+chunkHead+100],
	} {
		r, err := NewReader(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, e := range r.Records() {
			if e != nil {
				err = e
			}
		}
		if !errors.Is(err, etw.ErrIncomplete) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: it says %v", name, err)
		}
	}
}
