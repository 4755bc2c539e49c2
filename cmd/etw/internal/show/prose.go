package show

import (
	"strings"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
)

// wrap breaks a text at blanks, into lines of at most width cells where its words
// allow that; 0 is any width. All lines but the first have room for the indentation
// that the caller puts before them.
func wrap(text string, width, indent int) []string {
	if width == 0 || TextWidth(text) <= width {
		return []string{text}
	}
	var lines []string
	line, used := "", 0
	for i, word := range strings.Split(text, " ") {
		n := TextWidth(word)
		switch room := width - indent*min(len(lines), 1); {
		case i == 0:
		case used+1+n > room && strings.TrimSpace(line) != "":
			lines = append(lines, line)
			line, used = "", 0
		default: // blanks at the begin stay, too
			line, used = line+" ", used+1
		}
		line, used = line+word, used+n
	}
	return append(lines, line)
}

// Prose prints a text in lines that fit the terminal: reports of losses and of whole traces
// must not be cut off. From the second line on it is indented.
func (p *Printer) Prose(color, text string, indent int) {
	for i, line := range wrap(text, p.Width, indent) {
		if i > 0 {
			line = strings.Repeat(" ", indent) + line
		}
		_, _ = p.Write(append(p.Paint(nil, color, line), '\n')) // the writer keeps the error
	}
}

// Note prints a reason why numbers mislead.
func (p *Printer) Note(text string) { p.Prose(ColorYellow, "note: "+cli.Clean(text), 6) }
