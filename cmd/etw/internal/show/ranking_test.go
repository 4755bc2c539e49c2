package show

import (
	"testing"

	"github.com/spf13/cobra"
)

func TestRanking(t *testing.T) {
	tab := NewTable(Num("n"), Word("s"))
	for _, row := range [][]string{{"5", "b"}, {"10", "a"}, {"", "c"}} {
		tab.Add(row...)
	}
	first := func(r Ranking) string {
		r.Apply(tab, true)
		return tab.Rows[0][1]
	}
	for _, c := range []struct {
		r    Ranking
		want string
	}{{Ranking{sort: "n"}, "a"}, {Ranking{sort: "s"}, "a"}, {Ranking{sort: "s", reverse: true}, "c"}, {Ranking{sort: "n", Top: 1}, "a"}} {
		if got := first(c.r); got != c.want {
			t.Errorf("%+v: %s first, want %s", c.r, got, c.want)
		}
	}
	for where, want := range map[string]int{"n >= 5": 2, "n > 5": 1, "N != 5": 1, "s ~ [bc]": 2, "s = c": 1, "n < 5": 0, "s > b": 1} {
		tab := NewTable(Num("n"), Word("s"))
		for _, row := range [][]string{{"5 ms", "b"}, {"10.5", "a"}, {"", "c"}} {
			tab.Add(row...)
		}
		r := Ranking{only: []string{where}}
		cmd := new(cobra.Command)
		cmd.Flags().Int("top", 0, "")
		if err := r.Check(cmd); err != nil {
			t.Fatal(err)
		}
		if r.Apply(tab, true); len(tab.Rows) != want {
			t.Errorf("%s: %d rows, want %d", where, len(tab.Rows), want)
		}
		r.only = []string{"n > 5 && n < 9"}
		if err := r.Check(cmd); err != nil || r.CheckColumn(tab.Columns) == nil {
			t.Errorf("%v: two conditions are one", err)
		}
		r.only = []string{"x = 1"}
		if err := r.Check(cmd); err != nil || r.CheckColumn(tab.Columns) == nil {
			t.Errorf("%v: there is no column x", err)
		}
	}
	if len(tab.Rows) != 1 {
		t.Errorf("%d rows", len(tab.Rows))
	}
}
