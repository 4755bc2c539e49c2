// Package perfmap reads perf-PID.map, in which a program says where code is that it compiled
// itself, and how it is called, and lines of other lists of code.
package perfmap

import (
	"io"
	"strconv"
	"strings"
)

// Read calls function for each line of start, size, both in hexadecimal, and name. Other lines
// are left out. Of code that took the place of other code there are several lines, of which the
// last one counts.
func Read(r io.Reader, function func(start, size uint64, name string)) error {
	return Lines(r, func(line string) {
		from, rest, _ := strings.Cut(line, " ")
		length, name, _ := strings.Cut(rest, " ")
		start, err := strconv.ParseUint(strings.TrimPrefix(from, "0x"), 16, 64)
		size, err2 := strconv.ParseUint(strings.TrimPrefix(length, "0x"), 16, 64)
		if name = strings.TrimSuffix(name, "\r"); err == nil && err2 == nil && size > 0 && name != "" {
			function(start, size, name)
		}
	})
}
