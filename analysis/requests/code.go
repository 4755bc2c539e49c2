package requests

import (
	"fmt"
	"strings"

	"github.com/etwgen/etwgen/analysis/activities"
	"github.com/etwgen/etwgen/analysis/cpu"
	"github.com/etwgen/etwgen/analysis/kinds"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/symbols"
)

// NameBy has results say in which code threads slept and awaited, where call stacks tell:
// of gives these names, once all is read. Without it, or where a stack has no names, a thread
// that no event tells of counts as running.
func (a *Analysis) NameBy(of func(*stacks.Samples) *stacks.Profile) {
	a.flow.KeepCode()
	a.named = of
}

// NamedBy has activities say already when they end where threads slept and awaited: all has
// read the same records to their end, and knows what [Analysis.NameBy] gave it.
func (a *Analysis) NamedBy(all *Analysis) {
	a.flow.ShareCode(all.flow)
	a.known = all.spots()
}

// Kinds returns what tells, once all is read, of which kind a [Part] is that an activity had
// when it ended: call stacks may say that a thread that ran then slept.
func (a *Analysis) Kinds() func(kind string, code stacks.ID) string {
	at := a.spots()
	return func(kind string, code stacks.ID) string {
		if (kind == activities.Running.String() || kind == activities.Ready.String()) && at[code].waits {
			return activities.Blocked.String()
		}
		return kind
	}
}

// A spot is the reading of a call stack.
type spot struct {
	waits bool
	what  string // it is that waits
	in    string // the method of the program
	ofLib bool   // that is one of libraries, which goes on after an await
	task  bool   // what waits does so for a task
}

// spots are the readings of call stacks, by their numbers.
type spots map[stacks.ID]spot

// spots returns the readings of the call stacks of parts.
func (a *Analysis) spots() spots {
	s := a.flow.Stacks()
	if a.named == nil || s == nil {
		return nil
	}
	s.SetReading(cpu.Reading)
	p := a.named(s)
	kind, list := kinds.Default().OfFrames(), make(spots)
	eachStack(p, func(number int64, stack stacks.ID) { list[stacks.ID(number)] = spotOf(p, stack, kind) })
	return list
}

// places returns the names of the methods that places in code are in, or the places.
func (a *Analysis) places(rt *process, places []uint64) []string {
	names := make([]string, len(places))
	for i, at := range places {
		if names[i] = fmt.Sprintf("%#x", at); at == 0 {
			names[i] = "(not told)"
		}
	}
	if a.named == nil {
		return names
	}
	s := stacks.NewSamples("async methods", stacks.ValueType{Name: "places", Unit: "count"}, stacks.ValueType{Name: "place", Unit: "number"})
	for i, at := range places {
		if at != 0 {
			s.AddStack(rt.When(rt.Now), rt.PID, 0, s.InternAddresses(rt.PID, []uint64{at}), 0, 1, int64(i))
		}
	}
	p := a.named(s)
	eachStack(p, func(number int64, stack stacks.ID) {
		if _, i := p.Split(stack); p.Frames[i].Kind != symbols.Unknown {
			names[number] = p.Frames[i].Name
		}
	})
	return names
}

// eachStack has do called for each stack of a profile, and the number that it is of.
func eachStack(p *stacks.Profile, do func(number int64, stack stacks.ID)) {
	for x := range p.Samples() {
		do(x.Values[len(x.Values)-1], x.Stack)
	}
}

// spotOf reads a call stack: the method of the program, and the one of libraries that it
// called, or where it is in no such method the innermost one.
func spotOf(p *stacks.Profile, stack stacks.ID, kind func(*stacks.Frame) string) (x spot) {
	inner := ""
	for i := range p.Stack(stack) {
		f := &p.Frames[i]
		x.waits = x.waits || f.Waiting
		if f.Pseudo || f.Kind == symbols.Unknown || strings.Contains(f.Full, "IL_STUB_PInvoke") {
			continue
		}
		if x.in = resumed(f.Full); x.in != "" {
			x.ofLib = strings.HasPrefix(x.in, "System.") || strings.HasPrefix(x.in, "Microsoft.")
			break
		}
		if kind(f) == kinds.User {
			x.in = f.Name
			break
		}
		x.what = strings.TrimPrefix(strings.TrimPrefix(f.Name, "System.Threading."), "Tasks.")
		if as := taskWait(x.what); as != "" {
			x.what, x.task = as, true
		}
		if inner == "" && !strings.HasPrefix(f.Name, "System.Diagnostics.Tracing.") {
			inner = x.what
		}
	}
	if x.in == "" {
		x.what = inner
	}
	return x
}

// taskWait returns the call of a program that led to a method of libraries in which threads
// wait for tasks, or "".
func taskWait(method string) string {
	class, name := "", method
	if i := strings.LastIndexByte(method, '.'); i >= 0 {
		class, name = method[:i], method[i+1:]
	}
	class, _, _ = strings.Cut(strings.TrimPrefix(class, "System.Runtime.CompilerServices."), "`")
	switch {
	case class == "Task" && (name == "get_Result" || name == "GetResultCore"):
		return "Task.Result"
	case class == "Task" && (strings.HasPrefix(name, "WaitAll") || strings.HasPrefix(name, "WaitAny")):
		return "Task." + name[:len("WaitAny")]
	case class == "Task" && (name == "Wait" || name == "SpinThenBlockingWait" || strings.HasPrefix(name, "InternalWait")):
		return "Task.Wait"
	case strings.HasSuffix(class, "TaskAwaiter") && (name == "GetResult" || name == "HandleNonSuccessAndDebuggerNotification"):
		return "Task.GetAwaiter().GetResult()"
	}
	return ""
}

// resumed returns the async method that a frame of the libraries goes on with: the type of its
// state machine is an argument, as in AsyncStateMachineBox`1[Void,Oven+<Bake>d__5]. That of a
// local function is Oven+<<Bake>g__Turn|5_0>d.
func resumed(full string) string {
	_, args, ok := strings.Cut(full, "AsyncStateMachineBox`1")
	if !ok {
		return ""
	}
	i := strings.Index(args, "+<")
	if i < 0 {
		return ""
	}
	machine := args[strings.LastIndexAny(args[:i], ",[ !")+1:]
	machine = machine[:max(strings.IndexAny(machine, "[]"), 0)]
	m := symbols.Method{Namespace: machine, Name: moveNext}.Demangled()
	if m.Name == moveNext {
		return ""
	}
	return strings.ReplaceAll(m.Namespace, "+", ".") + "." + m.Name
}

// moveNext is the method of a state machine.
const moveNext = "MoveNext"

// of returns a cause by call stacks: a thread of which samples say that it waits did not run,
// and an await is told by the method that did, behind the name that the trace has for it; one
// of libraries tells no more than that. A thread that was blocked until something was over that
// was awaited is told by both.
func (p spots) of(c cause) cause {
	x, ok := p[c.code]
	wait, held := p[c.wait]
	c.code, c.wait = 0, 0
	switch {
	case held:
		what := c.name
		if ok && x.in != "" && (what == "" || !x.ofLib) {
			what = x.name(what)
		}
		c.name, c.onTask = wait.name(wait.what), wait.task
		if what != "" {
			c.name += " for " + what
		}
	case !ok:
	case (c.kind == activities.Running || c.kind == activities.Ready) && x.waits, c.kind == activities.Blocked:
		c.kind, c.name, c.onTask = activities.Blocked, x.name(x.what), x.task
	case c.kind == activities.Awaiting && x.in != "" && (c.name == "" || !x.ofLib):
		c.name = x.name(c.name)
	}
	return c
}

// name returns what waits, and the method of the program that it is in.
func (x *spot) name(what string) string {
	if x.in == "" {
		return what
	}
	return strings.TrimPrefix(what+" in "+x.in, " ")
}
