package main

import (
	"bufio"
	"bytes"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/analysis/jit"
	"github.com/etwgen/etwgen/analysis/requests"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/tests/corpus"
)

// printed returns what is printed as text on a terminal of a width.
func printed(t *testing.T, width int, print func(p *printer)) string {
	t.Helper()
	var b bytes.Buffer
	p := &printer{Writer: bufio.NewWriter(&b), format: formatText, width: width}
	print(p)
	if err := p.Flush(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestCollectionLines looks at the lines of collections on terminals of several widths:
// what tells of pauses fits 80 columns.
func TestCollectionLines(t *testing.T) {
	for width, want := range map[int][]string{
		80:  {"left out, for want of room: BEFORE MB, PROMOTED MB, ALLOCATED MB, REASON;"},
		100: {"REASON", "left out, for want of room: BEFORE MB, PROMOTED MB, ALLOCATED MB;"},
		0:   {"BEFORE MB", "PROMOTED MB", "ALLOCATED MB", "REASON"},
	} {
		text := printed(t, width, func(p *printer) {
			s := newStream(p, collectionColumns()...)
			if err := s.row("123456.7", "1234", "2NI", "1234.567", "123.4", "123.4", "12.3", "1.2", "123.456", "123.456", "123.456", "123.456", "AllocSmall"); err != nil {
				t.Fatal(err)
			}
			if err := s.end(); err != nil {
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
			if width > 0 && textWidth(line) > width {
				t.Errorf("%d columns: %q is too long", width, line)
			}
		}
		if head, row := strings.Index(lines[0], "MAX MS")+len("MAX MS"), strings.LastIndex(lines[1], "123.456")+len("123.456"); head != row {
			t.Errorf("%d columns: the percentiles are not below their headings:\n%s", width, text)
		}
	}
}

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
		tab := new(table)
		tab.choose("longest", 100, x.all, "waits", x.several)
		if got := tab.extent(x.shown, 100); got != x.want {
			t.Errorf("%d of %d: %q, want %q", x.shown, x.all, got, x.want)
		}
	}
}

// TestLeftOutAbove names the columns that a small table has no room for, too.
func TestLeftOutAbove(t *testing.T) {
	text := printed(t, 10, func(p *printer) {
		above := newTable(num("a"), num("first").spared(1), num("second").spared(1))
		above.small = true
		above.add("1", "2", "3")
		below := newTable(num("a"), num("thirdOne").spared(1))
		below.add("1", "2")
		for _, tab := range []*table{above, below} {
			if err := tab.write(p); err != nil {
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

// TestTimesUnknown describes code of which the trace has no compiling.
func TestTimesUnknown(t *testing.T) {
	text := printed(t, 0, func(p *printer) {
		jitFacts(&page{printer: p}, &jit.Runtime{WithoutStart: 2, Methods: []jit.Method{{NativeBytes: 10}, {NativeBytes: 5}}})
	})
	if text != "  compiled         2 methods, times unknown\n  code             15 bytes\n" {
		t.Errorf("%q", text)
	}
}

// TestProvidersOfTasks keeps the providers of tasks that nothing else tells apart.
func TestProvidersOfTasks(t *testing.T) {
	for second, want := range map[string]string{
		"Request": "COUNT  ERRORS  TOTAL MS  MEAN MS  MAX MS  TASK     PROVIDER",
		"Query":   "COUNT  ERRORS  TOTAL MS  MEAN MS  P50 MS  P95 MS  MAX MS  TASK",
	} {
		res := &requests.Result{Processes: []*requests.Process{{Tasks: []requests.Task{
			{Provider: "Microsoft-AspNetCore-Server-Kestrel", Task: "Request"}, {Provider: "Private.InternalDiagnostics.System.Net.Http", Task: second},
		}}}}
		text := printed(t, 80, func(p *printer) {
			if err := viewOf(res, "task", newNames()).write(p); err != nil {
				t.Fatal(err)
			}
		})
		if head, _, _ := strings.Cut(text, "\n"); head != want {
			t.Errorf("%q, want %q", head, want)
		}
	}
}

// TestToldApart numbers lambdas of one method.
func TestToldApart(t *testing.T) {
	p := &profiled{Profile: &stacks.Profile{Frames: []stacks.Frame{
		{Name: "Program.Main.lambda", Full: "A!Program+<>c.<Main>b__0_10()"}, {Name: "Program.Main.lambda", Full: "A!Program+<>c.<Main>b__0_9()"},
		{Name: "Program.Run.lambda", Full: "A!Program+<>c.<Run>b__1_0()"}, {Name: "Program.Run", Full: "A!Program.Run()"},
		{Name: "Program.Run", Full: "A!Program.Run(int32)"}, {Name: "Program.Main.lambda", Full: "A!Program+<>c.<Main>b__0_9()"},
	}}}
	if got := strings.Join(p.toldApart(), ", "); got != "Program.Main.lambda #2, Program.Main.lambda #1, Program.Run.lambda, Program.Run, Program.Run, Program.Main.lambda #1" {
		t.Error(got)
	}
	numbers := p.lambdas // the profile of a later table has other frames, in another order
	p = &profiled{lambdas: numbers, Profile: &stacks.Profile{Frames: []stacks.Frame{
		{Name: "Program.Main.lambda", Full: "A!Program+<>c.<Main>b__0_1()"}, {Name: "Program.Main.lambda", Full: "A!Program+<>c.<Main>b__0_9()"},
	}}}
	if got := strings.Join(p.toldApart(), ", "); got != "Program.Main.lambda #3, Program.Main.lambda #1" {
		t.Error(got)
	}
}

// TestTreeTellsApart has lambdas of one name in a tree: people see their numbers, and
// programs the names.
func TestTreeTellsApart(t *testing.T) {
	row := treeRow{Depth: 1, Method: "Program.Main.lambda", shown: "Program.Main.lambda #2"}
	for format, want := range map[string]string{formatText: "  Program.Main.lambda #2", formatMD: "  Program.Main.lambda #2", formatCSV: "Program.Main.lambda"} {
		if got := row.name(format); got != want {
			t.Errorf("%s: %q, want %q", format, got, want)
		}
	}
}

// TestMachineryOfTop leaves the runtime's code that throws to those that called it, unless
// the names of the compiler are asked for, or patterns.
func TestMachineryOfTop(t *testing.T) {
	path := corpus.Glob(t, "dotnet10", "exceptions.nettrace")[0]
	for flags, want := range map[string]bool{"": false, "--names full": false, "--names short": false, "--raw-names": true, "--fold Nobody": true} {
		args := append([]string{"top", "--of", "exceptions", "--format", "csv", path}, strings.Fields(flags)...)
		out, errs, code := ask(args...)
		if code != 0 || strings.Contains(out, "EH.DispatchEx") != want {
			t.Errorf("%q: exit code %d, frames of the runtime are to be there: %v\n%s%s", flags, code, want, out, errs)
		}
	}
}
