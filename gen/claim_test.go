package gen

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etwgen/etwgen/manifest"
)

func line(n int) manifest.Pos { return manifest.Pos{File: "t.man", Line: n, Col: 1} }

// TestClaims checks who gets which name, in both modes.
func TestClaims(t *testing.T) {
	claims := []claim{
		{what: "event A", key: "A", pos: line(1), name: "A"},
		{what: "event a", key: "a", pos: line(2), name: "A"},
		{what: "event A2", key: "A2", pos: line(3), name: "A2"},
		{what: "event _a", key: "_a", pos: line(4), name: "A"},
		{what: "event A_2", key: "A_2", pos: line(5), name: "A2"},
		{what: "event Provider", key: "Provider", pos: line(6), name: "Provider"},
		{what: "event B", key: "B", pos: line(7), name: "B", goName: "Bee"},
		{what: "event C", key: "C", pos: line(8), name: "C", goName: "sea"},
		{what: "event D", key: "D", pos: line(9), name: "D"},
		{what: "struct of event D", key: "D", pos: line(10), name: "DValue", derived: true},
	}
	tests := []struct {
		lenient bool
		names   []string
		errs    []string
	}{
		{true, []string{"A", "A2", "A2_2", "A3", "A2_3", "ProviderType", "Bee", "C", "Dee", "DValue"}, []string{
			`t.man:8:1: event C: "sea" is not an exported Go name`,
		}},
		{false, []string{"A", "A", "A2", "A", "A2", "ProviderType", "Bee", "C", "Dee", "DValue"}, []string{
			`t.man:2:1: event a: Go name A is taken by event A at t.man:1:1; settle it with etwgen:name or --rename 'a=NEWNAME'`,
			`t.man:4:1: event _a: Go name A is taken by event A at t.man:1:1; settle it with etwgen:name or --rename '_a=NEWNAME'`,
			`t.man:5:1: event A_2: Go name A2 is taken by event A2 at t.man:3:1; settle it with etwgen:name or --rename 'A_2=NEWNAME'`,
			`t.man:8:1: event C: "sea" is not an exported Go name`,
		}},
	}
	for _, tt := range tests {
		var errs diagnostics
		n := newNames("t.man", Options{Lenient: tt.lenient, Rename: map[string]string{"D": "Dee"}}, &errs)
		var got []string
		for _, c := range claims {
			got = append(got, n.pkg.claim(c))
		}
		n.finish()
		if diff := cmp.Diff(tt.names, got); diff != "" {
			t.Errorf("lenient %v: names (-want +got):\n%s", tt.lenient, diff)
		}
		_ = errs.err()
		var lines []string
		for _, e := range errs.list {
			lines = append(lines, e.Error())
		}
		if diff := cmp.Diff(tt.errs, lines); diff != "" {
			t.Errorf("lenient %v: errors (-want +got):\n%s", tt.lenient, diff)
		}
	}
}

func TestLocals(t *testing.T) {
	var errs diagnostics
	n := newNames("t.man", Options{}, &errs)
	var got []string
	for _, name := range []string{"a", "a", "providerDesc", "a2", "a"} {
		got = append(got, n.local(name))
	}
	if diff := cmp.Diff([]string{"a", "a2", "providerDesc2", "a2_2", "a3"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
