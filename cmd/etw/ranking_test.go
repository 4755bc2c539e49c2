package main

import (
	"testing"
)

func TestRanking(t *testing.T) {
	tab := newTable(num("n"), word("s"))
	for _, row := range [][]string{{"5", "b"}, {"10", "a"}, {"", "c"}} {
		tab.add(row...)
	}
	first := func(r ranking) string {
		r.apply(tab, true)
		return tab.rows[0][1]
	}
	for _, c := range []struct {
		r    ranking
		want string
	}{{ranking{sort: "n"}, "a"}, {ranking{sort: "s"}, "a"}, {ranking{sort: "s", reverse: true}, "c"}, {ranking{sort: "n", top: 1}, "a"}} {
		if got := first(c.r); got != c.want {
			t.Errorf("%+v: %s first, want %s", c.r, got, c.want)
		}
	}
	if len(tab.rows) != 1 {
		t.Errorf("%d rows", len(tab.rows))
	}
}
