package code

import (
	"bufio"
	"bytes"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
)

// TestToldApart numbers lambdas of one method.
func TestToldApart(t *testing.T) {
	p := &Profiled{Profile: &stacks.Profile{Frames: []stacks.Frame{
		{Name: "Program.Main.lambda", Full: "A!Program+<>c.<Main>b__0_10()"}, {Name: "Program.Main.lambda", Full: "A!Program+<>c.<Main>b__0_9()"},
		{Name: "Program.Run.lambda", Full: "A!Program+<>c.<Run>b__1_0()"}, {Name: "Program.Run", Full: "A!Program.Run()"},
		{Name: "Program.Run", Full: "A!Program.Run(int32)"}, {Name: "Program.Main.lambda", Full: "A!Program+<>c.<Main>b__0_9()"},
	}}}
	if got := strings.Join(p.toldApart(), ", "); got != "Program.Main.lambda #2, Program.Main.lambda #1, Program.Run.lambda, Program.Run, Program.Run, Program.Main.lambda #1" {
		t.Error(got)
	}
	numbers := p.Lambdas // the profile of a later table has other frames, in another order
	p = &Profiled{Lambdas: numbers, Profile: &stacks.Profile{Frames: []stacks.Frame{
		{Name: "Program.Main.lambda", Full: "A!Program+<>c.<Main>b__0_1()"}, {Name: "Program.Main.lambda", Full: "A!Program+<>c.<Main>b__0_9()"},
	}}}
	if got := strings.Join(p.toldApart(), ", "); got != "Program.Main.lambda #3, Program.Main.lambda #1" {
		t.Error(got)
	}
}

// TestTreeTellsApart has lambdas of one name in a tree: people see their numbers, and
// programs the names.
func TestTreeTellsApart(t *testing.T) {
	rows := []treeRow{{Depth: 1, Method: "Program.Main.lambda", shown: "Program.Main.lambda #2", weights: weights{[]int64{1}, []int64{1}}}}
	p := &Profiled{Profile: new(stacks.Profile)}
	for format, want := range map[string]string{show.FormatText: "   Program.Main.lambda #2\n", show.FormatMD: "   Program.Main.lambda #2 |\n", show.FormatCSV: ",Program.Main.lambda,\n"} {
		var b bytes.Buffer
		out := &show.Printer{Writer: bufio.NewWriter(&b), Format: format}
		if err := out.Close(pick.Rows(rows, p.treeColumns(1)...).Write(out)); err != nil || !strings.HasSuffix(b.String(), want) {
			t.Errorf("%s: %v, %q, want %q", format, err, b.String(), want)
		}
	}
}
