package session

import (
	"encoding/binary"
	"slices"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/internal/rawevent"
)

// A fake is a Windows of which nothing is real but how it calls back. Its sessions deliver
// the events of tests.
type fake struct {
	buffers bool // there is openBuffers
	header  logfileHeader
	codes   map[string]Code // what calls answer, by operation
	running map[int]bool    // processes

	mu         sync.Mutex
	sessions   map[string]*fakeSession // by name in lower case
	opened     map[uint64]*fakeOpened
	last       uint64 // handle
	privileges []string
	intervals  []uint32
	infos      map[uint16][]byte // of events, by their ids
	asked      int               // about events
	// slowStop is how a stop waits until events on their way were taken.
	slowStop bool
}

// A fakeSession is one that runs.
type fakeSession struct {
	p       properties
	handle  uint64
	enabled []fakeEnabled
	groups  [8]uint32
	stacks  []stackTracingID
	items   chan fakeItem // to deliver
	stopped chan struct{}
	idle    sync.WaitGroup // of what is open, until its processTrace returns
}

// A fakeEnabled is a call of enableTrace.
type fakeEnabled struct {
	provider etw.GUID
	control  uint32
	level    etw.Level
	any, all uint64
	property Property
	filters  []encodedFilter
}

// A fakeItem is something to call back with. Its memory is overwritten afterwards, as
// Windows does.
type fakeItem struct {
	event  *fakeEvent
	buffer []byte
	read   bool // a buffer was read, of which the events came before
}

// A fakeOpened is a session that was opened.
type fakeOpened struct {
	session *fakeSession
	context uintptr
	buffers bool
	closed  chan struct{}
	running bool // in processTrace
}

// install puts a fake in place of Windows for the time of a test.
func install(t testing.TB) *fake {
	f := &fake{sessions: make(map[string]*fakeSession), opened: make(map[uint64]*fakeOpened), codes: make(map[string]Code)}
	f.header = logfileHeader{processors: 2, pointerSize: 8, perfFreq: 1e7, startTime: 133000000000000000, clockType: uint32(etl.ClockQPC), bufferSize: 64 << 10}
	replaced = f
	t.Cleanup(func() { replaced = nil })
	return f
}

// session returns the session of a name, or nil.
func (f *fake) session(name string) *fakeSession {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.sessions[strings.ToLower(name)]
}

// add adds a session that somebody else has started.
func (f *fake) add(name string) *fakeSession {
	p := newProperties()
	p.logFileMode = uint32(etl.ModeRealTime)
	var h uint64
	f.startTrace(&h, utf16Of(name), p)
	return f.session(name)
}

func stringOf(p *uint16) string {
	var s []uint16
	for ; *p != 0; p = (*uint16)(unsafe.Add(unsafe.Pointer(p), 2)) {
		s = append(s, *p)
	}
	return text(s)
}

func (f *fake) startTrace(handle *uint64, name *uint16, p *properties) Code {
	f.mu.Lock()
	defer f.mu.Unlock()
	if c := f.codes[opStart]; c != 0 {
		return c
	}
	n := stringOf(name)
	switch {
	case f.sessions[strings.ToLower(n)] != nil:
		return codeAlreadyExists
	case p.wnode.bufferSize < uint32(propertiesSize):
		return codeBadLength
	}
	f.last++
	s := &fakeSession{p: *p, handle: f.last, items: make(chan fakeItem, 1<<16), stopped: make(chan struct{})}
	s.p.wnode.historicalContext = f.last
	clear(s.p.loggerName[:])
	copy(s.p.loggerName[:maxName], utf16s(n))
	f.sessions[strings.ToLower(n)] = s
	*handle = f.last
	return codeSuccess
}

// find returns a session by handle or name.
func (f *fake) find(handle uint64, name *uint16) *fakeSession {
	for n, s := range f.sessions {
		if handle != 0 && s.handle == handle || handle == 0 && n == strings.ToLower(stringOf(name)) {
			return s
		}
	}
	return nil
}

func (f *fake) controlTrace(handle uint64, name *uint16, p *properties, control uint32) Code {
	f.mu.Lock()
	s := f.find(handle, name)
	c := f.codes[[]string{opQuery, opStop, opUpdate, opFlush}[control]]
	switch {
	case c != 0:
	case s == nil:
		c = codeInstanceNotFound
	case control == controlUpdate:
		s.p.maximumBuffers, s.p.flushTimer, s.p.enableFlags = p.maximumBuffers, p.flushTimer, p.enableFlags
		if p.logFileNameOffset != 0 {
			s.p.logFileName = p.logFileName
		}
	case control == controlStop:
		delete(f.sessions, strings.ToLower(text(s.p.loggerName[:])))
		close(s.stopped)
	case control == controlFlush && len(s.enabled) > 0 && s.enabled[len(s.enabled)-1].provider == rundownProvider && s.p.buffersWritten < 3:
		s.p.buffersWritten++
	}
	f.mu.Unlock()
	if c != codeSuccess {
		return c
	}
	if control == controlStop && f.slowStop {
		s.idle.Wait()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	*p = s.p
	return codeSuccess
}

func (f *fake) enableTrace(handle uint64, provider *etw.GUID, control uint32, level etw.Level, any, all uint64, _ uint32, p *enableParameters) Code {
	f.mu.Lock()
	defer f.mu.Unlock()
	if c := f.codes[opEnable]; c != 0 {
		return c
	}
	s := f.find(handle, nil)
	if s == nil {
		return codeInstanceNotFound
	}
	e := fakeEnabled{provider: *provider, control: control, level: level, any: any, all: all}
	if p != nil {
		e.property = Property(p.property)
		for _, d := range unsafe.Slice(p.filters, p.filterCount) {
			e.filters = append(e.filters, encodedFilter{d.filterType, slices.Clone(unsafe.Slice(*(**byte)(unsafe.Pointer(&d.data)), d.size))})
		}
	}
	s.enabled = append(s.enabled, e)
	return codeSuccess
}

func (f *fake) queryAllTraces(array []*properties, n *uint32) Code {
	f.mu.Lock()
	defer f.mu.Unlock()
	*n = uint32(len(f.sessions))
	i := 0
	for _, s := range f.sessions {
		if i == len(array) {
			return codeMoreData
		}
		*array[i] = s.p
		i++
	}
	return f.codes[opList]
}

func (f *fake) traceSet(handle uint64, class uint32, data unsafe.Pointer, size uintptr) Code {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.find(handle, utf16Of(""))
	switch class {
	case setStackTracing:
		s.stacks = slices.Clone(unsafe.Slice((*stackTracingID)(data), size/unsafe.Sizeof(stackTracingID{})))
	case setEnableFlags:
		s.groups = *(*[8]uint32)(data)
	case setSampleInterval:
		f.intervals = append(f.intervals, (*sampleInterval)(data).interval)
	}
	return f.codes[opSet]
}

func (f *fake) openEvents(l *logfile) (uint64, Code) {
	return f.open(l.loggerName, l.context, &l.header, false)
}

func (f *fake) hasBuffers() bool { return f.buffers }

func (f *fake) openBuffers(name *uint16, context uintptr, h *logfileHeader) (uint64, Code) {
	o := openOptions{modes: processRealTime | processRawTimestamp, bufferCallback: 1, bufferContext: context}
	return f.open(name, o.bufferContext, h, true)
}

func (f *fake) open(name *uint16, context uintptr, h *logfileHeader, buffers bool) (uint64, Code) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.find(0, name)
	switch c := f.codes[opOpen]; {
	case c != 0:
		return 0, c
	case s == nil:
		return 0, codeInstanceNotFound
	}
	*h = f.header
	f.last++
	f.opened[f.last] = &fakeOpened{session: s, context: context, buffers: buffers, closed: make(chan struct{})}
	s.idle.Add(1) // though its processTrace may begin later
	return f.last, codeSuccess
}

func (f *fake) processTrace(handle uint64) Code {
	f.mu.Lock()
	o := f.opened[handle]
	if o != nil {
		o.running = true
	}
	f.mu.Unlock()
	if o == nil {
		return codeInvalidHandle
	}
	defer o.session.idle.Done()
	for {
		select {
		case <-o.closed:
			return codeSuccess
		default:
		}
		select {
		case <-o.closed:
			return codeSuccess
		case i := <-o.session.items:
			if !o.deliver(i) {
				return codeCancelled
			}
		case <-o.session.stopped:
			select {
			case i := <-o.session.items:
				if !o.deliver(i) {
					return codeCancelled
				}
			default:
				return f.codes[opProcess]
			}
		}
	}
}

// deliver calls back, and overwrites the shown memory.
func (o *fakeOpened) deliver(i fakeItem) bool {
	switch {
	case i.read:
		return onBufferRead(&logfile{context: o.context, filled: 72}) != 0
	case i.buffer != nil:
		b := slices.Clone(i.buffer)
		goesOn := onBuffer(&b[0], uintptr(len(b)), nil, o.context)
		clear(b)
		return goesOn != 0
	}
	i.event.Context = o.context
	onEvent(&i.event.Record)
	i.event.overwrite()
	return true
}

func (f *fake) closeTrace(handle uint64) Code {
	f.mu.Lock()
	defer f.mu.Unlock()
	o := f.opened[handle]
	if o == nil {
		return codeInvalidParameter
	}
	delete(f.opened, handle)
	close(o.closed)
	if !o.running {
		o.session.idle.Done()
	}
	return codeContextClosePending
}

func (f *fake) now() (etw.FileTime, int64) { return etw.FileTime(f.header.startTime) + 50e7, 51e7 }

func (f *fake) enablePrivilege(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.privileges = append(f.privileges, name)
}

// eventInformation answers from infos.
func (f *fake) eventInformation(_ *etw.GUID, d *eventDescriptor, info *byte, size *uint32) Code {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked++
	have := f.infos[d.id]
	if have == nil {
		return 1168 // ERROR_NOT_FOUND
	}
	given := *size
	*size = uint32(len(have))
	if int(given) < len(have) {
		return codeInsufficientBuffer
	}
	copy(unsafe.Slice(info, given), have)
	return codeSuccess
}

func (f *fake) processRuns(pid int) bool { return f.running[pid] }

// A fakeEvent is an event with all its memory.
type fakeEvent struct {
	rawevent.Record
	items []rawevent.Item
	data  [][]byte
}

// newEvent returns the event by which Windows delivers a record.
func newEvent(r *etw.Record) *fakeEvent {
	e := &fakeEvent{}
	h := &e.Header
	h.TimeStamp, h.ProviderID, h.ThreadID, h.ProcessID = r.Timestamp, r.Provider, uint32(r.ThreadID), uint32(r.ProcessID)
	h.ID, h.Version, h.Channel, h.Level, h.Opcode, h.Task = r.ID, r.Version, r.Channel, uint8(r.Level), uint8(r.Opcode), r.Task
	h.Keyword, h.ActivityID = r.Keywords, r.ActivityID
	h.Flags = rawevent.Bits64
	if r.PointerSize == etw.Ptr32 {
		h.Flags = rawevent.Bits32
	}
	switch r.Kind {
	case etw.KindClassic:
		h.Flags |= rawevent.Classic
	case etw.KindMessage:
		h.Flags |= rawevent.Message
	}
	e.Processor[0] = uint8(r.Processor)
	if r.Processor > 255 {
		h.Flags |= rawevent.ProcessorIndex
		e.Processor[1] = uint8(r.Processor >> 8)
	}
	for _, item := range r.Extended {
		e.addItem(item.Type, slices.Clone(item.Data))
	}
	if !r.RelatedActivityID.IsZero() {
		e.addItem(etw.ExtRelatedActivityID, slices.Clone(r.RelatedActivityID[:]))
	}
	if n := len(r.Stack.Addresses); n > 0 {
		typ := etw.ExtStack64
		if r.Stack.PtrSize == etw.Ptr32 {
			typ = etw.ExtStack32
		}
		e.addItem(typ, append(make([]byte, 8), r.Stack.Addresses...))
	}
	if len(e.items) > 0 {
		h.Flags |= rawevent.HasItems
		e.Extended, e.ExtendedCount = &e.items[0], uint16(len(e.items))
	}
	if len(r.Payload) > 0 {
		p := slices.Clone(r.Payload)
		e.data = append(e.data, p)
		e.UserData, e.UserDataLength = &p[0], uint16(len(p))
	}
	return e
}

func (e *fakeEvent) addItem(typ etw.ExtendedType, data []byte) {
	item := rawevent.Item{Type: uint16(typ), Size: uint16(len(data))}
	if len(data) > 0 {
		item.Data = uint64(uintptr(unsafe.Pointer(&data[0])))
	}
	e.items, e.data = append(e.items, item), append(e.data, data)
}

func (e *fakeEvent) overwrite() {
	for _, p := range e.data {
		clear(p)
	}
	e.Record = rawevent.Record{}
	clear(e.items)
}

var testProvider = etw.MustParseGUID("2e5dba47-a3d2-4d16-8ee0-6671ffdcd7b5")

// numbered returns an event whose payload is its number.
func numbered(n int) *etw.Record {
	return &etw.Record{
		Provider: testProvider, ID: 1, PointerSize: etw.Ptr64, ProcessID: 100, ThreadID: 200,
		Timestamp: int64(n) * 10, Payload: binary.LittleEndian.AppendUint32(nil, uint32(n)),
	}
}

func numberOf(r *etw.Record) int { return int(binary.LittleEndian.Uint32(r.Payload)) }

// feed has a session deliver events from one number up to, but not including, another.
func (s *fakeSession) feed(from, to int) {
	for n := from; n < to; n++ {
		s.items <- fakeItem{event: newEvent(numbered(n))}
	}
	s.items <- fakeItem{read: true}
}
