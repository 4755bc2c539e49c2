package lifecycle

import (
	"slices"

	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/analysis/table"
)

// A node is a process in the tree of those that started it.
type node struct {
	system.Node
	*Process
}

// tree returns the processes with those below them that they started. Where phases are known
// of any, it is of those and of who started them.
func (r *Result) tree() []node {
	facts := make([]system.ProcessFacts, len(r.Processes))
	byFacts := make(map[*system.ProcessFacts]*Process, len(facts))
	any := false
	for i := range facts {
		p := &r.Processes[i]
		facts[i] = p.ProcessFacts
		byFacts[&facts[i]] = p
		any = any || len(p.Phases) > 0
	}
	deeper := -1 // of a process that is shown, whose parents come before it
	var list []node
	for _, n := range slices.Backward(system.Tree(facts)) {
		p := byFacts[n.Process]
		if any && len(p.Phases) == 0 && n.Depth >= deeper {
			continue
		}
		deeper = n.Depth
		list = append(list, node{n, p})
	}
	slices.Reverse(list)
	return list
}

// Tables returns the tables of a result: processes, and their phases.
func (r *Result) Tables() []table.View {
	list := r.tree()
	columns := system.TreeColumns(func(n *node) *system.Node { return &n.Node })
	for i, name := range []string{"startMs", "loadMs", "runtimeMs", "managedMs", "mainMs", "requestMs", "exitMs"} {
		columns = append(columns, table.Moment(name, func(n *node) measure.Float { return n.at(Names[i]) }).IfAny())
	}
	columns = append(columns, system.ExitCodes(func(n *node) measure.Float { return n.ExitCode })...)
	type row struct {
		node
		Phase
	}
	var rows []*row
	for _, n := range list {
		for _, x := range n.Phases {
			rows = append(rows, &row{n, x})
		}
	}
	return []table.View{
		table.Of("process", "Processes", table.Refs(list), columns...),
		table.Of("phase", "Phases", rows, append(system.TreeColumns(func(x *row) *system.Node { return &x.Node }),
			table.Text("phase", func(x *row) string { return string(x.Phase.Phase) }),
			table.Moment("atMs", func(x *row) float64 { return x.AtMS }),
			table.Amount("sinceMs", func(x *row) float64 { return x.SinceMS }),
			table.Text("from", func(x *row) string { return x.From }))...),
	}
}

// at returns when a process reached a phase.
func (p *Process) at(name Name) (at measure.Float) {
	for _, x := range p.Phases {
		if x.Phase == name {
			at = measure.Known(x.AtMS)
		}
	}
	return at
}
