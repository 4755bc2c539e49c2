package show

import (
	"testing"
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
	if len(tab.Rows) != 1 {
		t.Errorf("%d rows", len(tab.Rows))
	}
}
