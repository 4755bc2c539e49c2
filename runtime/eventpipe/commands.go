package eventpipe

import (
	"context"
	"path/filepath"

	"github.com/etwgen/etwgen/runtime/etw"
)

// Resume lets a process go on that was started suspended. Sessions that were started
// before see everything it does. It takes .NET 5.
func (c *Client) Resume(ctx context.Context) error {
	return c.tell(ctx, newMessage(resumeRuntime))
}

// A PerfMap says which files a runtime writes for the profiler perf, by which it finds
// the names of compiled methods.
type PerfMap uint32

// The kinds of files.
const (
	PerfMapAll     PerfMap = 1 // both
	PerfMapJitDump PerfMap = 2 // jit-PID.dump, with the code itself
	PerfMapFile    PerfMap = 3 // perf-PID.map
)

// EnablePerfMap has the runtime write, from now on, which method is where. Methods that
// are compiled already are included. It takes .NET 8, on Linux or macOS.
func (c *Client) EnablePerfMap(ctx context.Context, kind PerfMap) error {
	if kind < PerfMapAll || kind > PerfMapFile {
		return invalid("there is no kind %d of perf maps", kind)
	}
	m := newMessage(enablePerfMap)
	m.u32(uint32(kind))
	return c.tell(ctx, m)
}

// DisablePerfMap ends the map that EnablePerfMap began.
func (c *Client) DisablePerfMap(ctx context.Context) error {
	return c.tell(ctx, newMessage(disablePerfMap))
}

// ApplyStartupHook loads the managed assembly at the path, as the process sees it, and
// calls StartupHook.Initialize in it: at once, or before main if the process is
// suspended. It takes .NET 8.
func (c *Client) ApplyStartupHook(ctx context.Context, path string) error {
	if err := checkPath("startup hook", path); err != nil {
		return err
	}
	m := newMessage(applyHook)
	m.text(path)
	return c.tell(ctx, m)
}

// A DumpType is the part of a process's memory in a dump.
type DumpType uint32

// The types of dumps, by their size.
const (
	DumpNormal DumpType = 1 // modules, threads, stacks
	DumpHeap   DumpType = 2 // and the heaps: what most tools for .NET need
	DumpTriage DumpType = 3 // as DumpNormal, without names of users and passwords in paths
	DumpFull   DumpType = 4 // all memory
)

// A Dump says how to write a dump.
type Dump struct {
	Path string // absolute, as the process sees it
	Type DumpType

	Log         bool // have the process print what it does
	Verbose     bool // and more of it, which takes .NET 6
	CrashReport bool // write a report in JSON, too, which takes .NET 6
}

// WriteDump has a process write its memory to a file, which may take minutes; the
// deadline is that of ctx alone. The process does nothing else meanwhile.
func (c *Client) WriteDump(ctx context.Context, d Dump) error {
	if err := checkPath("dump", d.Path); err != nil {
		return err
	}
	if d.Type < DumpNormal || d.Type > DumpFull {
		return invalid("there is no type %d of dumps", d.Type)
	}
	cmd, flags := generateDump, uint32(0)
	for i, on := range []bool{d.Log, d.Verbose, d.CrashReport} {
		if on {
			flags |= 1 << i
		}
	}
	if flags > 1 {
		cmd = generateDump2
	}
	m := newMessage(cmd)
	m.text(d.Path)
	m.u32(uint32(d.Type))
	m.u32(flags)                                                             // for the first command a bool
	unbounded := &Client{name: c.name, connect: c.connect, cookie: c.cookie} // without a timeout of its own
	return unbounded.tell(ctx, m)
}

// A Profiler is a native library that uses the profiling interface of the runtime.
type Profiler struct {
	CLSID etw.GUID
	Path  string // absolute, as the process sees it
	Data  []byte // for the profiler, at most some 60 KB; only for AttachProfiler
}

func (p *Profiler) check() error {
	if p.CLSID.IsZero() {
		return invalid("a profiler without a CLSID")
	}
	return checkPath("profiler", p.Path)
}

// AttachProfiler loads a profiler into a running process.
func (c *Client) AttachProfiler(ctx context.Context, p Profiler) error {
	if err := p.check(); err != nil {
		return err
	}
	m := newMessage(attachProfiler)
	m.u32(uint32(DefaultTimeout.Seconds())) // how long the runtime may try
	m.bytes(p.CLSID[:])
	m.text(p.Path)
	m.u32(uint32(len(p.Data)))
	m.bytes(p.Data)
	return c.tell(ctx, m)
}

// SetStartupProfiler has a suspended process load a profiler when it is resumed. It
// takes .NET 6.
func (c *Client) SetStartupProfiler(ctx context.Context, p Profiler) error {
	if err := p.check(); err != nil {
		return err
	}
	if len(p.Data) > 0 {
		return invalid("a startup profiler takes no data")
	}
	m := newMessage(startProfiler)
	m.bytes(p.CLSID[:])
	m.text(p.Path)
	return c.tell(ctx, m)
}

// checkPath reports a path that the process would take as relative to a folder that
// only it knows.
func checkPath(what, path string) error {
	if !filepath.IsAbs(path) {
		return invalid("the path of a %s must be absolute, and %q is not", what, path)
	}
	return checkText("the path of a "+what, path)
}
