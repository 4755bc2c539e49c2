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

// The first processes of a session are not those of whoever has the id of the session
// manager that started them, even where no times are known.
func TestTreeOfSessions(t *testing.T) {
	p := func(pid, parent int64, name string) ProcessFacts {
		return ProcessFacts{PID: pid, ParentPID: ID(parent), Name: name}
	}
	list := []ProcessFacts{p(4, 0, "System"), p(300, 4, "smss.exe"), p(400, 300, "csrss.exe"), p(496, 4, "svchost.exe"),
		p(516, 496, "csrss.exe"), p(608, 496, "WinLogon.exe"), p(700, 608, "dwm.exe"), p(800, 496, "taskhost.exe")}
	want := map[int64]int{4: 0, 300: 1, 400: 2, 496: 1, 516: 0, 608: 0, 700: 1, 800: 2}
	for _, n := range Tree(list) {
		if n.Depth != want[n.Process.PID] {
			t.Errorf("%s is at depth %d, want %d", n.Label(), n.Depth, want[n.Process.PID])
		}
	}
}
