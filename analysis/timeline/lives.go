package timeline

import "github.com/etwgen/etwgen/analysis/system"

// lives tell the processes apart that had an id in turn. Without a machine there are none.
type lives struct{ *system.Machine }

// at returns the life of an id at a time.
func (l lives) at(pid int64, ms float64) int {
	if l.Machine == nil {
		return 0
	}
	return l.LifeAt(pid, ms)
}

// name says which process a lane is of, where its id is of several.
func (l lives) name(x *Lane) {
	if l.Machine == nil {
		return
	}
	if list := l.Lives(x.PID); len(list) > 1 {
		p := list[x.Life]
		x.several, x.Process, x.owner = true, p.Name, p.Called()
	}
}

// Several reports whether other processes had the id of the lane before or after its own.
func (l *Lane) Several() bool { return l.several }
