package code

import (
	"strings"
	"testing"

	"github.com/etwgen/etwgen/analysis/stacks"
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
	row := treeRow{Depth: 1, Method: "Program.Main.lambda", shown: "Program.Main.lambda #2"}
	for format, want := range map[string]string{show.FormatText: "  Program.Main.lambda #2", show.FormatMD: "  Program.Main.lambda #2", show.FormatCSV: "Program.Main.lambda"} {
		if got := row.name(format); got != want {
			t.Errorf("%s: %q, want %q", format, got, want)
		}
	}
}
