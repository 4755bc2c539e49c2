package eventpipe

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sort"
	"strconv"
	"sync"
	"time"
)

// A Process is one that may be a .NET process.
type Process struct {
	PID    int
	Start  time.Time // zero if it is not known
	Socket string    // the path of its diagnostics socket or pipe, "" if it has none
	// Info is the runtime's own account. .NET Core 3.1 says nothing; of such a process, and
	// of one that cannot be reached, only the system's facts are there, the command line.
	Info
	// Err says why the process cannot be reached, or is nil.
	Err error
}

// A candidate is a process as the system knows it, before its runtime is asked.
type candidate struct {
	pid     int
	start   time.Time
	path    string
	command string
	err     error // why it cannot be asked
}

const (
	socketPrefix = "dotnet-diagnostic-"
	routerPrefix = socketPrefix + "dsrouter-"
	socketSuffix = "-socket"

	askAtOnce  = 256             // processes: those that are silent are not to keep others waiting
	askTimeout = 2 * time.Second // for each
)

// Processes lists the processes on this machine that have a .NET runtime, by pid, and asks
// each for its facts, for at most two seconds. One that does not answer, also until the
// deadline of ctx, has an Err, and costs the others nothing. On Linux it finds those in
// containers, too, as far as the rights of the caller go, and those with a runtime but no
// diagnostics port.
func Processes(ctx context.Context) ([]Process, error) {
	found, err := candidates(ctx)
	if err != nil {
		return nil, err
	}
	list := make([]Process, len(found))
	var wait sync.WaitGroup
	slots := make(chan struct{}, askAtOnce)
	for i, c := range found {
		list[i] = Process{PID: c.pid, Start: c.start, Socket: c.path, Err: c.err, Info: Info{CommandLine: c.command}}
		if c.err != nil {
			continue
		}
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			list[i].ask(ctx)
		})
	}
	wait.Wait()
	list = slices.DeleteFunc(list, func(p Process) bool { return isGone(p.Err) })
	sort.Slice(list, func(i, j int) bool { // shares its code, which slices.SortFunc does not
		a, b := &list[i], &list[j]
		return cmp.Or(cmp.Compare(a.PID, b.PID), cmp.Compare(a.Socket, b.Socket)) < 0
	})
	if errors.Is(ctx.Err(), context.Canceled) {
		return list, ctx.Err()
	}
	return list, nil
}

// ask asks the process for its facts.
func (p *Process) ask(ctx context.Context) {
	c := socketClient(nameOf(p.PID), p.Socket)
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	info, err := c.Info(ctx)
	if err == nil {
		p.Info = info
	}
	if err != nil && !isRefused(err) { // an old runtime refuses, but is there
		p.Err = err
	}
}

func nameOf(pid int) string { return "process " + strconv.Itoa(pid) }
