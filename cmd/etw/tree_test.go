package main

import (
	"testing"

	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/internal/filter"
)

// Processes that say that they started each other end up in the tree once.
func TestTree(t *testing.T) {
	p := func(pid, parent int64) system.ProcessFacts {
		return system.ProcessFacts{PID: pid, ParentPID: system.ID(parent)}
	}
	list := []system.ProcessFacts{p(1, 2), p(2, 1), p(3, 3), p(4, 1), p(5, -1), p(6, 5)}
	for pid := int64(100); pid < 200; pid++ {
		list = append(list, p(pid, pid-1))
	}
	nodes := treeOf(list)
	if len(nodes) != len(list) {
		t.Fatalf("%d nodes of %d processes", len(nodes), len(list))
	}
	deepest := 0
	for i, n := range nodes {
		deepest = max(deepest, n.depth)
		if n.process.PID == 6 && (n.depth != 1 || nodes[i-1].process.PID != 5) {
			t.Errorf("6 is at depth %d after %d", n.depth, nodes[i-1].process.PID)
		}
	}
	if deepest != maxDepth {
		t.Errorf("the tree is %d deep", deepest)
	}
	if h := (&filter.Numbers{}); !h.Has(5) {
		t.Error("no numbers are all")
	}
}
