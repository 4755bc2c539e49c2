package show

import (
	"bufio"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWrap(t *testing.T) {
	for _, test := range []struct {
		text          string
		width, indent int
		want          string
	}{
		{"one two three", 0, 2, "one two three"},
		{"one two three", 13, 2, "one two three"},
		{"one two three", 12, 2, "one two|three"},
		{"one two three", 7, 2, "one two|three"},
		{"one two three", 6, 4, "one|two|three"}, // what does not fit stands alone
		{"  label  value", 8, 4, "  label |value"},
		{"界界 界界", 5, 0, "界界|界界"},
		{"", 5, 0, ""},
	} {
		if diff := cmp.Diff(test.want, strings.Join(wrap(test.text, test.width, test.indent), "|")); diff != "" {
			t.Errorf("%q in %d cells (-want +got):\n%s", test.text, test.width, diff)
		}
	}
}

// TestNote shows losses whole, however narrow the terminal is.
func TestNote(t *testing.T) {
	var b strings.Builder
	p := &Printer{Writer: bufio.NewWriter(&b), Width: 20, Color: true}
	p.Note("process 1: 12 events were lost")
	if err := p.Flush(); err != nil {
		t.Fatal(err)
	}
	want := ColorYellow + "note: process 1: 12" + ColorEnd + "\n" + ColorYellow + "      events were" + ColorEnd + "\n" + ColorYellow + "      lost" + ColorEnd + "\n"
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
