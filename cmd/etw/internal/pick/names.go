package pick

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	views "github.com/etwgen/etwgen/analysis/table"
	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/internal/builtin"
	"github.com/etwgen/etwgen/internal/filter"
	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A Names knows the names of processes and threads, from the events that tell them: those of
// the kernel, of the recorders of Linux and of EventPipe.
type Names struct {
	Processes map[int64]string
	Threads   map[int64]string
	Rules     []nameRule // by the index of the event

	lives   map[int64][]filter.Life // of numbers that several programs had in turn
	turns   int                     // how often one followed another
	over    map[int64]bool          // of processes that have ended
	windows bool                    // the trace is of Windows, of which process 4 is the system

	ahead bool // what is learned is ahead of the events that are shown: see foresee
	met   map[nameID]bool
	Widest

	Before *Names // what things were called before something told, or nil
}

// A nameID is the number of a process or a thread.
type nameID struct {
	thread bool
	id     int64
}

// Widest is how many cells the longest names take, together with a number.
type Widest struct{ Process, Thread int }

// A nameRule says where an event has a name.
type nameRule struct {
	known  bool
	thread bool // it is of a thread
	id     int  // field with the process or thread, or -1 for that of the record
	name   int  // field with the name, or -1 if there is none
	line   bool // it is a command line
	header bool // it is of a file of Windows
}

// nameFields are the fields that name a process or thread, by the task or name of
// the event, in lower case.
var nameFields = map[string]struct {
	thread   bool
	id, name string
}{
	"process":         {false, "processid", "imagefilename"}, // of the kernel
	"processstart":    {false, "processid", "imagename"},     // of its provider with a manifest
	"processrundown":  {false, "processid", "imagename"},
	"processinfo":     {false, "", "commandline"}, // of EventPipe
	"existingprocess": {false, "", "name"},        // of Linux
	"processcreate":   {false, "", "name"},
	"thread":          {true, "tthreadid", "threadname"},
	"thread/setname":  {true, "threadid", "threadname"},
	"threadsetname":   {true, "threadid", "threadname"},
	"sched_switch":    {true, "", "prev_comm"}, // of Linux, of the thread that goes
}

// NewNames returns names of nothing yet.
func NewNames() *Names {
	return &Names{Processes: make(map[int64]string), Threads: make(map[int64]string)}
}

// Process and thread return the name of a number, "" if it is not known.
func (n *Names) Process(id int64) string {
	if name := n.Processes[id]; name != "" || n.Before == nil {
		return name
	}
	return n.Before.Processes[id]
}

func (n *Names) Thread(id int64) string {
	if name := n.Threads[id]; name != "" || n.Before == nil {
		return name
	}
	return n.Before.Threads[id]
}

// rule returns where events have names.
func (n *Names) rule(e *etw.EventInfo) *nameRule {
	for e.Index >= len(n.Rules) {
		n.Rules = append(n.Rules, nameRule{})
	}
	rule := &n.Rules[e.Index]
	if !rule.known {
		*rule = findNameRule(e)
	}
	return rule
}

// Learns reports whether Learn may take something from events such as e.
func (n *Names) Learns(e *etw.EventInfo) bool {
	rule := n.rule(e)
	return rule.name >= 0 || rule.header
}

// system names the process of the kernel of Windows, also where no list of processes does.
func (n *Names) system(r *etw.Record, rule *nameRule) {
	n.windows = n.windows || rule.header
	if r.ProcessID == systemProcess && n.windows && n.Processes[systemProcess] == "" {
		n.Processes[systemProcess] = "System"
	}
}

// Learn takes the name that a record has, if it has one.
func (n *Names) Learn(d *etw.Decoder, r *etw.Record, e *etw.EventInfo) {
	rule := n.rule(e)
	n.system(r, rule)
	if rule.name < 0 {
		return
	}
	values, _ := d.Decode(r)
	if values == nil {
		return
	}
	name := values.FieldValue(rule.name).String()
	id := r.ProcessID
	if rule.thread {
		id = r.ThreadID
	}
	if rule.id >= 0 {
		if v := values.FieldValue(rule.id); v.Kind() != etw.ValueNone {
			id = int64(v.Uint())
		}
	}
	if id < 0 || name == "" && !n.ahead {
		return
	}
	if rule.line {
		name = processName(name)
	} else if !rule.thread {
		name = LastPart(name)
	}
	if n.ahead {
		n.widen(nameID{rule.thread, id}, name)
		if !n.first(nameID{rule.thread, id}, starts(r, e)) || name == "" {
			return
		}
	}
	if rule.thread {
		n.Threads[id] = name
		return
	}
	const opStop = 2
	switch before := n.Processes[id]; {
	case starts(r, e):
		if before != name || n.over[id] { // who had it before may have no name, or the same
			n.follow(id, before, name, r.Time().UnixNano())
		}
		delete(n.over, id)
	case r.Opcode == opStop:
		if n.over == nil {
			n.over = make(map[int64]bool)
		}
		n.over[id] = true
	}
	n.Processes[id] = name
}

// systemProcess is the process of the kernel of Windows.
const systemProcess = 4

// andThen stands between the names of processes that had one number, and maxLives bounds them.
const (
	andThen  = ", then "
	maxLives = 20
)

// follow takes that a program has the number of another one from a time on.
func (n *Names) follow(id int64, before, name string, at int64) {
	list := n.lives[id]
	if len(list) == 0 {
		list = []filter.Life{{Name: before, From: math.MinInt64}}
	}
	if len(list) == maxLives {
		return
	}
	if n.lives == nil {
		n.lives = make(map[int64][]filter.Life)
	}
	n.turns++
	list[len(list)-1].To = at
	n.lives[id] = append(list, filter.Life{Name: name, From: at, To: math.MaxInt64})
}

// Life says which of the programs that had a number so far has it, from 0 on.
func (n *Names) Life(id int64) int { return max(len(n.lives[id])-1, 0) }

// OfLife is the name of that program.
func (n *Names) OfLife(id int64, life int) string {
	if list := n.lives[id]; life < len(list) {
		return list[life].Name
	}
	return n.Processes[id]
}

// Join gives numbers that several processes had the names of them all: for answers about all of the
// time, which do not part them.
func (n *Names) Join() {
	for id, list := range n.lives {
		names := make([]string, 0, len(list))
		for i := range list {
			if name := list[i].Name; name != "" {
				names = append(names, name)
			}
		}
		n.Processes[id] = strings.Join(slices.Compact(names), andThen)
	}
}

// Foresee returns names that are learned ahead of the events that are shown: the names of
// processes and threads that were there before an event tells them, such as the list at the
// end of a recording. Those that come up later have their names from then on.
func Foresee() *Names {
	n := NewNames()
	n.ahead, n.met = true, make(map[nameID]bool)
	return n
}

// widen takes note of how much room a name takes.
func (n *Names) widen(id nameID, name string) {
	if name == "" {
		return
	}
	into := &n.Widest.Process
	if id.thread {
		into = &n.Widest.Thread
	}
	*into = max(*into, show.TextWidth(cli.Clean(name))+len(strconv.FormatInt(id.id, 10))+2)
}

// first reports whether nothing was known of an id, and it was there before: it is not
// its start that is met.
func (n *Names) first(id nameID, start bool) bool {
	if n.met[id] {
		return false
	}
	n.met[id] = true
	return !start
}

// starts reports whether a record tells that a process or thread comes up.
func starts(r *etw.Record, e *etw.EventInfo) bool {
	const opStart = 1
	return r.Opcode == opStart || e.Name == "ProcessCreate"
}

// findNameRule returns where events like e have a name.
func findNameRule(e *etw.EventInfo) nameRule {
	rule := nameRule{known: true, id: -1, name: -1, header: e.Task == "EventTrace"}
	if e.Desc == nil {
		return rule
	}
	fields, ok := nameFields[strings.ToLower(e.Name)]
	if !ok {
		if fields, ok = nameFields[strings.ToLower(e.Task)]; !ok {
			return rule
		}
	}
	rule.thread, rule.line = fields.thread, fields.name == "commandline"
	for i := range e.Desc.Fields {
		switch strings.ToLower(e.Desc.Fields[i].Name) {
		case fields.name:
			rule.name = i
		case fields.id:
			rule.id = i
		}
	}
	return rule
}

// processName returns the name of the program of a command line.
func processName(s string) string {
	if quoted, ok := strings.CutPrefix(s, `"`); ok {
		s, _, _ = strings.Cut(quoted, `"`)
	} else if i := strings.Index(s, " "); i > 0 && strings.ContainsAny(s[:i], `/\`) {
		s = s[:i]
	}
	return LastPart(s)
}

// LastPart returns the last part of a path of any system.
func LastPart(path string) string { return path[strings.LastIndexAny(path, `/\`)+1:] }

// namingEvents are the events of the kernel that tell names, by class and opcode. The
// end of a thread comes too late.
var namingEvents = sync.OnceValue(func() map[etw.GUID]map[uint16]bool {
	const opStop = 2
	all := make(map[etw.GUID]map[uint16]bool)
	decoder := builtin.NewDecoder()
	for _, d := range kernel.Provider.Events {
		e := decoder.Event(&etw.Record{Kind: etw.KindClassic, Provider: d.Class, Opcode: d.Opcode, Version: d.Version, ProviderName: d.TaskName})
		rule := findNameRule(e)
		if rule.name < 0 || rule.thread && d.Opcode == opStop {
			continue
		}
		if all[d.Class] == nil {
			all[d.Class] = make(map[uint16]bool)
		}
		all[d.Class][uint16(d.Opcode)] = true
	}
	return all
})

// tellsNames reports whether events tell names of processes and threads that may have
// been there before.
func tellsNames(k etw.Key) bool { return k.Kind == etw.KindClassic && namingEvents()[k.Provider][k.ID] }

// OfProcess is the name of a process with its number. Numbers below 0 are those of profiles
// that have none, and are not shown; so are those of threads.
func (n *Names) OfProcess(pid int64) string {
	if name := n.Processes[pid]; name != "" && pid < 0 {
		return name
	} else if name != "" {
		return fmt.Sprintf("%s (%d)", name, pid)
	}
	if pid < 0 {
		return "a process whose number is not told"
	}
	return fmt.Sprintf("process %d", pid)
}

// OfProcessAt is OfProcess at a time, in nanoseconds since 1970.
func (n *Names) OfProcessAt(pid, at int64) string {
	if n.lives[pid] == nil {
		return n.OfProcess(pid)
	}
	return OfProgram(pid, n.ProgramAt(pid, at))
}

// ProgramAt is the name alone, or "".
func (n *Names) ProgramAt(pid, at int64) string {
	for _, l := range n.lives[pid] {
		if at >= l.From && at < l.To {
			return l.Name
		}
	}
	return n.Processes[pid]
}

// OfProgram is the name of a process with its number, by a name that may not be known.
func OfProgram(pid int64, name string) string {
	if name == "" {
		return fmt.Sprintf("process %d", pid)
	}
	return fmt.Sprintf("%s (%d)", name, pid)
}

// OfThread is the name of a thread with its number.
func (n *Names) OfThread(tid int64) string {
	if name := n.Threads[tid]; name != "" && tid < 0 {
		return name
	} else if name != "" {
		return fmt.Sprintf("%s (%d)", name, tid)
	}
	return fmt.Sprintf("thread %d", tid)
}

// Cell returns a value in full.
func (n *Names) Cell(v views.Value, kind views.Kind) string {
	switch kind {
	case views.Process:
		return cmp.Or(v.Text(), n.Processes[v.Int()])
	case views.Thread:
		return cmp.Or(v.Text(), n.Threads[v.Int()])
	}
	return v.Text()
}

// called returns the numbers of the things whose name fits a pattern, with or without the
// suffix of programs.
func called(named map[int64]string, patterns []filter.Glob, flag, thing string) (filter.Numbers, error) {
	var found filter.Numbers
	for _, pattern := range patterns {
		before := len(found)
		for id, name := range named {
			for name := range strings.SplitSeq(name, andThen) {
				if isCalled(name, pattern) {
					found = append(found, filter.Number(id)...)
					break
				}
			}
		}
		if len(found) == before {
			names := slices.Compact(slices.Sorted(maps.Values(named)))
			hint := cli.DidYouMean(string(pattern), names)
			if strings.Contains(string(pattern), ",") {
				hint = fmt.Sprintf(" (for each of several names give --%s)", flag)
			}
			return nil, cli.Usagef("--%s: no %s is called %s%s; the names in the trace are %s", flag, thing, pattern, hint, Listed(names))
		}
	}
	return found, nil
}

// isCalled reports whether a program has a name that fits a pattern.
func isCalled(name string, pattern filter.Glob) bool {
	return pattern.Match(name) || pattern.Match(trimExtension(name))
}

// calledLives returns the lives of numbers that fit one of the patterns, where others do not. A
// number that is asked for has all of its lives.
func (n *Names) calledLives(patterns []filter.Glob, asked filter.Numbers) map[int64][]filter.Life {
	var parted map[int64][]filter.Life
	for id, list := range n.lives {
		fits := func(l filter.Life) bool {
			return slices.ContainsFunc(patterns, func(g filter.Glob) bool { return isCalled(l.Name, g) })
		}
		kept := order.Delete(slices.Clone(list), func(l filter.Life) bool { return !fits(l) })
		if len(kept) == 0 || len(kept) == len(list) || len(asked) > 0 && asked.Has(id) {
			continue
		}
		if parted == nil {
			parted = make(map[int64][]filter.Life)
		}
		parted[id] = kept
	}
	return parted
}

// trimExtension returns the name of a program without its .exe or .dll.
func trimExtension(name string) string {
	for _, suffix := range []string{".exe", ".dll"} {
		if n := len(name) - len(suffix); n > 0 && strings.EqualFold(name[n:], suffix) {
			return name[:n]
		}
	}
	return name
}
