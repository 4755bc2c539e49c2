package show

import (
	"bufio"
	"bytes"
	"strings"
	"testing"
)

// TestChosenRows says of which waits the longest are listed.
func TestChosenRows(t *testing.T) {
	for _, x := range []struct {
		all, shown int
		several    bool
		want       string
	}{
		{100, 100, false, ""},
		{1046, 100, false, "the 100 longest of 1046 waits"},
		{1046, 5, false, "5 of the 100 longest of 1046 waits; --top 100 shows these"},
		{1046, 100, true, "the 100 longest of each process, of 1046 waits"},
		{100, 5, false, "5 of 100 rows; --top 100 shows all"},
	} {
		tab := new(Table)
		tab.Choose("longest", 100, x.all, "waits", x.several)
		if got := tab.extent(x.shown, 100); got != x.want {
			t.Errorf("%d of %d: %q, want %q", x.shown, x.all, got, x.want)
		}
	}
}

// TestLeftOutAbove names the columns that a small table has no room for, too.
func TestLeftOutAbove(t *testing.T) {
	text := printed(t, 10, func(p *Printer) {
		above := NewTable(Num("a"), Num("first").Spared(1), Num("second").Spared(1))
		above.Small = true
		above.Add("1", "2", "3")
		below := NewTable(Num("a"), Num("thirdOne").Spared(1))
		below.Add("1", "2")
		for _, tab := range []*Table{above, below} {
			if err := tab.Write(p); err != nil {
				t.Fatal(err)
			}
		}
		if p.gone != nil {
			t.Errorf("%v are not forgotten", p.gone)
		}
	})
	if got := strings.Join(strings.Fields(text), " "); !strings.HasSuffix(got, "left out, for want of room: THIRD ONE; of the table above FIRST, SECOND; --wide shows all") {
		t.Errorf("%s", text)
	}
}

// printed returns the text output on a terminal of a width.
func printed(t *testing.T, width int, print func(p *Printer)) string {
	t.Helper()
	var b bytes.Buffer
	p := &Printer{Writer: bufio.NewWriter(&b), Format: FormatText, Width: width}
	print(p)
	if err := p.Flush(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
