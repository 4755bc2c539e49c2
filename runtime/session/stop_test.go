package session

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/corpus"
)

// deadline is far more than a stop takes, and less than a test may.
const deadline = 20 * time.Second

// within fails the test if fn does not return in time.
func within(t *testing.T, what string, fn func() error) {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- fn() }()
	select {
	case err := <-done:
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	case <-time.After(deadline):
		buf := make([]byte, 1<<20)
		t.Fatalf("%s does not return\n%s", what, buf[:runtime.Stack(buf, true)])
	}
}

// endless has a session deliver events until it has ended.
func (s *fakeSession) endless(t *testing.T) {
	done := make(chan struct{})
	t.Cleanup(func() { <-done })
	go func() {
		defer close(done)
		for n := 0; ; n++ {
			select {
			case <-s.stopped:
				return
			case s.items <- fakeItem{event: newEvent(numbered(n))}:
			}
		}
	}()
}

// TestStopOutside: events written before a stop are delivered.
func TestStopOutside(t *testing.T) {
	f := install(t)
	s := begin(t, Config{Name: "s"})
	f.session("s").feed(0, 5000)
	within(t, "Stop", func() error { return s.Stop(t.Context()) })
	if got := drain(t, s); !slices.Equal(got, count(0, 5000)) {
		t.Errorf("%d events", len(got))
	}
	if err := s.Next(new(etw.Record)); err != io.EOF {
		t.Errorf("after the end: %v", err)
	}
	within(t, "a second Stop", func() error { return s.Stop(t.Context()) })
	<-s.Done()
}

// TestStopInHandler: a handler may stop the session that it is called for, while the queue
// is full, and also where the system waits for events on their way.
func TestStopInHandler(t *testing.T) {
	for _, slow := range []bool{false, true} {
		f := install(t)
		f.slowStop = slow
		s := begin(t, Config{Name: "s", Buffers: Buffers{Min: 4, Max: 1000}, Consumption: Consumption{QueueBytes: 1 << 20}})
		f.session("s").feed(0, 30000)
		within(t, "reading", func() error {
			n := 0
			for _, err := range s.Records() {
				if err != nil {
					return err
				}
				if n++; n == 3 {
					if err := s.Stop(t.Context()); err != nil {
						return err
					}
				}
			}
			if n != 30000 {
				t.Errorf("%d events", n)
			}
			return nil
		})
	}
}

// TestCloseInHandler: and it may close it.
func TestCloseInHandler(t *testing.T) {
	f := install(t)
	s := begin(t, Config{Name: "s"})
	f.session("s").endless(t)
	within(t, "reading", func() error {
		for _, err := range s.Records() {
			if errors.Is(err, fs.ErrClosed) {
				return nil
			}
			if err != nil {
				return err
			}
			if err := s.Close(); err != nil {
				return err
			}
		}
		return errors.New("there is no error")
	})
}

// TestCloseBlocked: a reader that does not read keeps nobody from closing the session.
func TestCloseBlocked(t *testing.T) {
	f := install(t)
	s := begin(t, Config{Name: "s", Consumption: Consumption{QueueBytes: 1 << 20}})
	f.session("s").endless(t)
	if err := s.Next(new(etw.Record)); err != nil {
		t.Fatal(err)
	}
	for s.consumer.queue.filled() < 1<<19 {
		time.Sleep(time.Millisecond)
	}
	within(t, "Close", s.Close)
	within(t, "a second Close", s.Close)
	if f.session("s") != nil || len(f.opened) > 0 {
		t.Error("something is left")
	}
}

// filled returns how many bytes wait.
func (q *queue) filled() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.bytes
}

// TestStopEndless: a delivery that goes on after the session was stopped is ended.
func TestStopEndless(t *testing.T) {
	f := install(t)
	s := begin(t, Config{Name: "s", Consumption: Consumption{StopTimeout: 50 * time.Millisecond}})
	session := f.session("s")
	stop := make(chan struct{})
	fed := make(chan struct{})
	go func() {
		defer close(fed)
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			case session.items <- fakeItem{event: newEvent(numbered(n))}:
			}
		}
	}()
	within(t, "reading", func() error {
		if err := s.Stop(t.Context()); err != nil {
			return err
		}
		for _, err := range s.Records() {
			if err != nil {
				return err
			}
		}
		return nil
	})
	close(stop)
	<-fed
}

// TestStopBeforeFirst: a session may end before it has delivered anything, and while
// somebody waits for it.
func TestStopBeforeFirst(t *testing.T) {
	install(t)
	s := begin(t, Config{Name: "s"})
	ended := make(chan error, 1)
	go func() { ended <- s.Next(new(etw.Record)) }()
	within(t, "Stop", func() error { return s.Stop(t.Context()) })
	if err := <-ended; err != io.EOF {
		t.Error(err)
	}
}

// TestStoppedByOthers: a session that somebody else stops is at its end, and to stop it
// is no error.
func TestStoppedByOthers(t *testing.T) {
	f := install(t)
	s := begin(t, Config{Name: "s"})
	f.session("s").feed(0, 10)
	if _, err := Stop("s"); err != nil {
		t.Fatal(err)
	}
	if got := drain(t, s); len(got) != 10 {
		t.Errorf("%d events", len(got))
	}
	within(t, "Stop", func() error { return s.Stop(t.Context()) })
	within(t, "Close", s.Close)
}

// TestStopFails: after an error the session goes on, and can be stopped again.
func TestStopFails(t *testing.T) {
	f := install(t)
	s := begin(t, Config{Name: "s"})
	f.codes[opStop] = codeAccessDenied
	if err := s.Stop(t.Context()); !errors.Is(err, fs.ErrPermission) {
		t.Fatal(err)
	}
	f.mu.Lock()
	delete(f.codes, opStop)
	f.mu.Unlock()
	f.session("s").feed(0, 10)
	within(t, "Stop", func() error { return s.Stop(t.Context()) })
	if got := drain(t, s); len(got) != 10 {
		t.Errorf("%d events", len(got))
	}
}

// TestStopCanceled: a stop that Windows does not answer is given up with its context.
func TestStopCanceled(t *testing.T) {
	f := install(t)
	f.slowStop = true
	s := begin(t, Config{Name: "s", Buffers: Buffers{Min: 4, Max: 5}, Consumption: Consumption{QueueBytes: 1 << 20}})
	f.session("s").feed(0, 40000)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := s.Stop(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a stop that waits for a reader who does not read: %v", err)
	}
	if got := drain(t, s); len(got) != 40000 {
		t.Errorf("%d events", len(got))
	}
}

// TestAttach: to end an attachment leaves the session alone.
func TestAttach(t *testing.T) {
	f := install(t)
	other := f.add("Other")
	other.feed(0, 10)
	s, err := Attach(t.Context(), "other", Consumption{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Next(new(etw.Record)); err != nil {
		t.Error(err)
	}
	within(t, "Stop", func() error { return s.Stop(t.Context()) })
	if got := drain(t, s); len(got) > 9 {
		t.Errorf("%d events", len(got))
	}
	within(t, "Close", s.Close)
	if f.session("other") == nil {
		t.Error("the session was stopped")
	}
	if _, err := Attach(t.Context(), "none", Consumption{}); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// TestRundown: before the end, after the start, or both, the runtimes are asked for their
// modules. The keywords that say when are right, whatever is asked for.
func TestRundown(t *testing.T) {
	f := install(t)
	step := rundownStep
	rundownStep = time.Millisecond
	t.Cleanup(func() { rundownStep = step })
	for _, test := range []struct {
		rundown *Rundown
		want    []uint64 // of the calls that enable, 0 of one that disables
	}{
		{nil, nil},
		{&Rundown{}, []uint64{DefaultRundown, 0}},
		{&Rundown{When: RundownAtStart}, []uint64{0x20079}},
		{&Rundown{When: RundownAtBoth}, []uint64{0x20079, DefaultRundown, 0}},
		{&Rundown{Keywords: 0x38}, []uint64{0x138, 0}},
		{&Rundown{Keywords: 0x138, When: RundownAtStart}, []uint64{0x78}},
	} {
		s := begin(t, Config{Name: "s", Rundown: test.rundown})
		session := f.session("s")
		within(t, "Stop", func() error { return s.Stop(t.Context()) })
		<-s.Done()
		var got []uint64
		for _, e := range session.enabled {
			if e.provider != rundownProvider || (e.control == enableEnable) != (e.level == etw.LevelVerbose) || (e.control == enableDisable) != (e.any == 0) {
				t.Errorf("%+v", e)
			}
			got = append(got, e.any)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%+v: %#x, want %#x", test.rundown, got, test.want)
		}
		if waited := session.p.buffersWritten == 3; waited != slices.Contains(test.want, 0) {
			t.Errorf("%+v: whether somebody waited for the rundown: %v", test.rundown, waited)
		}
	}
	f.codes[opEnable] = codeAccessDenied
	if _, err := Start(t.Context(), Config{Name: "s", Rundown: &Rundown{When: RundownAtStart}}); !errors.Is(err, codeAccessDenied) || f.session("s") != nil {
		t.Errorf("%v, %v", err, f.session("s"))
	}
}

// TestEnableByName: the settings in the session of another program are changed while it runs.
func TestEnableByName(t *testing.T) {
	f := install(t)
	other := f.add("other")
	if err := Enable("other", testProvider, Enablement{Level: 4, Keywords: 0x11, Properties: PropertyStack}); err != nil {
		t.Error(err)
	}
	if err := Disable("OTHER", testProvider); err != nil {
		t.Error(err)
	}
	want := []fakeEnabled{{provider: testProvider, control: enableEnable, level: 4, any: 0x11, property: PropertyStack}, {provider: testProvider, control: enableDisable}}
	if diff := cmp.Diff(want, other.enabled, cmp.AllowUnexported(fakeEnabled{}, encodedFilter{})); diff != "" {
		t.Error(diff)
	}
	for _, err := range []error{Enable("none", testProvider, Enablement{}), Disable("none", testProvider)} {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
	}
	if f.session("other") == nil {
		t.Error("the session was stopped")
	}
}

// TestRounds: a thousand sessions leave nothing behind.
func TestRounds(t *testing.T) {
	f := install(t)
	goroutines, rounds := 0, 200
	if corpus.All() {
		rounds = 1000
	}
	for round := range rounds {
		s := begin(t, Config{Name: "s", Consumption: Consumption{WithoutSchemas: true, WithoutAttribution: true}})
		f.session("s").items <- fakeItem{event: newEvent(numbered(round))}
		if err := s.Next(new(etw.Record)); err != nil {
			t.Fatal(err)
		}
		if round%2 == 0 {
			if err := s.Stop(t.Context()); err != nil {
				t.Fatal(err)
			}
			drain(t, s)
		}
		testio.Close(t, s)
		<-s.Done()
		if round == 100 {
			goroutines = runtime.NumGoroutine()
		}
	}
	for try := 0; runtime.NumGoroutine() > goroutines+5 && try < 100; try++ {
		time.Sleep(10 * time.Millisecond) // those that are about to end
	}
	if n := runtime.NumGoroutine(); n > goroutines+5 {
		t.Errorf("%d goroutines, after 100 rounds %d", n, goroutines)
	}
	if n := len(*consumers.table.Load()); n+len(f.opened)+len(f.sessions) > 0 {
		t.Errorf("%d consumers, %d handles, %d sessions are left", n, len(f.opened), len(f.sessions))
	}
}
