package session

import (
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/classic"
	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/corpus"
)

// These tests take a stand-in for sechost.dll, tests/live/standin, which replays files
// by real callbacks through C. tests/live/wine.sh builds it and links these tests with
// its path.

// A standIn is that library, with a file to replay.
type standIn struct {
	replay, left, delivered, alone *syscall.LazyProc
	classes                        *[1 << 16]etw.GUID
}

func findStandIn(t testing.TB) *standIn {
	t.Helper()
	if strings.EqualFold(filepath.Base(controlDLL), "sechost.dll") {
		t.Skip("the tests are not linked with a stand-in")
	}
	dll := syscall.NewLazyDLL(controlDLL)
	s := &standIn{dll.NewProc("StandInReplay"), dll.NewProc("StandInLeft"), dll.NewProc("StandInDelivered"), dll.NewProc("StandInAlone"), new([1 << 16]etw.GUID)}
	for i := range s.classes {
		s.classes[i], _ = classic.KernelClass(uint8(i>>8), etw.Opcode(i))
	}
	pinned := new(runtime.Pinner)
	pinned.Pin(s.classes)
	t.Cleanup(pinned.Unpin)
	return s
}

// play has sessions replay a file, n times, or for ever if n is negative.
func (s *standIn) play(data []byte, n int) {
	s.replay.Call(uintptr(unsafe.Pointer(&data[0])), uintptr(len(data)), uintptr(unsafe.Pointer(s.classes)), uintptr(n))
}

// plain returns a file, or a copy of it that is not compressed: the stand-in does not unpack
// its input.
func plain(t testing.TB, path string) []byte {
	t.Helper()
	data := testio.Read(t, path)
	r := testio.Open(t, etl.Open, path, etl.WithoutSchemas(), etl.WithoutAttribution())
	defer r.Close()
	h := r.Header()
	if h.Compression == etl.CompressionNone {
		return data
	}
	h.Compression = etl.CompressionNone
	h.BufferSize = max(h.BufferSize, 128<<10)
	var out memoryFile
	w, err := etl.NewWriter(&out, h)
	if err != nil {
		t.Fatal(err)
	}
	for rec, err := range r.Records() {
		if err == nil {
			err = w.Copy(r, rec)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	testio.Close(t, w)
	return out
}

// A memoryFile is a file that is written, and of which the header is completed.
type memoryFile []byte

func (f *memoryFile) Write(p []byte) (int, error) {
	*f = append(*f, p...)
	return len(p), nil
}

func (f *memoryFile) WriteAt(p []byte, off int64) (int, error) { return copy((*f)[off:], p), nil }

func readerOf(t testing.TB, name string, data []byte, opts ...etl.Option) *etl.Reader {
	t.Helper()
	r := testio.ReaderAt(t, etl.NewReader, data, append(opts, etl.WithName(name))...)
	t.Cleanup(func() { r.Close() })
	return r
}

// TestStandIn: a replay delivers the same as the reader of files, record by record and field
// by field, in whole buffers as well as event by event.
func TestStandIn(t *testing.T) {
	in := findStandIn(t)
	for _, path := range corpus.Glob(t, "etl", "*.etl") {
		for _, d := range []Delivery{DeliverBuffers, DeliverEvents} {
			data := testio.Read(t, path)
			if d == DeliverEvents {
				data = plain(t, path)
			}
			in.play(data, 1)
			cfg := Config{Name: "replay", Consumption: forever}
			cfg.Delivery = d
			s := begin(t, cfg)
			go func() {
				waitFor(in, 1)
				s.Stop(t.Context())
			}()
			name := filepath.Base(path)
			r := readerOf(t, name, data)
			n := compare(t, s, r)
			if want := r.Stats().Records; int64(n) != want {
				t.Errorf("%s: %d of %d records", name, n, want)
			}
			t.Logf("%s: %d of %d records are equal, whole buffers: %v", name, n, r.Stats().Records, s.DeliversBuffers())
			s.Close()
		}
	}
}

// waitFor waits until there were some callbacks.
func waitFor(in *standIn, callbacks uintptr) {
	for {
		if n, _, _ := in.delivered.Call(); n >= callbacks {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// TestStandInMillions: five million events, with the garbage collector at work all the
// time, arrive without a crash and without allocations.
func TestStandInMillions(t *testing.T) {
	in := findStandIn(t)
	path := corpus.File(t, "etl", "net.4.5.2.x64.etl")
	data := plain(t, path)
	one := 0
	for range readerOf(t, path, data).Records() {
		one++
	}
	rounds := 5000000/one + 1
	for _, d := range []Delivery{DeliverBuffers, DeliverEvents} {
		in.play(data, rounds)
		s := begin(t, Config{Name: "millions", Consumption: Consumption{Delivery: d}})
		var done atomic.Bool
		collected := make(chan struct{})
		go func() {
			defer close(collected)
			for !done.Load() {
				runtime.GC()
			}
		}()
		want := int64(rounds) * int64(one)
		var before, after runtime.MemStats
		var rec etw.Record
		started := time.Now()
		for n := int64(1); n <= want; n++ {
			if n == want/2 {
				runtime.ReadMemStats(&before)
			}
			if err := s.Next(&rec); err != nil {
				t.Fatalf("record %d of %d: %v", n, want, err)
			}
		}
		runtime.ReadMemStats(&after)
		took := time.Since(started)
		done.Store(true)
		<-collected
		each := float64(after.Mallocs-before.Mallocs) / float64(want-want/2)
		t.Logf("%d records, whole buffers: %v, %v each with the collector, %.5f allocations each", want, s.DeliversBuffers(), took/time.Duration(want), each)
		if each > 0.01 {
			t.Errorf("%.3f allocations for each event", each)
		}
		if err := s.Stop(t.Context()); err != nil {
			t.Error(err)
		}
		if err := s.Next(&rec); err != io.EOF {
			t.Errorf("after %d records: %v", want, err)
		}
		s.Close()
	}
}

// TestStandInCosts logs the cost of a record, in a session and from a file, in turns: in
// time of the processor, all threads together, since the machine has other work. Wine counts
// it in steps of 10 ms, so all turns are added up.
func TestStandInCosts(t *testing.T) {
	in := findStandIn(t)
	path := corpus.File(t, "etl", "net.4.5.2.x64.etl")
	data := plain(t, path)
	const rounds, repeats = 7, 4
	var total [3]time.Duration
	var alone [3]time.Duration // of what is in total, the stand-in's own
	records := 0
	for range rounds {
		begun := processorTime()
		for range repeats {
			records = 0
			for range readerOf(t, path, data, etl.WithoutSchemas(), etl.WithoutAttribution()).Records() {
				records++
			}
		}
		total[0] += processorTime() - begun
		for i, d := range []Delivery{DeliverBuffers, DeliverEvents} {
			in.play(data, repeats)
			begun := processorTime()
			in.alone.Call(uintptr(1 - i))
			alone[1+i] += processorTime() - begun
			in.play(data, repeats)
			begun = processorTime()
			s := begin(t, Config{Name: "costs", Consumption: Consumption{Delivery: d, WithoutSchemas: true, WithoutAttribution: true}})
			waitFor(in, 1)
			if err := s.Stop(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := readToEnd(s, nil); err != nil {
				t.Fatal(err)
			}
			total[1+i] += processorTime() - begun
			s.Close()
		}
	}
	each := func(d time.Duration) float64 { return float64(d) / float64(rounds*repeats*records) }
	file := max(each(total[0]), 0.1)
	t.Logf("%d records, %d times: file %.0f ns, buffers %.0f ns (%.1f times), of which the stand-in %.0f ns, events %.0f ns (%.1f times), of which the stand-in %.0f ns",
		records, rounds*repeats, file, each(total[1]), each(total[1])/file, each(alone[1]), each(total[2]), each(total[2])/file, each(alone[2]))
}

// processorTime returns how long the process had a processor.
func processorTime() time.Duration {
	process, _ := syscall.GetCurrentProcess()
	var begun, ended, kernel, user syscall.Filetime
	if syscall.GetProcessTimes(process, &begun, &ended, &kernel, &user) != nil {
		return 0
	}
	ticks := func(f syscall.Filetime) int64 { return int64(f.HighDateTime)<<32 | int64(f.LowDateTime) }
	return time.Duration(ticks(kernel)+ticks(user)) * 100
}

// TestStandInStops ends sessions in every way, with C between us and the callbacks.
func TestStandInStops(t *testing.T) {
	in := findStandIn(t)
	data := plain(t, corpus.File(t, "etl", "diaghub.kernel.1.etl"))
	for _, d := range []Delivery{DeliverBuffers, DeliverEvents} {
		cfg := Config{Name: "stops", Consumption: Consumption{Delivery: d, QueueBytes: 1 << 20}}
		for what, end := range map[string]func(*Session) error{
			"outside": func(s *Session) error {
				go s.Stop(t.Context())
				return readToEnd(s, nil)
			},
			"in a handler": func(s *Session) error {
				return readToEnd(s, func(n int) error {
					if n == 100 {
						return s.Stop(t.Context())
					}
					return nil
				})
			},
			"closed in a handler": func(s *Session) error {
				return readToEnd(s, func(n int) error {
					if n == 100 {
						return s.Close()
					}
					return nil
				})
			},
			"with a reader that does not read": func(s *Session) error {
				for s.consumer.queue.filled() < 1<<19 {
					time.Sleep(time.Millisecond)
				}
				return s.Close()
			},
			"before the first": func(s *Session) error { return s.Stop(t.Context()) },
			"twice": func(s *Session) error {
				return errors.Join(s.Stop(t.Context()), s.Stop(t.Context()), s.Close(), s.Close())
			},
			"by somebody else": func(s *Session) error {
				_, err := Stop("stops")
				return errors.Join(err, readToEnd(s, nil), s.Stop(t.Context()))
			},
		} {
			in.play(data, -1)
			s := begin(t, cfg)
			begun := time.Now()
			within(t, what, func() error { return end(s) })
			t.Logf("%s, whole buffers: %v: %v", what, s.DeliversBuffers(), time.Since(begun).Round(time.Millisecond))
			within(t, "Close", s.Close)
		}
	}
	checkNothingLeft(t, in)
}

// readToEnd reads a session to its end, or until it was closed.
func readToEnd(s *Session, handle func(int) error) error {
	n := 0
	for _, err := range s.Records() {
		if errors.Is(err, fs.ErrClosed) {
			return nil
		}
		if err != nil {
			return err
		}
		if n++; handle != nil {
			if err := handle(n); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkNothingLeft(t *testing.T, in *standIn) {
	t.Helper()
	if n, _, _ := in.left.Call(); n != 0 {
		t.Errorf("%d sessions and handles are left", n)
	}
}

// handles returns how many handles the process has.
func handles() (n uint32) {
	process, _ := syscall.GetCurrentProcess()
	syscall.NewLazyDLL("kernel32.dll").NewProc("GetProcessHandleCount").Call(uintptr(process), uintptr(unsafe.Pointer(&n)))
	return n
}

// TestStandInRounds: a thousand sessions leave no goroutine, handle or callback behind,
// of which a process can have 2000 in all.
func TestStandInRounds(t *testing.T) {
	in := findStandIn(t)
	data := plain(t, corpus.File(t, "etl", "gcevents.etl"))
	in.play(data, 1)
	goroutines, open := 0, uint32(0)
	for round := range 1000 {
		cfg := Config{Name: "rounds", Consumption: Consumption{Delivery: []Delivery{DeliverBuffers, DeliverEvents}[round%2]}}
		s, err := Start(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := readToEnd(s, nil); err != nil {
			t.Fatal(err)
		}
		testio.Close(t, s)
		<-s.Done()
		if round == 100 {
			goroutines, open = runtime.NumGoroutine(), handles()
		}
	}
	for try := 0; runtime.NumGoroutine() > goroutines+5 && try < 100; try++ {
		time.Sleep(10 * time.Millisecond)
	}
	t.Logf("%d goroutines and %d handles after 100 rounds, %d and %d after 1000", goroutines, open, runtime.NumGoroutine(), handles())
	if n := runtime.NumGoroutine(); n > goroutines+5 {
		t.Errorf("%d goroutines, after 100 rounds %d", n, goroutines)
	}
	if n := handles(); n > open+50 {
		t.Errorf("%d handles, after 100 rounds %d", n, open)
	}
	checkNothingLeft(t, in)
}
