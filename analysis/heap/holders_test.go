package heap

import (
	"slices"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/analysis/internal/testtrace"
)

// held returns the trees of all types of a snapshot.
func allHeld(s *Snapshot) []*Held { return s.Holders(func(string) bool { return true }) }

// TestHoldersSum checks of all types of recorded heaps that the holders of each hold its
// objects, and that the paths of all objects, one by one, say the same.
func TestHoldersSum(t *testing.T) {
	checked := 0
	for _, path := range testtrace.All(t) {
		for _, s := range analyze(t, path).Snapshots {
			held := allHeld(s)
			if len(held) != len(s.Types) {
				t.Fatalf("%s: %d types are held, of %d", path, len(held), len(s.Types))
			}
			for _, h := range held {
				i := slices.IndexFunc(s.Types, func(x Type) bool { return x.Type == h.Name })
				if h.Count != s.Types[i].Count || h.Bytes != s.Types[i].Bytes {
					t.Errorf("%s: %d of %s, %d bytes; want %d, %d", path, h.Count, h.Name, h.Bytes, s.Types[i].Count, s.Types[i].Bytes)
				}
				checkHeld(t, &h.Holder, h.Unreachable, h.UnreachableBytes)
			}
			checkPaths(t, s, held)
			checked++
		}
	}
	if checked == 0 {
		t.Error("there are no heaps")
	}
}

func checkHeld(t *testing.T, h *Holder, count int, bytes uint64) {
	t.Helper()
	for _, x := range h.Holders {
		count += x.Count
		bytes += x.Bytes
		checkHeld(t, x, 0, 0)
	}
	if !h.Root && h.Name != others && (count != h.Count || bytes != h.Bytes) {
		t.Errorf("%s: %d, %d bytes; its holders have %d, %d", h.Name, h.Count, h.Bytes, count, bytes)
	}
	if h.Root && len(h.Holders) > 0 {
		t.Errorf("the root %s is held", h.Name)
	}
}

// wholePath is Path the other way around, of any length.
func wholePath(s *Snapshot, v uint32) (path []string) {
	for s.from[v] != none {
		path = append(path, s.names[s.graph.typ[v]])
		if root := s.from[v]; root&isRoot != 0 {
			return append(path, s.roots[root&^isRoot].String())
		}
		v = s.from[v]
	}
	return nil
}

// checkPaths holds each way through the trees against the paths of single objects.
func checkPaths(t *testing.T, s *Snapshot, held []*Held) {
	t.Helper()
	want := make(map[string]int)
	for i := range s.Objects {
		path := slices.Compact(wholePath(s, uint32(i)))
		for n := 2; n <= len(path); n++ {
			want[strings.Join(path[:n], " < ")]++
		}
	}
	var walk func(h *Holder, way string)
	walk = func(h *Holder, way string) {
		for _, x := range h.Holders {
			if x.Name == others {
				continue
			}
			next := way + " < " + x.Name
			if x.Count != want[next] {
				t.Errorf("%s: %d objects, want %d", next, x.Count, want[next])
			}
			walk(x, next)
		}
	}
	for _, h := range held {
		walk(&h.Holder, h.Name)
	}
}

// TestHoldersTruth holds the program's own account of its heap.
func TestHoldersTruth(t *testing.T) {
	res := analyze(t, testtrace.Named(t, "heap-1.nettrace"))
	res.Hold(func(name string) bool { return name == "Bakery.Listener" || name == "Bakery.Step" })
	if w := res.Warnings(); len(w) > 0 {
		t.Errorf("%q", w)
	}
	var got []string
	for _, h := range res.Snapshots[0].Held {
		way := h.Name
		for x := &h.Holder; len(x.Holders) > 0; {
			x = x.Holders[0]
			way += " < " + x.Name
			if x.Count != h.Count {
				t.Errorf("%s: %d of %d", way, x.Count, h.Count)
			}
		}
		got = append(got, way)
	}
	want := []string{"Bakery.Step < Bakery.Recipe < static root", "Bakery.Listener < System.Action < System.Object[] < System.Action < Bakery.Bell < static bell"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	res.Hold(func(string) bool { return false })
	if w := res.Warnings(); len(w) != 1 || !strings.Contains(w[0], "no type") {
		t.Errorf("of no type: %q", w)
	}
}

func TestShortened(t *testing.T) {
	if got := strings.Join(shortened([]string{"static a", "A", "B", "B", "B", "A"}), " > "); got != "static a > A > B × 3 > A" {
		t.Error(got)
	}
}

// TestHoldersOfList has a list of a million elements of two types in turn: its paths are cut off.
func TestHoldersOfList(t *testing.T) {
	s := &Snapshot{names: []string{"A", "B", "X"}, graph: new(graph), roots: []root{{object: 0, kind: rootStatic, name: "list"}}}
	const n = 1 << 20
	for i := range uint32(n) {
		s.graph.add(uint64(i+1), 8, i%2, 1)
		s.graph.to = append(s.graph.to, i+1)
	}
	s.graph.add(n+1, 8, 2, 0)
	held := s.Holders(func(name string) bool { return name == "X" || name == "A" })
	if len(held) != 2 || held[0].Name != "A" || held[0].Count != n/2 || held[1].Name != "X" || held[1].Count != 1 {
		t.Fatalf("%+v", held)
	}
	for _, h := range held {
		depth := 0
		for x := &h.Holder; len(x.Holders) > 0; x = x.Holders[0] {
			depth++
		}
		checkHeld(t, &h.Holder, 0, 0)
		if depth > maxHolders {
			t.Errorf("%s: the path has %d holders", h.Name, depth)
		}
	}
}
