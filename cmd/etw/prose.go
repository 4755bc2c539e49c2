package main

import "strings"

// wrap breaks a text at blanks, into lines of at most width cells where its words
// allow that; 0 is any width. All lines but the first have room for the indentation
// that the caller puts before them.
func wrap(text string, width, indent int) []string {
	if width == 0 || textWidth(text) <= width {
		return []string{text}
	}
	var lines []string
	line, used := "", 0
	for i, word := range strings.Split(text, " ") {
		n := textWidth(word)
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

// prose prints a text in lines that fit the terminal: what is said of losses and of
// whole traces must not be cut off. From the second line on it is indented.
func (p *printer) prose(color, text string, indent int) {
	for i, line := range wrap(text, p.width, indent) {
		if i > 0 {
			line = strings.Repeat(" ", indent) + line
		}
		_, _ = p.Write(append(p.paint(nil, color, line), '\n')) // the writer keeps the error
	}
}

// note prints what makes numbers other than they seem.
func (p *printer) note(text string) { p.prose(colorYellow, "note: "+clean(text), 6) }
