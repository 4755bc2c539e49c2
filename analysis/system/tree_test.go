package system

import "testing"

// Processes that say that they started each other end up in the tree once.
func TestTree(t *testing.T) {
	p := func(pid, parent int64) ProcessFacts {
		return ProcessFacts{PID: pid, ParentPID: ID(parent)}
	}
	list := []ProcessFacts{p(1, 2), p(2, 1), p(3, 3), p(4, 1), p(5, -1), p(6, 5)}
	for pid := int64(100); pid < 200; pid++ {
		list = append(list, p(pid, pid-1))
	}
	nodes := Tree(list)
	if len(nodes) != len(list) {
		t.Fatalf("%d nodes of %d processes", len(nodes), len(list))
	}
	deepest := 0
	for i, n := range nodes {
		deepest = max(deepest, n.Depth)
		if n.Process.PID == 6 && (n.Depth != 1 || nodes[i-1].Process.PID != 5) {
			t.Errorf("6 is at depth %d after %d", n.Depth, nodes[i-1].Process.PID)
		}
	}
	if deepest != maxDepth {
		t.Errorf("the tree is %d deep", deepest)
	}
}
