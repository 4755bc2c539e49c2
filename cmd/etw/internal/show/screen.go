package show

import (
	"bytes"
	"io"
	"os"
	"time"
	"unicode/utf8"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
)

// A screen is a terminal that text is printed on. More than a page goes through a pager, if
// one is wanted; lines that do not are cut at the edge.
type screen struct {
	w      io.Writer
	width  int                   // 0 if lines are not to be cut
	height int                   // lines of a page
	page   func() io.WriteCloser // starts the pager; nil if none is wanted

	held  []byte // lines that are not printed yet
	lines int
	since time.Time // the first of them
	pager io.WriteCloser
}

// holdFor is how long lines wait for a page to fill.
const holdFor = 300 * time.Millisecond

// newScreen returns the screen of a terminal.
func newScreen(tty *os.File, stderr io.Writer, fit, paged bool) *screen {
	s := &screen{w: tty}
	width, height := cli.TerminalSize(tty)
	if s.height = height - 1; fit {
		s.width = width
	}
	if paged && height > 0 {
		s.page = func() io.WriteCloser { return startPager(tty, stderr) }
	}
	return s
}

// Write prints text, or holds it back until it is clear whether it fills a page.
func (s *screen) Write(text []byte) (int, error) {
	if s.pager != nil {
		return s.pager.Write(text)
	}
	if len(s.held) == 0 {
		s.since = time.Now()
	}
	s.held = append(s.held, text...)
	s.lines += bytes.Count(text, []byte("\n"))
	if s.page != nil {
		if s.lines <= s.height && time.Since(s.since) < holdFor {
			return len(text), nil
		}
		if s.pager = s.page(); s.pager != nil {
			_, err := s.pager.Write(s.held)
			s.held = nil
			return len(text), err
		}
		s.page = nil // there is none
	}
	return len(text), s.flush()
}

// flush prints the whole lines that are held, cut at the edge.
func (s *screen) flush() error {
	var b []byte
	for {
		end := bytes.IndexByte(s.held, '\n')
		if end < 0 {
			break
		}
		b = append(appendCut(b, s.held[:end], s.width), '\n')
		s.held = s.held[end+1:]
	}
	_, err := s.w.Write(b)
	return err
}

// Close prints the rest, or waits until the user has seen enough.
func (s *screen) Close() error {
	if s.pager != nil {
		return s.pager.Close()
	}
	return s.flush()
}

// appendCut appends a line such that it takes at most width cells, unless that is
// 0. The codes of colours take none, and are kept.
func appendCut(b, line []byte, width int) []byte {
	if width == 0 || TextWidth(string(line)) <= width || visibleWidth(line) <= width {
		return append(b, line...)
	}
	room := width - 1
	for i := 0; i < len(line); {
		if n := codeLength(line[i:]); n > 0 {
			b = append(b, line[i:i+n]...)
			i += n
			continue
		}
		c, n := utf8.DecodeRune(line[i:])
		switch w := runeWidth(c); {
		case room >= w && room >= 0:
			b = append(b, line[i:i+n]...)
			if room -= w; room == 0 {
				b, room = append(b, Ellipsis...), -1
			}
		case room >= 0: // half of a wide character
			b, room = append(b, Ellipsis...), -1
		}
		i += n
	}
	return b
}

// visibleWidth returns how many cells a line takes that has codes of colours.
func visibleWidth(line []byte) int {
	width := TextWidth(string(line))
	for i := range line {
		width -= codeLength(line[i:])
	}
	return width
}

// codeLength returns the length of the code of a colour that p begins with, 0 if
// it does not. Text has no other codes.
func codeLength(p []byte) int {
	if len(p) == 0 || p[0] != '\x1b' {
		return 0
	}
	return bytes.IndexByte(p, 'm') + 1
}
