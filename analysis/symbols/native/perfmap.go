package native

import (
	"bufio"
	"io"

	"github.com/etwgen/etwgen/internal/perfmap"
)

// readPerfMap reads a map of code that a program compiled, or a jitdump. With an error there is
// the part that could be read.
func readPerfMap(f io.Reader) (*table, error) {
	r, read := bufio.NewReader(f), perfmap.Read
	if head, _ := r.Peek(4); perfmap.IsDump(head) {
		read = perfmap.ReadDump
	}
	t := new(table)
	last := make(map[uint64]int)
	err := read(r, func(at, size uint64, name string) {
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
