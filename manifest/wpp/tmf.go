package wpp

import (
	"bufio"
	"fmt"
	"io"

	"github.com/etwgen/etwgen/runtime/etw"
)

// maxLine bounds a line of a file.
const maxLine = 1 << 20

// ReadTMF reads the formats of a file *.tmf. Lines that are no part of one are left out: the
// error says which the first is, and how many there are.
func ReadTMF(in io.Reader) ([]*etw.Provider, error) {
	r := newReader()
	var first error
	bad, n := 0, 0
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		n++
		if err := r.line(lines.Text(), ""); err != nil {
			if bad++; bad == 1 {
				first = fmt.Errorf("line %d: %w", n, err)
			}
		}
	}
	if err := lines.Err(); err != nil {
		return r.result(), fmt.Errorf("line %d: %w", n+1, err)
	}
	all := r.result()
	switch {
	case bad > 1:
		return all, fmt.Errorf("%d lines are left out, the first: %w", bad, first)
	case bad == 1:
		return all, first
	case len(r.known) == 0:
		return nil, ErrNone
	}
	return all, nil
}
