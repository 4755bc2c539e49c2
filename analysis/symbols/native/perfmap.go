package native

import (
	"io"
	"strconv"
	"strings"
)

// readPerfMap reads a map of code that a program compiled: lines of start, size, both in
// hexadecimal, and name. A later line is of code that took the place of the former. Lines
// that are invalid are left out. With an error there is the part that could be read.
func readPerfMap(r io.Reader) (*table, error) {
	t := new(table)
	last := make(map[uint64]int)
	err := eachLine(r, func(line string) {
		start, rest, _ := strings.Cut(line, " ")
		size, name, ok := strings.Cut(rest, " ")
		at, err := strconv.ParseUint(strings.TrimPrefix(start, "0x"), 16, 64)
		n, err2 := strconv.ParseUint(strings.TrimPrefix(size, "0x"), 16, 64)
		if !ok || err != nil || err2 != nil || n == 0 || name == "" {
			return
		}
		if i, known := last[at]; known {
			t.list[i] = function{at: at, size: n, name: name}
			return
		}
		last[at] = len(t.list)
		t.add(at, n, name)
	})
	t.sort()
	return t, err
}
