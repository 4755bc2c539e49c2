// Package showtest prints for tests.
package showtest

import (
	"bufio"
	"bytes"
	"testing"

	"github.com/etwgen/etwgen/cmd/etw/internal/show"
)

// Printed returns the output of print in a format, on a terminal of a width.
func Printed(t *testing.T, format string, width int, print func(p *show.Printer)) string {
	t.Helper()
	var b bytes.Buffer
	p := &show.Printer{Writer: bufio.NewWriter(&b), Format: format, Width: width}
	print(p)
	if err := p.Flush(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
