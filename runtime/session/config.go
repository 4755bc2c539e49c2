package session

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etw"
)

// ErrConfig says that a request cannot be right. It was not sent to the system.
var ErrConfig = errors.New("invalid")

func invalid(format string, args ...any) error {
	return fmt.Errorf("session: %w: %s", ErrConfig, fmt.Sprintf(format, args...))
}

// Prefix begins the names that [Start] chooses.
const Prefix = "etwgen-"

// KernelLoggerName is the name of the one session of kernel events that systems before
// Windows 8 have. Any administrator's program may take it over.
const KernelLoggerName = "NT Kernel Logger"

// kernelProvider is the GUID of that session, and of the kernel as a provider, whose
// keywords are the flags.
var kernelProvider = etw.MustParseGUID("9e814aad-3204-11d2-9a82-006008a86939")

// A Config describes the session that [Start] starts.
type Config struct {
	// Name is that of the session, of which letter case does not matter. "" has Start
	// choose one: Prefix, the name of the program, and its process id.
	Name string
	// GUID identifies the session, too. Zero has the system choose one.
	GUID etw.GUID
	// Replace stops a session of the same Name first, as a program that died may have
	// left it. Set it only with a name that no other program uses.
	Replace bool

	// Providers are enabled at the start. More can be, later: [Session.Enable].
	Providers []Provider

	// KernelFlags choose kernel events: they are kernel.Flags of generated/kernel.
	KernelFlags uint32
	// KernelGroups choose kernel events for which there is no flag, as kernel.GroupMasks
	// does.
	KernelGroups [8]uint32
	// System makes a session in which the system's providers of Windows 11 can be
	// enabled. With kernel events, or one of these among the Providers, it is one
	// anyway.
	System bool
	// Stacks are kernel events with which a call stack is logged: classes and opcodes, as
	// of kernel.Flags.Stacks and of kernel.StackWalkEvent.
	Stacks []etw.Key
	// SampleInterval is the time between two samples of a processor. It holds for the
	// whole machine. 0 leaves it as it is, mostly 1 ms.
	SampleInterval time.Duration

	// Buffers are those of the session.
	Buffers Buffers
	// FlushTimer is how often buffers that are not full are delivered, in whole
	// seconds. 0 is 1 s.
	FlushTimer time.Duration
	// File is where the session writes its events. Without one they are delivered,
	// here.
	File *File

	// Consumption says how events are delivered.
	Consumption

	// Rundown has the .NET runtimes of the machine say, at the end if nothing else is asked
	// for, the modules loaded and methods compiled.
	Rundown *Rundown
}

// A Provider is one that a session enables.
type Provider struct {
	Name string // for messages
	GUID etw.GUID
	Enablement
}

// String returns p in the form that dotnet-trace takes: Name:keywords:level.
func (p Provider) String() string {
	name := p.Name
	if name == "" {
		name = p.GUID.String()
	}
	return fmt.Sprintf("%s:%#x:%d", name, p.Keywords, uint8(p.Level))
}

// ForMux returns the providers that the handlers of a mux need, with the keywords and
// levels that their events declare. The kernel is among them if handlers take events of
// generated/kernel: Start makes flags of its keywords.
func ForMux(m *etw.Mux) []Provider {
	var list []Provider
	for _, e := range m.Enablement() {
		list = append(list, Provider{e.Provider.Name, e.Provider.GUID, Enablement{Keywords: e.Keywords, Level: e.Level}})
	}
	return list
}

// Buffers are the memory of a session, in which events wait to be delivered or written. Each
// processor fills one of its own. The system corrects values that it finds unreasonable;
// [Session.Query] tells the values it took.
type Buffers struct {
	// KB is the size of one. An event that does not fit is lost. 0 is 64, which fits
	// every event; up to 1024 work everywhere.
	KB int
	// Min is how many there are from the start, 2 for each processor at least, and Max how
	// many there may be. 0 is as many as take 64 MB, and a quarter more.
	Min, Max int
}

// Sizes of buffers.
const (
	defaultBufferKB = 64
	maxBufferKB     = 16 << 10
	defaultMemoryKB = 64 << 10
	maxMemoryKB     = 4 << 20
)

// A File is where a session writes its events.
type File struct {
	Path string
	// Mode is etl.ModeSequential, which is the default, etl.ModeCircular, etl.ModeNewFile,
	// of which the path has a %d for the number, or etl.ModeBuffering, which writes
	// when it is flushed.
	// More modes may be added, such as etl.ModePreallocate.
	Mode etl.LogFileMode
	// MaxMB is the size of one file. 0 is no limit, for sequential ones.
	MaxMB int
	// Live delivers the events as well.
	Live bool
}

// Consumption says how a session delivers events.
type Consumption struct {
	// Delivery says in which form they come.
	Delivery Delivery
	// WhenFull decides what to do when QueueBytes wait to be read.
	WhenFull WhenFull
	// QueueBytes bounds the memory for events that wait to be read. 0 is [DefaultQueueBytes].
	QueueBytes int
	// Window is how long records wait for earlier ones, and for later ones that tell of
	// them, in the time of the events as well as in ours. 0 is a little more than FlushTimer
	// where buffers come whole, and no time where Windows has put the events in order.
	// A negative one means none.
	Window time.Duration
	// WindowBytes bounds the memory for records that wait so; beyond it, the oldest do
	// not wait. 0 is [DefaultWindowBytes].
	WindowBytes int
	// WithoutSchemas leaves the Schema of records empty, and the ProviderName of those
	// that are not classic.
	WithoutSchemas bool
	// Lookup has Windows asked for the descriptions of events that nothing in the session
	// describes, once for each kind: those of providers whose manifest is registered on this
	// machine. It takes Windows 8.1; before, these records stay without a Schema. Maps of
	// values are not asked for. It was never run on a real Windows.
	Lookup bool
	// WithoutAttribution leaves the ProcessID and the ThreadID of records as their
	// headers have them.
	WithoutAttribution bool
	// StopTimeout is how long a session that was stopped may take to deliver the rest of its
	// events. 0 is [DefaultStopTimeout].
	StopTimeout time.Duration
}

// Defaults of a Consumption.
const (
	DefaultQueueBytes  = 16 << 20
	DefaultWindowBytes = 128 << 20
	DefaultStopTimeout = 10 * time.Second
)

// A Delivery is a form in which Windows delivers events.
type Delivery int

// The forms.
const (
	// DeliverBest takes buffers where they can be had.
	DeliverBest Delivery = iota
	// DeliverEvents takes events one by one, as every Windows has them.
	DeliverEvents
	// DeliverBuffers takes buffers, and fails where they cannot be had.
	DeliverBuffers
)

// WhenFull is the way of a session with events that the reader is too slow for.
type WhenFull int

// Its choices.
const (
	// Block holds up the delivery. The session's own buffers fill, and then events are
	// lost where they are written: it takes longest to lose one.
	Block WhenFull = iota
	// Drop drops and counts arriving events.
	Drop
)

// A Rundown is a list by .NET runtimes of their modules and methods: by it, the addresses of
// call stacks get names.
type Rundown struct {
	// When they say it.
	When RundownTime
	// Keywords choose the parts of the list. 0 is [DefaultRundown]. Those that say when need
	// not be among them.
	Keywords uint64
	// Timeout is how long they may take at the end. 0 is 30 s.
	Timeout time.Duration
}

// A RundownTime is the time when runtimes write the list.
type RundownTime uint8

// At the end they know all that ran, and disturb no measure. At the start they know the code
// from before, and nobody waits for them.
const (
	RundownAtEnd RundownTime = iota
	RundownAtStart
	RundownAtBoth
)

// The keywords of the rundown's provider that say when. A session needs one of them.
const (
	rundownStart = 0x40
	rundownEnd   = 0x100
)

// asked returns the keywords with which a rundown takes place at a time, and reports
// whether it does.
func (r *Rundown) asked(when RundownTime) (keywords uint64, ok bool) {
	if r == nil || r.When != when && r.When != RundownAtBoth {
		return 0, false
	}
	if keywords = r.Keywords; keywords == 0 {
		keywords = DefaultRundown
	}
	keywords &^= rundownStart | rundownEnd
	if when == RundownAtStart {
		return keywords | rundownStart, true
	}
	return keywords | rundownEnd, true
}

// endsWithRundown reports whether there is a rundown before a session ends.
func (c *Config) endsWithRundown() bool {
	_, ok := c.Rundown.asked(RundownAtEnd)
	return ok
}

// DefaultRundown has all that names methods, and settings of the garbage collector.
const DefaultRundown uint64 = 0x20139

// DefaultName returns a name for a session of this program: Prefix, the name of the
// program, and the id of the process.
func DefaultName() string {
	program := strings.TrimSuffix(filepath.Base(os.Args[0]), filepath.Ext(os.Args[0]))
	return fmt.Sprintf("%s%s-%d", Prefix, program, os.Getpid())
}

// withDefaults returns c with its defaults.
func (c Config) withDefaults() Config {
	if c.Name == "" {
		c.Name = DefaultName()
	}
	b := &c.Buffers
	b.KB = cmp.Or(b.KB, defaultBufferKB)
	if b.Min == 0 {
		b.Min = max(defaultMemoryKB/b.KB, 2*runtime.NumCPU())
		if b.Max > 0 {
			b.Min = min(b.Min, b.Max)
		}
	}
	if b.Max == 0 {
		b.Max = b.Min + b.Min/4
	}
	c.FlushTimer = cmp.Or(c.FlushTimer, time.Second)
	c.kernelFromProviders()
	for i := range c.Providers {
		c.System = c.System || slices.Contains(systemProviders, c.Providers[i].GUID)
	}
	if c.KernelGroups != [8]uint32{} || c.KernelFlags != 0 || len(c.Stacks) > 0 {
		c.System = true
	}
	c.Consumption = c.Consumption.withDefaults(c.FlushTimer)
	return c
}

// kernelFromProviders turns the kernel among the providers into flags.
func (c *Config) kernelFromProviders() {
	var rest []Provider
	for _, p := range c.Providers {
		if p.GUID == kernelProvider {
			c.KernelFlags |= uint32(p.Keywords)
		} else {
			rest = append(rest, p)
		}
	}
	c.Providers = rest
}

func (c Consumption) withDefaults(flush time.Duration) Consumption {
	c.QueueBytes = cmp.Or(c.QueueBytes, DefaultQueueBytes)
	c.WindowBytes = cmp.Or(c.WindowBytes, DefaultWindowBytes)
	c.StopTimeout = cmp.Or(c.StopTimeout, DefaultStopTimeout)
	if c.Window == 0 && c.Delivery != DeliverEvents {
		c.Window = flush + flush/10
	}
	return c
}

// check reports impossible values in a configuration with its defaults.
func (c *Config) check() error {
	if err := checkName("the name of a session", c.Name); err != nil {
		return err
	}
	switch b := c.Buffers; {
	case b.KB < 4 || b.KB > maxBufferKB:
		return invalid("buffers of %d KB; they have 4 to %d, and 64 fit every event", b.KB, maxBufferKB)
	case b.Min < 0 || b.Max < b.Min:
		return invalid("%d to %d buffers", b.Min, b.Max)
	case b.Max > maxMemoryKB/b.KB:
		return invalid("%d buffers of %d KB take more than %d MB", b.Max, b.KB, maxMemoryKB>>10)
	case c.FlushTimer < time.Second || c.FlushTimer%time.Second != 0 || c.FlushTimer > time.Hour:
		return invalid("a flush timer of %v; it takes whole seconds", c.FlushTimer)
	case c.SampleInterval < 0 || c.SampleInterval > 0 && c.SampleInterval < 122100*time.Nanosecond || c.SampleInterval > time.Second:
		return invalid("samples every %v; the interval is 0.1221 ms to 1 s", c.SampleInterval)
	case strings.EqualFold(c.Name, KernelLoggerName) && !c.System:
		return invalid("%s is for kernel events; choose some, or another name", KernelLoggerName)
	}
	if err := c.Consumption.check(); err != nil {
		return err
	}
	if err := c.File.check(c.System); err != nil {
		return err
	}
	for i := range c.Providers {
		if err := c.Providers[i].check(); err != nil {
			return err
		}
	}
	return nil
}

// check reports impossible values.
func (p *Provider) check() error {
	name := p.Name
	if name == "" {
		name = p.GUID.String()
	}
	if p.GUID.IsZero() {
		return invalid("provider %s: it has no GUID", name)
	}
	if _, err := p.encode(); err != nil {
		return invalid("provider %s: %v", name, err)
	}
	return nil
}

func (c *Consumption) check() error {
	switch {
	case c.QueueBytes < 1<<20:
		return invalid("a queue of %d bytes; it takes 1 MB at least", c.QueueBytes)
	case c.WindowBytes < 1<<20:
		return invalid("a window of %d bytes; it takes 1 MB at least", c.WindowBytes)
	case c.StopTimeout < 0:
		return invalid("a stop timeout of %v", c.StopTimeout)
	}
	return nil
}

// logModes are those of which a file has one.
const logModes = etl.ModeSequential | etl.ModeCircular | etl.ModeNewFile | etl.ModeBuffering

func (f *File) check(system bool) error {
	if f == nil {
		return nil
	}
	mode := f.Mode & logModes
	mode = cmp.Or(mode, etl.ModeSequential)
	switch {
	case f.MaxMB < 0:
		return invalid("a file of %d MB", f.MaxMB)
	case mode&(mode-1) != 0:
		return invalid("a file that is %v; it is one of these", mode)
	case mode&(etl.ModeCircular|etl.ModeNewFile) != 0 && f.MaxMB == 0:
		return invalid("a %v file takes a size", mode)
	case mode == etl.ModeNewFile && !strings.Contains(f.Path, "%d"):
		return invalid("%s has no %%d for the number of the file", f.Path)
	case system && f.Mode&etl.ModePagedMemory != 0:
		return invalid("kernel events do not go to paged memory")
	}
	return checkName("the path of a file", f.Path)
}

// checkName reports whether a text can be given to Windows as a name.
func checkName(what, name string) error {
	switch {
	case name == "":
		return invalid("%s is empty", what)
	case strings.ContainsRune(name, 0):
		return invalid("%s has a NUL", what)
	case len(utf16.Encode([]rune(name))) > maxName:
		return invalid("%s has more than %d characters", what, maxName)
	}
	return nil
}

// isLive reports whether the session delivers its events.
func (c *Config) isLive() bool { return c.File == nil || c.File.Live }
