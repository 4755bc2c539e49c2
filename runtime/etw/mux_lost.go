package etw

// losses has when records last showed that events before them were lost.
type losses struct {
	threads   map[worker]loss
	processes map[int64]int64 // the times
}

// A worker is a thread of a process.
type worker struct{ process, thread int64 }

// A loss is how many events of a thread were lost, and when that was last seen.
type loss struct {
	count uint32
	ticks int64
}

// see takes a record of a thread of which events were lost.
func (l *losses) see(r *Record) {
	k := worker{r.ProcessID, r.ThreadID}
	was, ok := l.threads[k]
	if was.count == r.Lost {
		return
	}
	if l.threads == nil {
		l.threads, l.processes = make(map[worker]loss), make(map[int64]int64)
	}
	if ok || len(l.threads) < maxMarks {
		l.threads[k] = loss{r.Lost, r.Timestamp}
		l.processes[r.ProcessID] = max(l.processes[r.ProcessID], r.Timestamp)
	}
}

// LostSince reports whether a record after a time, in ticks of its clock, showed that events before it were
// lost: of a thread of a process, or if thread is -1 of any. The end of a wait that began before may be among them.
func (m *Mux) LostSince(process, thread, ticks int64) bool {
	if thread < 0 {
		at, ok := m.losses.processes[process]
		return ok && at > ticks
	}
	x, ok := m.losses.threads[worker{process, thread}]
	return ok && x.ticks > ticks
}
