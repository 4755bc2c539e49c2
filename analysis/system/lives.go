package system

import "slices"

// Life is 0 of the first process with its id, 1 of the next.
func (p *Process) Life() int { return p.life }

// Lives returns the processes that had an id in turn.
func (m *Machine) Lives(pid int64) (list []*Process) {
	for p := m.processes[pid]; p != nil; p = p.earlier {
		list = append(list, p)
	}
	slices.Reverse(list)
	return list
}

// LifeAt returns the life of the process that had an id at a time, in milliseconds since the session
// began: of the latest that had begun. It is 0 of an id that no process is known to have had.
func (m *Machine) LifeAt(pid int64, ms float64) int {
	p := m.processes[pid]
	for p != nil && p.Started && m.since(p.Start) > ms {
		p = p.earlier
	}
	if p == nil {
		return 0
	}
	return p.life
}

// Called is the name of a process, which may be nil, for those who know names by ids alone: one
// whose name is not known is not called as another that had its id.
func (p *Process) Called() string {
	switch {
	case p == nil:
		return ""
	case p.Name == "" && (p.life > 0 || p.followed):
		return unknown
	}
	return p.Name
}
