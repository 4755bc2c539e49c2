package main

import (
	"bufio"
	"bytes"
	"testing"
)

// printedText returns the output of print in a format, on a terminal of a width.
func printedText(t *testing.T, format string, width int, print func(p *printer)) string {
	t.Helper()
	var b bytes.Buffer
	p := &printer{Writer: bufio.NewWriter(&b), format: format, width: width}
	print(p)
	if err := p.Flush(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
