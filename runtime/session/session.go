package session

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A Session is one that this program has started, or attached to. One goroutine reads
// it, by Next or Records; all other methods may be called by any, meanwhile.
type Session struct {
	sys      system
	name     string
	handle   uint64
	ours     bool // started here
	config   Config
	consumer *consumer // nil without delivery
	source   *source
	lookup   *lookup // or nil

	records atomic.Int64
	over    chan struct{} // closed when the session has ended here
	closing chan struct{} // closed by Close

	mu     sync.Mutex
	ending *ending
	closed bool
	info   Info // the last that is known
	stats  Stats
}

// Supported returns nil on Windows, and elsewhere the error of everything here that calls
// Windows: errors.Is recognises it as errors.ErrUnsupported.
func Supported() error {
	_, err := current()
	return err
}

// Start starts a session as cfg says, and opens it for reading, unless it only writes a
// file. The context is for slow calls: a session of the same name that is to be stopped
// first.
func Start(ctx context.Context, cfg Config) (*Session, error) {
	sys, err := current()
	if err != nil {
		return nil, err
	}
	explicit := cfg.Window != 0
	cfg = cfg.withDefaults()
	if err := cfg.check(); err != nil {
		return nil, err
	}
	s := &Session{sys: sys, name: cfg.Name, ours: true, config: cfg, over: make(chan struct{}), closing: make(chan struct{})}
	if err := s.start(ctx); err != nil {
		return nil, err
	}
	if err := s.set(); err != nil {
		return nil, s.undo(err)
	}
	if cfg.isLive() {
		if err := s.open(&cfg.Consumption, explicit); err != nil {
			return nil, s.undo(err)
		}
	}
	for _, p := range cfg.Providers {
		if err := s.Enable(p.GUID, p.Enablement); err != nil {
			return nil, s.undo(fmt.Errorf("%w (provider %v)", err, p))
		}
	}
	if keywords, ok := cfg.Rundown.asked(RundownAtStart); ok {
		if err := s.Enable(rundownProvider, Enablement{Level: etw.LevelVerbose, Keywords: keywords}); err != nil {
			return nil, s.undo(fmt.Errorf("%w (the rundown)", err))
		}
	}
	return s, nil
}

// undo ends a session of which the start has failed.
func (s *Session) undo(err error) error {
	s.config.Rundown = nil
	return errors.Join(err, s.Close())
}

// Attach opens a running session of another program for reading. Stop and Close then
// end the reading, and leave the session alone: [Stop] by name stops it.
func Attach(ctx context.Context, name string, c Consumption) (*Session, error) {
	sys, err := current()
	if err != nil {
		return nil, err
	}
	if err := checkName("the name of a session", name); err != nil {
		return nil, err
	}
	info, err := control(sys, opQuery, name, 0, controlQuery, newProperties())
	switch {
	case err != nil:
		return nil, err
	case !info.IsLive():
		return nil, invalid("session %q writes a file only, and delivers nothing", name)
	}
	explicit := c.Window != 0
	c = c.withDefaults(max(info.FlushTimer, time.Second))
	if err := c.check(); err != nil {
		return nil, err
	}
	s := &Session{sys: sys, name: info.Name, handle: info.Handle, info: info, over: make(chan struct{}), closing: make(chan struct{})}
	s.config.Consumption = c
	return s, s.open(&c, explicit)
}

// stopPatience is how long a session of the same name may take to end, and stopRetry
// how often to look.
const (
	stopPatience = 5 * time.Second
	stopRetry    = 100 * time.Millisecond
)

// start starts the session.
func (s *Session) start(ctx context.Context) error {
	c := &s.config
	if c.System {
		s.sys.enablePrivilege(profilePrivilege)
	}
	deadline := time.Now().Add(stopPatience)
	for try := 0; ; try++ {
		p := c.properties()
		code := s.sys.startTrace(&s.handle, utf16Of(s.name), p)
		if code != codeAlreadyExists || !c.Replace || time.Now().After(deadline) {
			s.info = p.info()
			s.info.Name = s.name
			return fail(opStart, s.name, code)
		}
		if try == 0 {
			if _, err := Stop(s.name); err != nil && !isGone(err) {
				return err
			}
			continue
		}
		select { // it takes a moment
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(stopRetry):
		}
	}
}

// properties returns the properties of the session from c.
func (c *Config) properties() *properties {
	p := newProperties()
	p.wnode.flags = wnodeTracedGUID
	p.wnode.guid = c.GUID
	p.wnode.clientContext = uint32(etl.ClockQPC) // others lose the order
	p.bufferSize = uint32(c.Buffers.KB)
	p.minimumBuffers, p.maximumBuffers = uint32(c.Buffers.Min), uint32(c.Buffers.Max)
	p.flushTimer = uint32(c.FlushTimer / time.Second)
	p.enableFlags = c.KernelFlags
	mode := etl.LogFileMode(0)
	if c.isLive() {
		mode |= etl.ModeRealTime
	}
	if f := c.File; f != nil {
		copy(p.logFileName[:maxName], utf16s(f.Path))
		p.maximumFileSize = uint32(f.MaxMB)
		mode |= f.Mode
		if f.Mode&logModes == 0 {
			mode |= etl.ModeSequential
		}
	} else {
		p.logFileNameOffset = 0
	}
	switch {
	case strings.EqualFold(c.Name, KernelLoggerName):
		p.wnode.guid = kernelProvider
	case c.System:
		mode |= etl.ModeSystemLogger
	default:
		// So that a provider that fails elsewhere does not fail here.
		mode |= etl.ModeIndependent
	}
	p.logFileMode = uint32(mode)
	return p
}

// set sets the values that are not set at the start of a session.
func (s *Session) set() error {
	c := &s.config
	if code := setKernel(s.sys, s.handle, c.KernelGroups, c.Stacks); code != codeSuccess {
		return fail(opSet, s.name, code)
	}
	if c.SampleInterval > 0 {
		return SetSampleInterval(c.SampleInterval)
	}
	return nil
}

// SetSampleInterval sets the time between two samples of a processor, for the whole
// machine and all sessions.
func SetSampleInterval(d time.Duration) error {
	sys, err := current()
	if err != nil {
		return err
	}
	sys.enablePrivilege(profilePrivilege)
	return fail(opSet, "", setInterval(sys, d))
}

// open opens the session for reading.
func (s *Session) open(o *Consumption, explicit bool) error {
	c, err := openConsumer(s.sys, s.name, o)
	if err != nil {
		return err
	}
	s.consumer = c
	s.source = newSource(c, o, explicit)
	if o.Lookup {
		s.lookup = &lookup{sys: s.sys, asked: make(map[etw.Key]bool)}
	}
	go c.run()
	go s.await()
	return nil
}

// await notes the end of the delivery. A session of ours is of no use without it, and
// is stopped, if nobody has done that.
func (s *Session) await() {
	<-s.consumer.returned
	if s.ours {
		s.end()
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.finish()
}

// finish notes that the session has ended. The caller holds mu.
func (s *Session) finish() {
	select {
	case <-s.over:
	default:
		close(s.over)
	}
}

// Name returns the name of the session.
func (s *Session) Name() string { return s.name }

// Enable enables a provider, as e says, or changes its settings.
func (s *Session) Enable(provider etw.GUID, e Enablement) error {
	if provider.IsZero() {
		return invalid("the provider has no GUID")
	}
	c, err := e.enable(s.sys, s.handle, provider)
	if err != nil {
		return invalid("provider %v: %v", provider, err)
	}
	return fail(opEnable, s.name, c)
}

// Disable has the session take nothing more of a provider.
func (s *Session) Disable(provider etw.GUID) error {
	return fail(opEnable, s.name, s.sys.enableTrace(s.handle, &provider, enableDisable, 0, 0, 0, 0, nil))
}

// CaptureState asks a provider to log its state, of which keywords choose.
func (s *Session) CaptureState(provider etw.GUID, keywords uint64) error {
	return fail(opEnable, s.name, s.sys.enableTrace(s.handle, &provider, enableCaptureState, 0, keywords, 0, 0, nil))
}

// SetStacks chooses the kernel events with which a call stack is logged.
func (s *Session) SetStacks(events []etw.Key) error {
	return fail(opSet, s.name, setStacks(s.sys, s.handle, events))
}

// SetKernelGroups chooses the kernel events, as kernel.GroupMasks does.
func (s *Session) SetKernelGroups(groups [8]uint32) error {
	return fail(opSet, s.name, setKernel(s.sys, s.handle, groups, nil))
}

// Query returns the system's facts about the session.
func (s *Session) Query() (Info, error) {
	return control(s.sys, opQuery, s.name, s.handle, controlQuery, newProperties())
}

// Flush has buffers that are not full delivered, or written, now.
func (s *Session) Flush() error {
	_, err := control(s.sys, opFlush, s.name, s.handle, controlFlush, newProperties())
	return err
}

// An Update is the changes to a running session. Zero values stay.
type Update struct {
	MaxBuffers  int
	FlushTimer  time.Duration
	File        string // to go on in
	KernelFlags *uint32
}

// Update changes a session.
func (s *Session) Update(u Update) error {
	if u.MaxBuffers < 0 || u.FlushTimer < 0 || u.FlushTimer%time.Second != 0 {
		return invalid("an update to %d buffers, flushed every %v", u.MaxBuffers, u.FlushTimer)
	}
	p := newProperties()
	if _, err := control(s.sys, opQuery, s.name, s.handle, controlQuery, p); err != nil {
		return err
	}
	// The system's values stay, but for a file that is not changed.
	p.logFileNameOffset = 0
	p.loggerNameOffset = newProperties().loggerNameOffset
	if u.MaxBuffers > 0 {
		p.maximumBuffers = uint32(u.MaxBuffers)
	}
	if u.FlushTimer > 0 {
		p.flushTimer = uint32(u.FlushTimer / time.Second)
	}
	if u.File != "" {
		if err := checkName("the path of a file", u.File); err != nil {
			return err
		}
		p.logFileNameOffset = newProperties().logFileNameOffset
		clear(p.logFileName[:])
		copy(p.logFileName[:maxName], utf16s(u.File))
	}
	if u.KernelFlags != nil {
		p.enableFlags = *u.KernelFlags
	}
	_, err := control(s.sys, opUpdate, s.name, s.handle, controlUpdate, p)
	return err
}

// remember keeps the system's last facts.
func (s *Session) remember(i *Info) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.info = *i
}

// isGone reports whether err says that there is no such session.
func isGone(err error) bool { return errors.Is(err, codeInstanceNotFound) }
