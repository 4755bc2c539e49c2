package show

import (
	"bytes"
	"io"
	"testing"
	"time"
)

func TestCut(t *testing.T) {
	for _, c := range []struct {
		line  string
		width int
		want  string
	}{
		{"abcdef", 0, "abcdef"}, {"abcdef", 6, "abcdef"}, {"abcdef", 5, "abcd…"}, {"世界世界", 6, "世界…"}, {"世界世界", 7, "世界世…"[:len("世界世")] + "…"},
		{"\x1b[1mabc\x1b[0mdef", 6, "\x1b[1mabc\x1b[0mdef"}, {"\x1b[1mabcdef\x1b[0m", 4, "\x1b[1mabc…\x1b[0m"}, {"", 3, ""},
	} {
		got := string(appendCut(nil, []byte(c.line), c.width))
		if got != c.want || c.width > 0 && visibleWidth([]byte(got)) > c.width {
			t.Errorf("%q cut to %d: %q, want %q", c.line, c.width, got, c.want)
		}
	}
}

// A recorder keeps the input of a pager.
type recorder struct {
	bytes.Buffer
	closed bool
}

func (r *recorder) Close() error { r.closed = true; return nil }

func TestScreen(t *testing.T) {
	var out bytes.Buffer
	pages := new(recorder)
	start := func() io.WriteCloser { return pages }
	write := func(s *screen, texts ...string) {
		t.Helper()
		for _, text := range texts {
			if _, err := s.Write([]byte(text)); err != nil {
				t.Fatal(err)
			}
		}
	}

	// A page is printed at once, and cut.
	s := &screen{w: &out, width: 4, height: 2, page: start}
	if write(s, "abcdef\n", "x\n"); out.Len() > 0 {
		t.Errorf("printed too early: %q", out.String())
	}
	if err := s.Close(); err != nil || out.String() != "abc…\nx\n" || pages.Len() > 0 {
		t.Errorf("%v, printed %q, paged %q", err, out.String(), pages.String())
	}

	// More goes through the pager, as it is.
	out.Reset()
	s = &screen{w: &out, width: 4, height: 2, page: start}
	write(s, "abcdef\nx\n", "y\n", "z\n")
	if err := s.Close(); err != nil || out.Len() > 0 || pages.String() != "abcdef\nx\ny\nz\n" || !pages.closed {
		t.Errorf("%v, printed %q, paged %q", err, out.String(), pages.String())
	}

	// So does slow output.
	pages.Reset()
	s = &screen{w: &out, width: 4, height: 9, page: start}
	write(s, "a\n")
	s.since = time.Now().Add(-holdFor)
	if write(s, "b\n"); pages.String() != "a\nb\n" {
		t.Errorf("paged %q", pages.String())
	}

	// Where there is no pager, lines are printed as they come.
	out.Reset()
	s = &screen{w: &out, height: 0, page: func() io.WriteCloser { return nil }}
	if write(s, "abcdef\n", "g"); out.String() != "abcdef\n" {
		t.Errorf("printed %q", out.String())
	}
}

func TestPager(t *testing.T) {
	var out bytes.Buffer
	t.Setenv("TERM", "xterm")
	for _, command := range []string{"", "cat", "no-such-pager-anywhere"} {
		t.Setenv("PAGER", command)
		if p := startPager(&out, io.Discard); p != nil {
			t.Errorf("PAGER=%q starts a pager", command)
		}
	}
	t.Setenv("PAGER", "tr a b")
	t.Setenv("LESS", "")
	p := startPager(&out, io.Discard)
	if p == nil {
		t.Skip("there is no tr")
	}
	if _, err := io.WriteString(p, "banana\n"); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil || out.String() != "bbnbnb\n" {
		t.Errorf("%v, %q", err, out.String())
	}
	t.Setenv("TERM", "dumb")
	if p := startPager(&out, io.Discard); p != nil {
		t.Error("a dumb terminal has a pager")
	}
}
