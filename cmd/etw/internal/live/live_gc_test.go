package live

import (
	"strings"
	"testing"

	"github.com/etwgen/etwgen/analysis/gc"
	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/cmd/etw/internal/show/showtest"
)

// TestCollectionLines looks at the lines of collections on terminals of several widths: the
// columns of pauses fit 80 columns.
func TestCollectionLines(t *testing.T) {
	for width, want := range map[int][]string{
		80:  {"left out, for want of room: BEFORE MB, PROMOTED MB, ALLOCATED MB, REASON;"},
		100: {"REASON", "left out, for want of room: BEFORE MB, PROMOTED MB, ALLOCATED MB;"},
		0:   {"BEFORE MB", "PROMOTED MB", "ALLOCATED MB", "REASON"},
	} {
		text := showtest.Printed(t, show.FormatText, width, func(p *show.Printer) {
			s := pick.NewStream(p, collectionColumns()...)
			if err := s.Row("123456.7", "1234", "2NI", "1234.567", "123.4", "123.4", "12.3", "1.2", "123.456", "123.456", "123.456", "123.456", "AllocSmall"); err != nil {
				t.Fatal(err)
			}
			if err := s.End(); err != nil {
				t.Fatal(err)
			}
		})
		for _, part := range append(want, "START MS  NUMBER  NAME  PAUSE MS", " P50 MS   P95 MS   P99 MS   MAX MS") {
			if !strings.Contains(text, part) {
				t.Errorf("%d columns: no %q in\n%s", width, part, text)
			}
		}
		lines := strings.Split(text, "\n")
		for _, line := range lines {
			if width > 0 && show.TextWidth(line) > width {
				t.Errorf("%d columns: %q is too long", width, line)
			}
		}
		if head, row := strings.Index(lines[0], "MAX MS")+len("MAX MS"), strings.LastIndex(lines[1], "123.456")+len("123.456"); head != row {
			t.Errorf("%d columns: the percentiles are not below their headings:\n%s", width, text)
		}
	}
}

// TestCollectionSums counts collections whose generation or pause is not known, too.
func TestCollectionSums(t *testing.T) {
	var sums collectionSums
	if got := sums.String(); got != "no collection ended" {
		t.Errorf("without collections: %q", got)
	}
	for _, g := range []gc.GC{{Generation: 2, PauseMS: measure.Known(1.5)}, {Generation: -1, PauseMS: measure.Known(0.25)}, {Generation: 0, PauseMS: measure.Float{}}} {
		sums.add(&g)
	}
	if got, want := sums.String(), "3 collections ended, gen 0: 1, gen 1: 0, gen 2: 1; pauses 1.750 ms, without 1 that are not known"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
