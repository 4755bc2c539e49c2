package native

import (
	"bufio"
	"io"
	"strconv"
	"strings"
)

// readPerfMap reads a map of code that a program compiled: lines of start, size, both in
// hexadecimal, and name. A later line is of code that took the place of the former. Lines
// that are none are left out.
func readPerfMap(r io.Reader) (*table, error) {
	t := new(table)
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	last := make(map[uint64]int)
	for lines.Scan() {
		start, rest, _ := strings.Cut(lines.Text(), " ")
		size, name, ok := strings.Cut(rest, " ")
		at, err := strconv.ParseUint(strings.TrimPrefix(start, "0x"), 16, 64)
		n, err2 := strconv.ParseUint(strings.TrimPrefix(size, "0x"), 16, 64)
		if !ok || err != nil || err2 != nil || n == 0 || name == "" {
			continue
		}
		if i, known := last[at]; known {
			t.list[i] = function{at: at, size: n, name: name}
			continue
		}
		last[at] = len(t.list)
		t.add(at, n, name)
	}
	t.sort()
	return t, lines.Err()
}
