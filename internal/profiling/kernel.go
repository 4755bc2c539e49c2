package profiling

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/etwgen/etwgen/analysis/cpu"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/analysis/symbols/native"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/linux"
)

// How many samples of each processor a second are few enough to be taken all the time. Both are
// odd, so that they seldom meet what happens at regular times.
const (
	leastHz = 19
	mostHz  = 97
)

// A Kernel samples the processors of a machine with Linux, all the time, for the processes of a
// [Machine]. A machine has one at most.
type Kernel struct {
	session *linux.Session
	claim   net.Listener
	every   int64 // nanoseconds between two samples of a processor
	most    int   // samples of a process in an interval
	done    chan struct{}

	naming sync.Mutex
	list   *native.Dir // of the kernel's functions, nil until somebody needs it
	known  map[uint64]symbols.Native

	mu      sync.Mutex
	of      map[int64]*sampled // by process
	lost    int64              // of all processes, and not told yet
	counted int64              // of these, by the session
	trouble error
}

// A sampled is the samples of one process.
type sampled struct {
	own     int64 // the number that the process has for itself, as its events have it
	mux     *etw.Mux
	linux   *cpu.Linux
	n       int
	dropped int64
}

// CheckHz says whether processors can be sampled so often.
func CheckHz(hz int) error {
	if hz < leastHz || hz > mostHz {
		return fmt.Errorf("%d samples of a processor a second: write %d to %d", hz, leastHz, mostHz)
	}
	return nil
}

// ring is the memory for samples of one processor: some seconds of them, with long stacks.
const ring = 256 << 10

// NewKernel begins to sample the processors so many times a second, until Close.
func NewKernel(hz int) (*Kernel, error) {
	if err := CheckHz(hz); err != nil {
		return nil, err
	}
	k := newKernel(time.Second / time.Duration(hz))
	var err error
	if k.session, err = linux.Start(linux.Config{Interval: time.Duration(k.every), RingBytes: ring, SamplesAlone: true}); err != nil {
		return nil, fmt.Errorf("the kernel's samples: %w", err)
	}
	if k.claim, err = claimMachine(); err != nil {
		return nil, errors.Join(err, k.session.Close())
	}
	go k.read()
	return k, nil
}

func newKernel(every time.Duration) *Kernel {
	return &Kernel{every: every.Nanoseconds(), most: maxSamples, done: make(chan struct{}), of: make(map[int64]*sampled)}
}

// claimed is the name of a socket that has no file, and so goes with its owner.
const claimed = "@etwgen-samples-processors"

// claimMachine makes this process the one that samples the machine. Who comes later is told of it.
func claimMachine() (net.Listener, error) {
	l, err := net.Listen("unix", claimed)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%s samples the processors of this machine, and one program does at a time", owner())
	case err != nil:
		return nil, fmt.Errorf("nobody can be kept from sampling this machine, too: %w", err)
	}
	go func() {
		for {
			c, err := l.Accept()
			if errors.Is(err, net.ErrClosed) {
				return
			} else if err != nil {
				time.Sleep(time.Second) // as where no more files may be open
				continue
			}
			_ = c.SetDeadline(time.Now().Add(time.Second))
			fmt.Fprintf(c, "process %d", os.Getpid())
			c.Close()
		}
	}()
	return l, nil
}

// owner names the process that samples the machine.
func owner() string {
	const somebody = "another process"
	c, err := net.DialTimeout("unix", claimed, time.Second)
	if err != nil {
		return somebody
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(time.Second))
	b, err := io.ReadAll(io.LimitReader(c, 32))
	if text := string(b); err == nil && strings.HasPrefix(text, "process ") && strings.Trim(text[8:], "0123456789") == "" {
		return text
	}
	return somebody
}

// read takes the samples of processes that are followed.
func (k *Kernel) read() {
	defer close(k.done)
	var rec etw.Record
	for {
		err := k.session.Next(&rec)
		lost := k.session.Stats().Lost
		k.mu.Lock()
		k.lost, k.counted = k.lost+lost-k.counted, lost
		if err == nil {
			k.take(&rec)
		} else if err != io.EOF && !errors.Is(err, fs.ErrClosed) {
			k.trouble = fmt.Errorf("the kernel's samples: %w", err)
		}
		k.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// take takes a sample.
func (k *Kernel) take(r *etw.Record) {
	s := k.of[r.ProcessID]
	if s == nil {
		return
	}
	if s.n++; s.n > k.most {
		s.dropped++
		return
	}
	r.ProcessID = s.own
	_ = s.mux.Dispatch(r) // which fails of no such event
}

// begin begins an interval of a process.
func (k *Kernel) begin(s *sampled) {
	s.mux, s.n, s.dropped = new(etw.Mux), 0, 0
	s.linux = cpu.NewLinux(s.mux)
	s.linux.SetInterval(k.every)
}

// follow begins to keep the samples of a process, if it is known which one that is for the kernel.
func (k *Kernel) follow(p *Process) {
	if p.Unseen {
		return
	}
	s := &sampled{own: cmp.Or(p.Own, p.PID)}
	k.begin(s)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.of[p.PID] = s
}

// leave ends that.
func (k *Kernel) leave(p *Process) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.of, p.PID)
}

// swap ends an interval of a process, begins the next one, and returns the samples.
func (k *Kernel) swap(x *Interval, p *Process) ([]*stacks.Samples, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	s := k.of[p.PID]
	if s == nil {
		x.Skipped = SkippedUnseen
		return nil, k.trouble
	}
	ended := *s
	k.begin(s)
	x.Lost += k.lost
	k.lost = 0
	x.Dropped += ended.dropped
	x.Sampled = ended.n - int(ended.dropped)
	return ended.linux.Samples(), k.trouble
}

// kernelSpace is where the memory of the kernel begins.
const kernelSpace = 1 << 63

// name returns the function of the kernel at an address. Their list takes a quarter of a second
// to read, and some 10 MB, and so is read once.
func (k *Kernel) name(address uint64) (symbols.Native, bool) {
	if k == nil {
		return symbols.Native{}, false
	}
	k.naming.Lock()
	defer k.naming.Unlock()
	n, ok := k.known[address]
	if !ok {
		if k.list == nil {
			k.list, _ = native.Open("/proc/kallsyms") // without it there is only the kernel
		}
		if n, ok = k.list.Kernel(address); !ok {
			n = symbols.Native{Module: "vmlinux"}
		}
		if k.known == nil || len(k.known) >= maxKnown {
			k.known = make(map[uint64]symbols.Native)
		}
		k.known[address] = n
	}
	return n, n.Function != ""
}

// Close ends the sampling.
func (k *Kernel) Close() error {
	if k == nil {
		return nil
	}
	k.session.Interrupt()
	<-k.done
	return errors.Join(k.claim.Close(), k.session.Close())
}
