package cpu

import (
	"slices"
	"strings"
	"sync"

	"github.com/etwgen/etwgen/analysis/kinds"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/symbols"
)

// Reading is how stacks of EventPipe's sampler are read. Its threads stop where code polls
// for that, in methods that say nothing of where the time went, and it takes those that
// wait as often as those that run.
func Reading() stacks.Reading {
	r := &reader{kind: rules().OfFrames()}
	return stacks.Reading{Stops: isStop, Waits: r.waits, Own: func(f *stacks.Frame) bool {
		return f.Kind == symbols.Managed && r.kind(f) == kinds.User
	}}
}

var rules = sync.OnceValue(kinds.Default)

// isStop reports whether a frame is one in which the sampler stops threads, whatever they
// do: since .NET 9 a loop polls by a call of Thread.PollGC, which calls others of that name.
func isStop(f *stacks.Frame) bool {
	method := methodOf(f)
	return strings.HasPrefix(method, "System.Threading.Thread.") && strings.Contains(method, "PollGC")
}

// methodOf returns the method of a frame, without its module and its arguments.
func methodOf(f *stacks.Frame) string {
	method, _, _ := strings.Cut(f.Full, "(")
	if _, name, ok := strings.Cut(method, "!"); ok {
		return name
	}
	return method
}

// A reader tells threads that wait.
type reader struct {
	kind func(*stacks.Frame) string
}

// waits tells the state of a thread. It waits if the innermost method
// that is not mere passage to native code is one to wait in, outside managed code or on its way
// back, where the sampler itself holds it; and it is idle if none of the
// program's own code called that. A worker of the pool is idle also while it spins, since work may
// come soon; elsewhere to spin is work.
func (r *reader) waits(stack []*stacks.Frame, outside bool) stacks.Wait {
	if slices.ContainsFunc(stack, isIdleWorker) {
		return stacks.Idles
	}
	inner := len(stack) - 1
	for inner > 0 && isPassage(stack[inner]) {
		inner--
	}
	kind := r.kind(stack[inner])
	if isSpin(stack[inner]) || !outside && (kind != "waiting" || !isWait(stack[inner])) {
		return stacks.Runs
	}
	idle := !slices.ContainsFunc(stack[:inner+1], r.isOwn)
	switch kind {
	case "waiting", "locking":
	case "io":
		// Libraries read and listen on threads of their own, whose first frame starts them.
		if !blocks(stack[inner]) && !(idle && startsThread(stack[0])) {
			return stacks.Runs
		}
	default:
		// The only code without a name that the loop of a worker calls is its wait for work.
		if !blocks(stack[inner]) && (inner == len(stack)-1 || methodOf(stack[inner]) != workerLoop) {
			return stacks.Runs
		}
	}
	if idle {
		return stacks.Idles
	}
	return stacks.Waits
}

// isIdleWorker reports whether a frame is where workers of the pool wait for work, first by
// spinning.
func isIdleWorker(f *stacks.Frame) bool {
	return strings.HasPrefix(methodOf(f), "System.Threading.LowLevelLifoSemaphore.Wait")
}

// isSpin reports whether a frame is where a thread spends time of a processor until something comes.
func isSpin(f *stacks.Frame) bool {
	method := methodOf(f)
	return strings.HasPrefix(method, "System.Threading.LowLevelSpinWaiter.") ||
		strings.HasPrefix(method, "System.Threading.Thread.") && strings.Contains(method, "SpinWait")
}

// isWait reports whether a method is called to wait, and does nothing else.
func isWait(f *stacks.Frame) bool {
	method := methodOf(f)
	name := method[strings.LastIndexByte(method, '.')+1:]
	return strings.Contains(name, "Wait") || strings.Contains(name, "Sleep") || strings.Contains(name, "Join")
}

// isPassage reports whether a frame is a stub through which managed code calls native code.
func isPassage(f *stacks.Frame) bool {
	method := methodOf(f)
	return f.Kind == symbols.Unknown && !f.Pseudo || strings.Contains(method, "IL_STUB_PInvoke")
}

// isOwn reports whether a frame is, or may be, code of the program.
func (r *reader) isOwn(f *stacks.Frame) bool {
	return f.Kind == symbols.Unknown && !f.Pseudo || r.kind(f) == kinds.User
}

// startsThread reports whether a frame is the first one of a thread that a library started.
func startsThread(f *stacks.Frame) bool {
	method := methodOf(f)
	return method == "System.Threading.Thread.StartCallback" || strings.HasPrefix(method, "System.Threading.ThreadHelper.ThreadStart")
}

// blocking are calls of the system that return when something came from outside, and loops of
// libraries into which these may be inlined.
var blocking = []string{
	"Interop+Sys.Accept", "Interop+Sys.Receive", "Interop+Sys.WaitForSocketEvents", "Interop+Sys.Poll", "Interop+Sys.ReadStdin", "Interop+Sys.WaitPid",
	"Interop+Winsock.accept", "Interop+Winsock.WSAAccept", "Interop+Winsock.recv", "Interop+Winsock.WSARecv", "Interop+Winsock.select",
	"Interop+Kernel32.GetQueuedCompletionStatus", "Interop+Kernel32.WaitFor", "Interop+Kernel32.SleepEx", "Interop+Kernel32.ReadConsole", "Interop+Kernel32.ConnectNamedPipe",
	"Interop+User32.GetMessage", "Interop+User32.WaitMessage", "Interop+User32.MsgWait",
	"System.IO.FileSystemWatcher+RunningInstance.",
	"System.Net.Sockets.SocketAsyncEngine.EventLoop", "System.Threading.PortableThreadPool+IOCompletionPoller.Poll",
}

const workerLoop = "System.Threading.PortableThreadPool+WorkerThread.WorkerThreadStart"

// blocks reports whether a frame is one of these calls.
func blocks(f *stacks.Frame) bool {
	method := methodOf(f)
	method = strings.Replace(method, "<", "", 1) // of functions that the compiler made of calls
	return slices.ContainsFunc(blocking, func(begin string) bool { return strings.HasPrefix(method, begin) })
}
