package gen

import (
	"github.com/etwgen/etwgen/manifest"
	"github.com/etwgen/etwgen/runtime/etw"
)

// The elements that .NET declares in each manifest of an EventSource, of its own accord, are
// noise in a package: a task for each event, named like it, and the keywords of sessions.

// highestTask is the task of event 0; each event takes its id off it.
const highestTask = 65534

// automaticTasks returns the tasks of p that .NET has made of events.
func automaticTasks(p *manifest.Provider) map[*manifest.Task]bool {
	tasks := make(map[*manifest.Task]bool)
	if !p.EventSource {
		return tasks
	}
	for _, e := range p.Events {
		if e.Task != nil && uint32(e.Task.Value)+e.ID == highestTask {
			tasks[e.Task] = true
		}
	}
	return tasks
}

// automatic reports whether .NET has made a task of an event.
func (b *builder) automatic(t *manifest.Task) bool { return b.automatics[t] }

// keywords returns the keywords that events may have.
func (p *pkg) keywords() []*manifest.Keyword {
	if !p.m.EventSource {
		return p.m.Keywords
	}
	var list []*manifest.Keyword
	for _, k := range p.m.Keywords {
		if k.Mask&^etw.SessionKeywords != 0 {
			list = append(list, k)
		}
	}
	return list
}
