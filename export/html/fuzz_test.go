package html

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/analysis/exceptions"
	"github.com/etwgen/etwgen/internal/testio"
)

// FuzzText checks that any text of a trace stays a text of the page.
func FuzzText(f *testing.F) {
	for _, name := range hostileNames {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		shown := clean(name)
		if strings.IndexFunc(shown, isHidden) >= 0 || len(shown) > 10*maxText+10 {
			t.Errorf("%q is shown as %q", name, shown)
		}
		res := emptyResult()
		res.Exceptions.Runtimes = []*exceptions.Runtime{{Tally: exceptions.Tally{Count: 1, New: 1}, Types: []exceptions.Type{{Type: name, Tally: exceptions.Tally{Count: 1, New: 1}}}}}
		m, err := newModel(&Report{Title: name, Result: res, Processes: map[int64]Process{0: {CommandLine: name}}})
		if err != nil {
			t.Fatal(err)
		}
		b := testio.Marshal(t, m)
		if i := bytes.IndexAny(b, "<>&\u2028\u2029"); i >= 0 {
			t.Errorf("the data have %q", b[i:])
		}
		var back decodedModel
		testio.JSON(t, b, &back)
		if !strings.Contains(strings.Join(back.Texts, "\n"), shown) {
			t.Errorf("%q is not among %q", shown, back.Texts)
		}
	})
}

// FuzzFlame checks that other data than a tree is refused, and that a tree keeps its sums.
func FuzzFlame(f *testing.F) {
	f.Add([]byte{0, 1, 5, 1, 0, 7, 1, 2, 9}, uint8(3))
	f.Add([]byte{}, uint8(0))
	f.Fuzz(func(t *testing.T, data []byte, frames uint8) {
		tree := &Flame{Frames: make([]Frame, frames)}
		var want float64
		for i := 0; i+2 < len(data); i += 3 {
			c := Call{Caller: i/3 - int(data[i]), Frame: int(data[i+1]), Self: float64(data[i+2])}
			if data[i] == 0 {
				c.Caller = -1
			}
			tree.Calls = append(tree.Calls, c)
			want += c.Self
		}
		m, err := newTree(tree, newTexts())
		if err != nil {
			return
		}
		var self, top float64
		for _, v := range m.Self.values {
			self += v
		}
		for i, v := range m.Top.Columns[1].Numbers.values {
			top += v
			if total := m.Top.Columns[3].Numbers.values[i]; total < v || total > want {
				t.Errorf("a frame weighs %v by itself and %v in all of %v", v, total, want)
			}
		}
		if math.Abs(self-want) > 0.001 || math.Abs(top-want) > 0.001 {
			t.Errorf("%v and %v, not %v", self, top, want)
		}
	})
}
