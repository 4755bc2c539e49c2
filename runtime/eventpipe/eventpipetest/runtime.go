package eventpipetest

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace/nettracetest"
)

// The commands, by set and number.
const (
	GenerateDump     = 0x0101
	GenerateDump2    = 0x0102
	StopTracing      = 0x0201
	CollectTracing2  = 0x0203
	CollectTracing3  = 0x0204
	CollectTracing4  = 0x0205
	CollectTracing5  = 0x0206
	CollectTracing6  = 0x0207
	AttachProfiler   = 0x0301
	StartupProfiler  = 0x0302
	ProcessInfo      = 0x0400
	ResumeRuntime    = 0x0401
	Environment      = 0x0402
	SetEnvironment   = 0x0403
	ProcessInfo2     = 0x0404
	EnablePerfMap    = 0x0405
	DisablePerfMap   = 0x0406
	ApplyStartupHook = 0x0407
	ProcessInfo3     = 0x0408
)

// since has the version of .NET that brought a command.
var since = map[uint16]int{
	GenerateDump: 3, GenerateDump2: 6,
	StopTracing: 3, CollectTracing2: 3, CollectTracing3: 8, CollectTracing4: 9, CollectTracing5: 10, CollectTracing6: 11,
	AttachProfiler: 3, StartupProfiler: 6,
	ProcessInfo: 5, ResumeRuntime: 5, Environment: 5, SetEnvironment: 6, ProcessInfo2: 6,
	EnablePerfMap: 8, DisablePerfMap: 8, ApplyStartupHook: 8, ProcessInfo3: 8,
}

// The codes of a runtime that does not take a command.
const (
	badEncoding    = 0x80131384
	unknownCommand = 0x80131385
)

// A Request is a command as it arrived.
type Request struct {
	Command uint16
	Payload []byte
}

// A Runtime stands in for that of one process. Its settings apply to all connections; fields
// are set before the first one.
type Runtime struct {
	Version     int // of .NET: 3, or 5 and later
	PID         int64
	Cookie      etw.GUID
	CommandLine string
	Environ     []string

	// Stream is the part that a session delivers at once, and Rest the part after it is
	// stopped.
	Stream, Rest []byte
	// Record takes the place of both: it writes the stream of a session until it ends, or
	// stopped is closed, and the rest.
	Record func(w io.Writer, stopped <-chan struct{})

	// Refuse has codes with which commands are refused, Result the HRESULT that
	// commands answer which have one.
	Refuse map[uint16]uint32
	Result uint32
	// Silent are commands that get no answer, though the connection stays; Drop are
	// those whose connection is closed.
	Silent, Drop map[uint16]bool
	// Tamper changes the answers to a command, and the stream behind them.
	Tamper func(command uint16, w net.Conn) net.Conn

	server   chan struct{} // holds a token while a command is served
	mu       sync.Mutex
	requests []Request
	resumed  int
	streamed int
	sessions map[uint64]*session
	wait     sync.WaitGroup
	over     chan struct{}
}

// A session is one that was started.
type session struct {
	stop    chan struct{} // closed by the command to stop
	stopped bool
	done    chan struct{} // closed when all is written
}

// NewRuntime returns the runtime of a version of .NET.
func NewRuntime(version int) *Runtime {
	return &Runtime{
		Version: version, PID: 4711, Cookie: etw.MustParseGUID("00112233-4455-6677-8899-aabbccddeeff"),
		CommandLine: "dotnet app.dll", Environ: []string{"HOME=/home/app", "DOTNET_gcServer=1"},
		server: make(chan struct{}, 1), sessions: make(map[uint64]*session), over: make(chan struct{}),
	}
}

// Play has sessions deliver a whole .nettrace, and end: as with one process that comes and
// goes.
func (rt *Runtime) Play(trace []byte) {
	rt.Record = func(w io.Writer, _ <-chan struct{}) { w.Write(trace) }
}

// Requests returns the commands that have arrived.
func (rt *Runtime) Requests() []Request {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	return append([]Request(nil), rt.requests...)
}

// Streamed returns how many sessions have been given Stream.
func (rt *Runtime) Streamed() int {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	return rt.streamed
}

// Resumed returns how many commands to resume have arrived.
func (rt *Runtime) Resumed() int {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	return rt.resumed
}

// Listen serves at a new socket in a folder. Stop ends everything, as the end of a
// process does.
func (rt *Runtime) Listen(folder string) (path string, stop func(), err error) {
	path = filepath.Join(folder, "dotnet-diagnostic-"+strconv.FormatInt(rt.PID, 10)+"-1-socket")
	l, err := net.Listen("unix", path)
	if err != nil {
		return "", nil, err
	}
	var open sync.Map
	rt.wait.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			open.Store(c, true)
			rt.wait.Go(func() {
				rt.Serve(c)
				open.Delete(c)
			})
		}
	})
	return path, func() {
		l.Close()
		open.Range(func(c, _ any) bool {
			c.(net.Conn).Close()
			return true
		})
		rt.Close()
	}, nil
}

// Connect connects again and again, as to a port that a tool listens at, until dial
// fails or the runtime is closed. It says who it is, and serves one command each time.
func (rt *Runtime) Connect(dial func() (net.Conn, error)) {
	for {
		c, err := dial()
		if err != nil {
			return
		}
		advert := append([]byte("ADVR_V1\x00"), rt.Cookie[:]...)
		advert = binary.LittleEndian.AppendUint64(advert, uint64(rt.PID))
		served := make(chan bool, 1)
		rt.wait.Go(func() {
			if _, err := c.Write(append(advert, 0, 0)); err != nil {
				c.Close()
				served <- false
				return
			}
			rt.serve(c, served)
		})
		select {
		case ok := <-served:
			if !ok {
				return
			}
		case <-rt.over:
			c.Close()
			return
		}
	}
}

// Close waits until all connections have ended; those that wait for a command are to
// be closed by the other side.
func (rt *Runtime) Close() {
	close(rt.over)
	rt.wait.Wait()
}

// Serve serves the one command of a connection, and the session that it starts.
func (rt *Runtime) Serve(c net.Conn) { rt.serve(c, nil) }

func (rt *Runtime) serve(c net.Conn, served chan<- bool) {
	defer c.Close()
	rt.server <- struct{}{} // a connection that sends nothing blocks all others
	req, err := readRequest(c)
	if served != nil {
		served <- err == nil
	}
	if err != nil {
		<-rt.server
		return
	}
	rt.mu.Lock()
	rt.requests = append(rt.requests, req)
	rt.mu.Unlock()
	if rt.Tamper != nil {
		c = rt.Tamper(req.Command, c)
	}
	switch {
	case rt.Silent[req.Command]:
		<-rt.server
		io.Copy(io.Discard, c)
		return
	case rt.Drop[req.Command]:
		<-rt.server
		return
	}
	code := rt.Refuse[req.Command]
	if v, ok := since[req.Command]; !ok || v > rt.Version {
		code = unknownCommand
	}
	if code != 0 {
		write(c, 0xffff, binary.LittleEndian.AppendUint32(nil, code))
		<-rt.server
		return
	}
	switch req.Command {
	case CollectTracing2, CollectTracing3, CollectTracing4, CollectTracing5, CollectTracing6:
		rt.collect(c)
	case StopTracing:
		rt.stop(c, req.Payload)
		<-rt.server
	default:
		rt.answer(c, req)
		<-rt.server
	}
}

// readRequest reads a command.
func readRequest(r io.Reader) (Request, error) {
	var head [20]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return Request{}, err
	}
	if string(head[:14]) != "DOTNET_IPC_V1\x00" {
		return Request{}, errors.New("eventpipetest: not a command")
	}
	payload := make([]byte, max(int(binary.LittleEndian.Uint16(head[14:]))-len(head), 0))
	_, err := io.ReadFull(r, payload)
	return Request{binary.BigEndian.Uint16(head[16:]), payload}, err
}

// write sends an answer. A client that has gone away is no concern of a runtime.
func write(w io.Writer, kind uint16, payload []byte) error {
	b := []byte("DOTNET_IPC_V1\x00")
	b = binary.LittleEndian.AppendUint16(b, uint16(20+len(payload)))
	b = binary.BigEndian.AppendUint16(b, kind)
	_, err := w.Write(append(append(b, 0, 0), payload...))
	return err
}

// collect starts a session, and serves others meanwhile.
func (rt *Runtime) collect(c net.Conn) {
	s := &session{stop: make(chan struct{}), done: make(chan struct{})}
	rt.mu.Lock()
	id := uint64(len(rt.sessions) + 1)
	rt.sessions[id] = s
	rt.mu.Unlock()
	err := write(c, 0xff00, binary.LittleEndian.AppendUint64(nil, id))
	<-rt.server
	defer close(s.done)
	if err != nil {
		return
	}
	if rt.Record != nil {
		rt.Record(c, s.stop)
		return
	}
	if _, err := c.Write(rt.Stream); err != nil {
		return
	}
	rt.mu.Lock()
	rt.streamed++
	rt.mu.Unlock()
	gone := make(chan struct{})
	go func() { // a client that closes its end without a stop
		io.Copy(io.Discard, c)
		close(gone)
	}()
	select {
	case <-s.stop:
		c.Write(rt.Rest)
	case <-gone:
	case <-rt.over:
	}
	c.Close()
	<-gone
}

// stop stops a session, and answers when all of it is written.
func (rt *Runtime) stop(c net.Conn, payload []byte) {
	if len(payload) != 8 {
		write(c, 0xffff, binary.LittleEndian.AppendUint32(nil, badEncoding))
		return
	}
	rt.mu.Lock()
	s := rt.sessions[binary.LittleEndian.Uint64(payload)]
	if s != nil && !s.stopped {
		s.stopped = true
		close(s.stop)
	}
	rt.mu.Unlock()
	if s != nil {
		<-s.done
	}
	write(c, 0xff00, payload)
}

// answer serves the commands that are done at once.
func (rt *Runtime) answer(c net.Conn, req Request) {
	le := binary.LittleEndian
	var b []byte
	switch req.Command {
	case ProcessInfo, ProcessInfo2, ProcessInfo3:
		if req.Command == ProcessInfo3 {
			b = le.AppendUint32(b, 1)
		}
		b = append(le.AppendUint64(b, uint64(rt.PID)), rt.Cookie[:]...)
		texts := []string{rt.CommandLine, "Linux", "x64", "app", "9.0.0", "linux-x64"}
		texts = texts[:map[uint16]int{ProcessInfo: 3, ProcessInfo2: 5, ProcessInfo3: 6}[req.Command]]
		for _, s := range texts {
			b = appendText(b, s)
		}
	case Environment:
		block := le.AppendUint32(nil, uint32(len(rt.Environ)))
		for _, s := range rt.Environ {
			block = appendText(block, s)
		}
		if write(c, 0xff00, append(le.AppendUint32(b, uint32(len(block))), 0, 0)) == nil {
			c.Write(block)
		}
		return
	case ResumeRuntime:
		rt.mu.Lock()
		rt.resumed++
		rt.mu.Unlock()
	default:
		b = le.AppendUint32(b, rt.Result)
	}
	write(c, 0xff00, b)
}

// appendText appends a text of the protocol.
func appendText(b []byte, s string) []byte {
	if s == "" {
		return append(b, 0, 0, 0, 0)
	}
	units := nettracetest.UTF16(s)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(units)/2))
	return append(b, units...)
}

// A Tampered is a connection whose output is changed at one byte.
type Tampered struct {
	net.Conn
	At    int           // the byte of all that is written
	Cut   bool          // close the connection there
	Delay time.Duration // wait there
	Mask  byte          // change the byte by exclusive or
	// Reached is called there.
	Reached func()

	written int
}

// Write writes b, with the change if it comes in it.
func (t *Tampered) Write(b []byte) (int, error) {
	i := t.At - t.written
	t.written += len(b)
	if i < 0 || i >= len(b) {
		return t.Conn.Write(b)
	}
	if t.Reached != nil {
		t.Reached()
	}
	if _, err := t.Conn.Write(b[:i]); err != nil {
		return 0, err
	}
	time.Sleep(t.Delay)
	if t.Cut {
		t.Conn.Close()
		return i, os.ErrClosed
	}
	rest := append([]byte{b[i] ^ t.Mask}, b[i+1:]...)
	n, err := t.Conn.Write(rest)
	return i + n, err
}
