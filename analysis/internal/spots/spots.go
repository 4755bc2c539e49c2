// Package spots reads call stacks of threads that wait: the call that waits, and the method of
// the program that it is in.
package spots

import (
	"cmp"
	"strings"

	"github.com/etwgen/etwgen/analysis/kinds"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/symbols"
)

// A Spot is the reading of a call stack.
type Spot struct {
	Waits bool
	// Untold is whether nothing tells that it waits: it is in native code. Who knows sets it.
	Untold bool
	What   string // it is that waits
	In     string // the method of the program
	OfLib  bool   // that is one of libraries, which goes on after an await
	Task   bool   // what waits does so for a task

	called, forced bool   // see Asleep
	call           string // of the kernel
}

// Name returns the call that waits, and the method of the program that it is in.
func (x *Spot) Name(what string) string {
	if x.In == "" {
		return what
	}
	return strings.TrimPrefix(what+" in "+x.In, " ")
}

// Of reads a call stack: the method of the program, and the one of libraries that it
// called, or where it is in no such method the innermost one.
func Of(p *stacks.Profile, stack stacks.ID, kind func(*stacks.Frame) string) (x Spot) {
	inner := ""
	for i := range p.Stack(stack) {
		f := &p.Frames[i]
		x.Waits = x.Waits || f.Waiting
		if x.stops(f.Full) || f.Pseudo || f.Kind == symbols.Unknown || strings.Contains(f.Full, "IL_STUB_PInvoke") {
			continue
		}
		if x.In = resumed(f.Full); x.In != "" {
			x.OfLib = strings.HasPrefix(x.In, "System.") || strings.HasPrefix(x.In, "Microsoft.")
			break
		}
		if kind(f) == kinds.User {
			x.In = f.Name
			break
		}
		x.What = strings.TrimPrefix(strings.TrimPrefix(f.Name, "System.Threading."), "Tasks.")
		if as := taskWait(x.What); as != "" {
			x.What, x.Task = as, true
		}
		if inner == "" && !strings.HasPrefix(f.Name, "System.Diagnostics.Tracing.") {
			inner = x.What
		}
	}
	if x.In == "" {
		x.What = cmp.Or(x.call, inner)
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
