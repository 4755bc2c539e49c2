package threads

import "github.com/etwgen/etwgen/analysis/system"

// anywhere is the processor of a thread of which no event tells which it came to.
const anywhere = -1

// numbered returns the thread that the kernel of Linux numbers so. Recorders number them
// as they are in their namespace, which is known as soon as there was an event on one:
// until then, and if it is of another namespace, it has the number of the kernel and is
// of no process.
func (a *Analysis) numbered(number int64, name string) *thread {
	if a.kernels == nil {
		a.kernels = make(map[int64]*thread)
	}
	x := a.kernels[number]
	var t *system.Thread
	if number != 0 { // of the idle ones, which recorders take for anybody
		t = a.machine.ThreadOf(number)
	}
	switch {
	case x == nil && t == nil:
		x, _ = a.of(&system.Thread{TID: number, Name: name})
	case t == nil || x != nil && x.Thread == t:
		return x
	case x != nil && x.Process == nil && a.threads[t] == nil: // it is known now
		delete(a.threads, x.Thread)
		x.Thread, a.threads[t] = t, x
	default:
		x, _ = a.of(t)
	}
	a.kernels[number] = x
	return x
}
