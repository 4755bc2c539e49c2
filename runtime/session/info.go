package session

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode/utf16"
	"unsafe"

	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etw"
)

// An Info is the system's facts about a session.
type Info struct {
	Name   string
	GUID   etw.GUID
	Handle uint64
	File   string // "" if it writes none
	Mode   etl.LogFileMode
	MaxMB  uint32 // of the file, or KB with etl.ModeKilobytes

	BufferKB               uint32
	MinBuffers, MaxBuffers uint32
	NumberOfBuffers        uint32 // there are now
	FreeBuffers            uint32
	BuffersWritten         uint32
	FlushTimer             time.Duration
	Clock                  etl.ClockType
	KernelFlags            uint32

	EventsLost          uint32 // since no buffer was free
	LogBuffersLost      uint32 // since the file could not be written
	RealTimeBuffersLost uint32 // since nobody took them
}

// IsLive reports whether the session delivers its events.
func (i Info) IsLive() bool { return i.Mode&etl.ModeRealTime != 0 }

// IsKernel reports whether the session can have kernel events.
func (i Info) IsKernel() bool {
	return i.Mode&etl.ModeSystemLogger != 0 || i.GUID == kernelProvider
}

// Advice returns advice on the session, a sentence each.
func (i Info) Advice() []string {
	var list []string
	if i.BufferKB > 0 && i.BufferKB < defaultBufferKB {
		list = append(list, fmt.Sprintf("buffers of %d KB lose events that are larger; 64 KB fit all", i.BufferKB))
	}
	if i.EventsLost > 0 {
		list = append(list, fmt.Sprintf(
			"%d events found no free buffer; more than %d buffers of %d KB, or fewer events, help", i.EventsLost, i.MaxBuffers, i.BufferKB))
	}
	if i.RealTimeBuffersLost > 0 {
		list = append(list, fmt.Sprintf("%d buffers were not taken in time; the reader is too slow", i.RealTimeBuffersLost))
	}
	if i.LogBuffersLost > 0 {
		list = append(list, fmt.Sprintf("%d buffers could not be written; the disk is too slow, or full", i.LogBuffersLost))
	}
	return list
}

// newProperties returns properties with room for names.
func newProperties() *properties {
	p := new(properties)
	p.wnode.bufferSize = uint32(unsafe.Sizeof(*p))
	p.loggerNameOffset = uint32(unsafe.Offsetof(p.loggerName))
	p.logFileNameOffset = uint32(unsafe.Offsetof(p.logFileName))
	return p
}

// info returns the facts in p.
func (p *properties) info() Info {
	return Info{
		Name: text(p.loggerName[:]), File: text(p.logFileName[:]),
		GUID: p.wnode.guid, Handle: p.wnode.historicalContext, Mode: etl.LogFileMode(p.logFileMode), MaxMB: p.maximumFileSize,
		BufferKB: p.bufferSize, MinBuffers: p.minimumBuffers, MaxBuffers: p.maximumBuffers,
		NumberOfBuffers: p.numberOfBuffers, FreeBuffers: p.freeBuffers, BuffersWritten: p.buffersWritten,
		FlushTimer: time.Duration(p.flushTimer) * time.Second, Clock: etl.ClockType(p.wnode.clientContext), KernelFlags: p.enableFlags,
		EventsLost: p.eventsLost, LogBuffersLost: p.logBuffersLost, RealTimeBuffersLost: p.realTimeBuffersLost,
	}
}

// text returns the text before the NUL.
func text(p []uint16) string {
	if n := slices.Index(p, 0); n >= 0 {
		p = p[:n]
	}
	return string(utf16.Decode(p))
}

// utf16Of returns name with a NUL. It was checked.
func utf16Of(name string) *uint16 { return &append(utf16s(name), 0)[0] }

func utf16s(name string) []uint16 { return utf16.Encode([]rune(name)) }

// control makes a call about the session of a name. The system writes its facts to the
// properties of each.
func control(sys system, op, name string, handle uint64, code uint32, p *properties) (Info, error) {
	c := sys.controlTrace(handle, utf16Of(name), p, code)
	if c == codeMoreData { // names did not fit; what was asked for is done
		c = codeSuccess
	}
	if err := fail(op, name, c); err != nil {
		return Info{}, err
	}
	i := p.info()
	i.Name = cmp.Or(i.Name, name)
	return i, nil
}

// byName is control with a fresh copy of properties.
func byName(op, name string, code uint32) (Info, error) {
	sys, err := current()
	if err != nil {
		return Info{}, err
	}
	if err := checkName("the name of a session", name); err != nil {
		return Info{}, err
	}
	return control(sys, op, name, 0, code, newProperties())
}

// Query returns the system's facts about the session of a name.
func Query(name string) (Info, error) { return byName(opQuery, name, controlQuery) }

// Stop stops the session of a name, whoever has started it, and returns the system's last
// facts about it.
func Stop(name string) (Info, error) { return byName(opStop, name, controlStop) }

// Flush has the session of a name deliver, or write, the buffers that are not full.
func Flush(name string) (Info, error) { return byName(opFlush, name, controlFlush) }

// Enable enables a provider for the session of a name, whoever has started it, or changes
// its settings there.
func Enable(name string, provider etw.GUID, e Enablement) error {
	s, err := find(name)
	if err != nil {
		return err
	}
	return s.Enable(provider, e)
}

// Disable has the session of a name take nothing more of a provider.
func Disable(name string, provider etw.GUID) error {
	s, err := find(name)
	if err != nil {
		return err
	}
	return s.Disable(provider)
}

// find returns the session of a name, to control it and no more.
func find(name string) (*Session, error) {
	info, err := Query(name)
	if err != nil {
		return nil, err
	}
	sys, err := current()
	return &Session{sys: sys, name: info.Name, handle: info.Handle}, err
}

// maxSessions is as many as a system can be set to have.
const maxSessions = 256

// List returns all sessions that the caller may know of, sorted by name.
func List() ([]Info, error) {
	sys, err := current()
	if err != nil {
		return nil, err
	}
	return list(sys)
}

func list(sys system) ([]Info, error) {
	for size := 64; ; size = maxSessions {
		array := make([]*properties, size)
		for i := range array {
			array[i] = newProperties()
		}
		var n uint32
		c := sys.queryAllTraces(array, &n)
		if c == codeMoreData && size < maxSessions {
			continue
		}
		if err := fail(opList, "", c); err != nil && c != codeMoreData {
			return nil, err
		}
		var all []Info
		for _, p := range array[:min(int(n), size)] {
			all = append(all, p.info())
		}
		sort.Slice(all, func(i, j int) bool { return all[i].Name < all[j].Name })
		return all, nil
	}
}

// Orphans returns the sessions that programs have left which have ended: their names
// begin with prefix and end with the id of a process that does not run, as
// [DefaultName] makes them. The prefix must have letters, so that nobody else's are
// meant.
func Orphans(prefix string) ([]Info, error) {
	if len(strings.Trim(prefix, "-_. 0123456789")) < 3 {
		return nil, invalid("the prefix %q is too short to tell whose sessions are meant", prefix)
	}
	sys, err := current()
	if err != nil {
		return nil, err
	}
	all, err := list(sys)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(i Info) bool {
		pid, ok := ownerOf(i.Name, prefix)
		return !ok || pid == syscall.Getpid() || sys.processRuns(pid)
	}), nil
}

// ownerOf returns the process in a name of the form prefix...-pid.
func ownerOf(name, prefix string) (pid int, ok bool) {
	if len(name) < len(prefix) || !strings.EqualFold(name[:len(prefix)], prefix) {
		return 0, false
	}
	_, digits, ok := lastCut(name[len(prefix):], "-")
	if !ok {
		digits = name[len(prefix):]
	}
	n, err := strconv.ParseUint(digits, 10, 31)
	return int(n), err == nil && n > 0
}

func lastCut(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// StopOrphans stops the [Orphans] of a prefix, and returns those that it stopped.
func StopOrphans(prefix string) ([]Info, error) {
	orphans, err := Orphans(prefix)
	if err != nil {
		return nil, err
	}
	var stopped []Info
	for _, o := range orphans {
		switch i, err := Stop(o.Name); {
		case err == nil:
			stopped = append(stopped, i)
		case isGone(err): // somebody else was faster
		default:
			return stopped, err
		}
	}
	return stopped, nil
}
