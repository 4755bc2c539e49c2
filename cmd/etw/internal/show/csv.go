package show

import (
	"bytes"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
)

// A CsvStyle says how texts stand in CSV, which is as RFC 4180 has it but for the
// ends of lines.
type CsvStyle struct {
	Raw bool // as they are
}

// Cell appends a cell, after a comma if it is not the first one, and in quotes
// where it needs them. A text that a spreadsheet would take as a formula gets an
// apostrophe in front, as it does when one is typed there.
func (s CsvStyle) Cell(b []byte, comma bool, cell []byte, number bool) []byte {
	if comma {
		b = append(b, ',')
	}
	if number && !isSignedWord(cell) {
		return append(b, cell...)
	}
	if !s.Raw {
		if cell = cli.CleanFrom(cell, 0); isFormula(cell) {
			cell = append([]byte{'\''}, cell...)
		}
	}
	if !bytes.ContainsAny(cell, "\",\r\n") {
		return append(b, cell...)
	}
	b = append(b, '"')
	for {
		i := bytes.IndexByte(cell, '"')
		if i < 0 {
			break
		}
		b = append(append(b, cell[:i+1]...), '"')
		cell = cell[i+1:]
	}
	return append(append(b, cell...), '"')
}

// isSignedWord reports whether a number is +Inf or -Inf, which spreadsheets take as a name with
// a sign.
func isSignedWord(cell []byte) bool { return len(cell) > 1 && cell[1] == 'I' }

// isFormula reports whether spreadsheets take a cell as more than text.
func isFormula(cell []byte) bool {
	return len(cell) > 0 && bytes.IndexByte([]byte("=+-@\t\r"), cell[0]) >= 0
}
