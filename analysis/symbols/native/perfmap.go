package native

import (
	"io"

	"github.com/etwgen/etwgen/internal/perfmap"
)

// readPerfMap reads a map of code that a program compiled. With an error there is the part that
// could be read.
func readPerfMap(r io.Reader) (*table, error) {
	t := new(table)
	last := make(map[uint64]int)
	err := perfmap.Read(r, func(at, size uint64, name string) {
		if i, known := last[at]; known {
			t.list[i] = function{at: at, size: size, name: name}
			return
		}
		last[at] = len(t.list)
		t.add(at, size, name)
	})
	t.sort()
	return t, err
}
