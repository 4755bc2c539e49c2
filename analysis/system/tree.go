package system

import (
	"cmp"
	"slices"
	"strings"
)

// A Node is a process in the tree, and how deep in there.
type Node struct {
	Process *ProcessFacts
	Depth   int
	disk    *DiskFacts       // what it used, where that is asked and known
	net     *ConnectionFacts // likewise
}

// Label returns the name of the process in a tree, below those that it has been started by.
func (n Node) Label() string {
	p, name := n.Process, ""
	switch {
	case n.Process.Zombie:
		name = p.Name + " (ended before)"
	case p.Name == "" && p.PID == 0:
		name = "(idle)"
	default:
		name = cmp.Or(p.Name, unknown)
	}
	return strings.Repeat("  ", n.Depth) + name
}

// Tree returns processes such that each comes after its parent. The parent has
// the id that the process says, and was there when it started.
func Tree(list []ProcessFacts) []Node {
	children := make(map[int][]int) // -1 are the roots
	for i, parent := range Parents(list) {
		children[parent] = append(children[parent], i)
	}
	nodes := make([]Node, 0, len(list))
	seen := make([]bool, len(list))
	var walk func(i, depth int)
	walk = func(i, depth int) {
		if seen[i] {
			return
		}
		seen[i] = true
		nodes = append(nodes, Node{Process: &list[i], Depth: depth})
		for _, child := range children[i] {
			walk(child, min(depth+1, maxDepth))
		}
	}
	for _, i := range children[-1] {
		walk(i, 0)
	}
	for i := range list { // those that a damaged trace says started each other
		walk(i, 0)
	}
	return nodes
}

// Parents returns where in a list the parent of each process is, or -1.
func Parents(list []ProcessFacts) []int {
	byPID := make(map[int64][]int)
	for i := range list {
		byPID[list[i].PID] = append(byPID[list[i].PID], i)
	}
	parents := make([]int, len(list))
	for i := range list {
		parents[i] = parentOf(list, byPID, i)
	}
	return parents
}

// maxDepth is how deep the tree is shown.
const maxDepth = 20

// sessionManager starts the first processes of each session, and ends at once, so that its
// id is soon that of another process: whatever has it and another name is not the parent of these.
const sessionManager = "smss.exe"

var firstOfSession = []string{"csrss.exe", "wininit.exe", "winlogon.exe"}

// parentOf returns the parent of a process, or -1.
func parentOf(list []ProcessFacts, byPID map[int64][]int, i int) int {
	p := &list[i]
	if p.ParentPID < 0 || int64(p.ParentPID) == p.PID {
		return -1
	}
	first := slices.Contains(firstOfSession, strings.ToLower(p.Name))
	start := p.StartMS.Or(0)
	for _, k := range slices.Backward(byPID[int64(p.ParentPID)]) {
		parent := &list[k]
		if first && parent.Name != "" && !strings.EqualFold(parent.Name, sessionManager) {
			continue
		}
		if parent.StartMS.Or(start) <= start && (parent.EndMS.IsZero() || parent.EndMS.Or(0) >= start) {
			return k
		}
	}
	return -1
}
