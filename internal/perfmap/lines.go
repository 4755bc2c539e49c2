package perfmap

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// longestLine is how long lines of maps and lists may be.
const longestLine = 1 << 20

// Lines calls fn for each line of a text. Those that are too long for a name are left out,
// which the error says.
func Lines(r io.Reader, fn func(line string)) error {
	in := bufio.NewReaderSize(r, 64<<10)
	var line []byte
	long, tooLong := 0, false
	for {
		part, err := in.ReadSlice('\n')
		switch {
		case tooLong:
		case len(line)+len(part) > longestLine:
			tooLong, line = true, line[:0]
			long++
		default:
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if n := len(line); n > 0 && line[n-1] == '\n' {
			line = line[:n-1]
		}
		if len(line) > 0 {
			fn(string(line))
		}
		line, tooLong = line[:0], false
		switch {
		case err == nil:
		case err != io.EOF:
			return err
		case long == 1:
			return fmt.Errorf("1 line is longer than %d bytes, and left out", longestLine)
		case long > 1:
			return fmt.Errorf("%d lines are longer than %d bytes, and left out", long, longestLine)
		default:
			return nil
		}
	}
}
