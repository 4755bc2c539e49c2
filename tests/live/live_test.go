package live

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/counters"
	"github.com/etwgen/etwgen/analysis/gc"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/internal/builtin"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/eventpipe"
	"github.com/etwgen/etwgen/runtime/nettrace"
)

// A program runs on one of the runtimes. All wait until their input ends.
type program struct {
	version int
	path    string
	args    []string
}

var programs = map[string]program{
	"3.1": {3, "sdk3/package/dotnet", []string{"app.dll"}},
	"9":   {9, "net9/package/dist/azmcp", []string{"server", "start"}},
	"10":  {10, "net10/package/dist/azmcp", []string{"server", "start"}},
}

func init() {
	if runtime.GOOS == "windows" { // or wine
		programs = map[string]program{"10": {10, "win10/package/dist/azmcp.exe", []string{"server", "start"}}}
	}
}

const marker = "ETWGEN_LIVE=yes"

// command returns the command that starts a program, and a function that ends it.
func (p program) command(t *testing.T) (*exec.Cmd, io.Closer) {
	t.Helper()
	folder := os.Getenv("ETWGEN_DOTNET")
	cmd := exec.Command(filepath.Join(folder, p.path), p.args...)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1", marker)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	return cmd, in
}

// start starts a program and connects to it.
func (p program) start(t *testing.T) (*exec.Cmd, *eventpipe.Client) {
	t.Helper()
	cmd, in := p.command(t)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		cmd.Process.Kill()
		cmd.Wait()
	})
	for end := time.Now().Add(90 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		c, err := eventpipe.DialPID(t.Context(), cmd.Process.Pid)
		if err == nil {
			time.Sleep(time.Second) // until it has started
			return cmd, c
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
}

func TestRuntimes(t *testing.T) {
	if os.Getenv("ETWGEN_DOTNET") == "" {
		t.Skip("ETWGEN_DOTNET does not say where runtimes are")
	}
	for name, p := range programs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd, c := p.start(t)
			t.Run("info", func(t *testing.T) { p.info(t, cmd.Process.Pid, c) })
			t.Run("decoded", func(t *testing.T) { decoded(t, c) })
			t.Run("lag", func(t *testing.T) { lag(t, c) })
			t.Run("harmless", func(t *testing.T) { p.harmless(t, c) })
			t.Run("two", func(t *testing.T) { two(t, c) })
			t.Run("stalled", func(t *testing.T) { stalled(t, c) })
			t.Run("detached", func(t *testing.T) { detached(t, c) })
			t.Run("commands", func(t *testing.T) { p.commands(t, c) })
			t.Run("counters", func(t *testing.T) { p.counters(t, c) })
			t.Run("launched", p.launched)
			t.Run("killed", func(t *testing.T) { killed(t, cmd, c) })
		})
	}
}

func (p program) info(t *testing.T, pid int, c *eventpipe.Client) {
	info, err := c.Info(t.Context())
	if p.version == 3 {
		if !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%+v, %v", info, err)
		}
	} else if err != nil || info.PID != int64(pid) || info.Arch != "x64" || info.Cookie.IsZero() {
		t.Errorf("%+v, %v", info, err)
	}
	list, err := eventpipe.Processes(t.Context())
	if runtime.GOOS == "windows" && err != nil && len(list) == 0 {
		t.Skipf("wine cannot list pipes: %v", err)
	}
	i := slices.IndexFunc(list, func(q eventpipe.Process) bool { return q.PID == pid })
	if err != nil || i < 0 || list[i].Err != nil {
		t.Errorf("%+v, %v: process %d is not listed", list, err, pid)
	}
}

// clrProviders are the four of the runtime, with all their events.
func clrProviders() []eventpipe.Provider {
	var list []eventpipe.Provider
	for _, b := range builtin.Providers[:4] {
		list = append(list, eventpipe.Provider{Name: b.Desc.Name, Keywords: ^uint64(0), Level: etw.LevelVerbose})
	}
	return list
}

func begin(t *testing.T, c *eventpipe.Client, cfg eventpipe.Config) *eventpipe.Session {
	t.Helper()
	s, err := c.Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func stop(t *testing.T, s *eventpipe.Session) {
	if err := s.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}

// whole reads a session to its end, which must be one.
func whole(t *testing.T, s *eventpipe.Session, do func(*etw.Record)) (n int) {
	t.Helper()
	for rec, err := range s.Records() {
		if err != nil {
			t.Errorf("after %d records: %v", n, err)
			break
		}
		n++
		do(rec)
	}
	if st := s.Stats(); !st.Stopped || st.Lost > 0 || st.OutOfOrder > 0 || st.UnknownMetadata > 0 {
		t.Errorf("%+v", st)
	}
	return n
}

func nothing(*etw.Record) {}

// decoded records all events of the runtime's providers, with the rundown: every one
// has a type, and its payload is read to the last byte.
func decoded(t *testing.T, c *eventpipe.Client) {
	s := begin(t, c, eventpipe.Config{Providers: clrProviders(), Rundown: eventpipe.DefaultRundown})
	time.AfterFunc(time.Second, func() { stop(t, s) })
	d := builtin.NewDecoder()
	kinds := make(map[string]bool)
	bad, typed := 0, 0
	n := whole(t, s, func(rec *etw.Record) {
		if !strings.HasPrefix(rec.ProviderName, "Microsoft-Windows-DotNETRuntime") {
			return
		}
		e := d.Event(rec)
		_, err := d.Decode(rec)
		if typed++; e.Desc == nil || err != nil || len(d.Rest()) > 0 {
			if bad++; bad < 10 {
				t.Errorf("%s: %v, %d bytes left", e.Name, err, len(d.Rest()))
			}
		}
		kinds[e.Name] = true
	})
	t.Logf("%d events, %d of %d of the runtime decoded, %d kinds", n, typed-bad, typed, len(kinds))
	if typed < 1000 || len(kinds) < 10 {
		t.Errorf("%d events of %d kinds are few", typed, len(kinds))
	}
}

// harmless has an analysis watch the program, which must not make it collect its heap.
// That a session can, by a keyword, is seen, too.
func (p program) harmless(t *testing.T, c *eventpipe.Client) {
	if p.version == 3 {
		t.Skip("the program asks for collections itself")
	}
	forced := func(providers func(*etw.Mux) []eventpipe.Provider) (n, all int) {
		var mux etw.Mux
		gc.New(&mux)
		etw.Handle(&mux, func(_ *etw.Record, e *clr.AnyGCStart) error {
			if all++; e.Reason == clr.GCReasonInduced {
				n++
			}
			return nil
		})
		s := begin(t, c, eventpipe.Config{Providers: providers(&mux)})
		time.AfterFunc(time.Second, func() { stop(t, s) })
		if err := mux.Run(t.Context(), s); err != nil {
			t.Error(err)
		}
		return n, all
	}
	if n, all := forced(eventpipe.ForMux); n != 0 {
		t.Errorf("watching collections caused %d of %d", n, all)
	}
	collect := func(*etw.Mux) []eventpipe.Provider {
		return []eventpipe.Provider{{Name: clr.Provider.Desc.Name, Keywords: uint64(clr.KeywordGC | clr.KeywordManagedHeapCollect), Level: etw.LevelInformational}}
	}
	if n, all := forced(collect); n == 0 {
		t.Errorf("the keyword for it caused none of %d collections", all)
	}
}

// two has two sessions at once, of which one ends earlier.
func two(t *testing.T, c *eventpipe.Client) {
	cfg := eventpipe.Config{Providers: clrProviders()}
	a, b := begin(t, c, cfg), begin(t, c, cfg)
	time.AfterFunc(200*time.Millisecond, func() { stop(t, a) })
	whole(t, a, nothing)
	time.AfterFunc(200*time.Millisecond, func() { stop(t, b) })
	whole(t, b, nothing)
}

// stalled reads a session only after it was stopped.
func stalled(t *testing.T, c *eventpipe.Client) {
	s := begin(t, c, eventpipe.Config{Providers: clrProviders(), Rundown: eventpipe.DefaultRundown})
	time.Sleep(200 * time.Millisecond)
	stop(t, s)
	time.Sleep(300 * time.Millisecond)
	whole(t, s, nothing)
}

// detached leaves a session without a stop. The process goes on to answer.
func detached(t *testing.T, c *eventpipe.Client) {
	s := begin(t, c, eventpipe.Config{Providers: clrProviders()})
	time.AfterFunc(100*time.Millisecond, func() { s.Close() })
	for _, err := range s.Records() {
		if err != nil && !errors.Is(err, eventpipe.ErrClosed) {
			t.Error(err)
		}
	}
	again := begin(t, c, eventpipe.Config{Providers: clrProviders()})
	stop(t, again)
	whole(t, again, nothing)
}

func (p program) commands(t *testing.T, c *eventpipe.Client) {
	environ, err := c.Environment(t.Context())
	setting := c.SetEnvironment(t.Context(), "ETWGEN_SET", "1")
	if p.version == 3 {
		if !errors.Is(err, errors.ErrUnsupported) || !errors.Is(setting, errors.ErrUnsupported) {
			t.Errorf("%v, %v", err, setting)
		}
		return
	}
	if err != nil || setting != nil || !slices.Contains(environ, marker) {
		t.Errorf("%q, %v, %v", environ, err, setting)
	}
	if environ, err = c.Environment(t.Context()); err != nil || !slices.Contains(environ, "ETWGEN_SET=1") {
		t.Errorf("%q, %v", environ, err)
	}
	if err := c.Resume(t.Context()); err != nil {
		t.Error(err)
	}
}

// counters reads the event counters of the runtime and, from .NET 9 on, its metrics.
func (p program) counters(t *testing.T, c *eventpipe.Client) {
	providers := []eventpipe.Provider{{Name: "System.Runtime", Level: etw.LevelInformational, Arguments: eventpipe.Arguments("EventCounterIntervalSec", "0.5")}}
	if p.version >= 9 {
		providers = append(providers, eventpipe.Provider{Name: "System.Diagnostics.Metrics", Keywords: 2, Level: etw.LevelInformational,
			Arguments: eventpipe.Arguments("SessionId", "etwgen", "Metrics", "System.Runtime", "RefreshInterval", "0.5", "MaxTimeSeries", "1000", "MaxHistograms", "20")})
	}
	s := begin(t, c, eventpipe.Config{Providers: providers})
	defer time.AfterFunc(patience, func() { stop(t, s) }).Stop()
	var mux etw.Mux
	analysis := counters.New(&mux)
	n, m := 0, 0
	whole(t, s, func(rec *etw.Record) {
		mux.Dispatch(rec)
		for _, process := range analysis.Result().Processes {
			n, m = len(process.Counters), len(process.Metrics)
		}
		if n >= 19 && (p.version < 9 || m >= 10) {
			stop(t, s)
		}
	})
	t.Logf("%d counters, %d metrics", n, m)
	if n < 19 || p.version >= 9 && m < 10 {
		t.Errorf("%d counters and %d metrics are few", n, m)
	}
}

// patience is how long to wait for events that come soon, if the machine is not busy.
const patience = 30 * time.Second

// launched starts a program suspended, and sees its first events.
func (p program) launched(t *testing.T) {
	if p.version == 3 {
		t.Skip("takes .NET 5")
	}
	cmd, in := p.command(t)
	child, err := eventpipe.Launch(t.Context(), cmd)
	if err != nil {
		t.Fatal(err)
	}
	defer child.Close()
	defer child.Kill()
	defer in.Close()
	s := begin(t, child.Client, eventpipe.Config{Providers: clrProviders()})
	if err := child.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer time.AfterFunc(patience, func() { stop(t, s) }).Stop()
	seen, started := 0, 0
	d := builtin.NewDecoder()
	n := whole(t, s, func(rec *etw.Record) {
		if seen++; seen == 2000 {
			stop(t, s)
		}
		if strings.HasPrefix(d.Event(rec).Name, "RuntimeStart") || strings.HasPrefix(d.Event(rec).Name, "RuntimeInformation") {
			started++
		}
	})
	if n < 1000 || started == 0 {
		t.Errorf("%d events, %d of the start", n, started)
	}
}

// killed ends the process in a session.
func killed(t *testing.T, cmd *exec.Cmd, c *eventpipe.Client) {
	s := begin(t, c, eventpipe.Config{Providers: clrProviders()})
	time.AfterFunc(300*time.Millisecond, func() { cmd.Process.Kill() })
	var end error
	for _, err := range s.Records() {
		end = err
	}
	if !errors.Is(end, nettrace.ErrNotStopped) && !errors.Is(end, nettrace.ErrTruncated) {
		t.Errorf("the session of a killed process ends with %v", end)
	}
	stop(t, s)
	cmd.Wait()
	if _, err := c.Info(t.Context()); !errors.Is(err, eventpipe.ErrNotFound) {
		t.Errorf("a killed process: %v", err)
	}
}
