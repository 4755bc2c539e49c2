package live

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/clr/private"
	"github.com/etwgen/etwgen/generated/clr/rundown"
	"github.com/etwgen/etwgen/generated/clr/stress"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/etwtest"
	"github.com/etwgen/etwgen/runtime/provider"
	"github.com/etwgen/etwgen/runtime/provider/tracelogging"
	"github.com/etwgen/etwgen/runtime/session"
	everything "github.com/etwgen/etwgen/tests/golden/everything/want"
)

// Tests of both ends of ETW: programs write events, and a session of the same program
// reads them. Etw.sh links them with a small ETW of our own, see testdata/tiny.c. With the real
// one, as an administrator, they should pass as well: set ETWGEN_ETW.

func needETW(t *testing.T) {
	if os.Getenv("ETWGEN_ETW") == "" {
		t.Skip("ETWGEN_ETW is not set: no ETW to test with")
	}
}

// replay is a provider of classic events with the classes of the kernel.
var replay = &etw.ProviderDesc{Name: "Etwgen-Replay", GUID: etw.NameGUID("Etwgen-Replay")}

// TestWriteAndRead writes every event of the packages, and decodes the events of a session:
// N of N are equal.
func TestWriteAndRead(t *testing.T) {
	needETW(t)
	for _, types := range [][]etw.Event{everything.Types(), clr.Types(), private.Types(), rundown.Types(), stress.Types(), kernel.Types()} {
		desc, opts := types[0].EventDesc().Provider, []provider.Option(nil)
		t.Run(desc.Name, func(t *testing.T) {
			if desc == kernel.Provider.Desc {
				desc, opts = replay, append(opts, provider.Classic())
			}
			s, p := pair(t, desc, opts...)
			want := events(t, types)
			read := make(chan error)
			go func() { read <- readBack(s, desc, want) }()
			for _, e := range want {
				if err := p.Write(t.Context(), e); err != nil {
					t.Errorf("%s: %v", e.EventDesc().Title(), err)
				}
			}
			if err := s.Stop(t.Context()); err != nil {
				t.Error(err)
			}
			if err := <-read; err != nil {
				t.Fatal(err)
			}
			// The kernel's package has the events by which Windows tells of losses, too.
			if stats := s.Stats(); stats.Lost+stats.LostBuffers+stats.DroppedEvents > 0 || desc != replay && stats.HasLosses() {
				t.Errorf("losses: %v", stats)
			}
			t.Logf("%d of %d events are equal", len(want), len(want))
		})
	}
}

// pair returns a session and a provider that it has enabled.
func pair(t *testing.T, desc *etw.ProviderDesc, opts ...provider.Option) (*session.Session, *provider.Provider) {
	t.Helper()
	all := session.Enablement{Level: 255, Keywords: 1<<64 - 1}
	s, err := session.Start(t.Context(), session.Config{
		Providers:   []session.Provider{{Name: desc.Name, GUID: desc.GUID, Enablement: all}},
		Consumption: session.Consumption{Delivery: session.DeliverEvents, WithoutSchemas: true, WithoutAttribution: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	p := provider.New(desc, opts...)
	if err := p.Register(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	for start := time.Now(); !p.Enabled(255, 1); time.Sleep(time.Millisecond) {
		if time.Since(start) > time.Minute {
			t.Fatal("the provider was not enabled")
		}
	}
	return s, p
}

const native = etw.PtrSize(4 << (^uintptr(0) >> 63))

// events returns several of each event of a package.
func events(t *testing.T, types []etw.Event) []etw.Event {
	var list []etw.Event
	for _, like := range types {
		for seed := range uint64(4) {
			e := etwtest.New(like)
			if _, err := e.DecodePayload(etwtest.Payload(e.EventDesc(), native, seed), native); err != nil {
				t.Fatal(err)
			}
			list = append(list, e)
		}
	}
	return list
}

// readBack compares the events of a session.
func readBack(s *session.Session, desc *etw.ProviderDesc, want []etw.Event) error {
	n := 0
	for r, err := range s.Records() {
		if err != nil {
			return err
		}
		if r.ProcessID != int64(os.Getpid()) {
			continue
		}
		if n == len(want) {
			return fmt.Errorf("more than %d events: %+v", n, r)
		}
		d := want[n].EventDesc()
		if r.Key() != d.Key() || r.Level != d.Level {
			return fmt.Errorf("event %d is %v of level %d, want %v of level %d", n, r.Key(), r.Level, d.Key(), d.Level)
		}
		if r.Kind == etw.KindManifest && (r.Provider != desc.GUID || r.Opcode != d.Opcode || r.Task != d.Task || r.Keywords != d.Keywords || r.Channel != d.Channel) {
			return fmt.Errorf("event %d has the header %+v, want %+v", n, r, d)
		}
		got := etwtest.New(want[n])
		read, err := got.DecodePayload(append([]byte{}, r.Payload...), r.PointerSize)
		if err != nil || read != len(r.Payload) || !reflect.DeepEqual(got, want[n]) {
			return fmt.Errorf("event %d: read %d of %d bytes: %v: got\n%v, want\n%v", n, read, len(r.Payload), err, got, want[n])
		}
		n++
	}
	if n != len(want) {
		return fmt.Errorf("%d of %d events came out", n, len(want))
	}
	return nil
}

// TestWriteAllocations: writing allocates nothing, nor does the final reader.
func TestWriteAllocations(t *testing.T) {
	needETW(t)
	s, p := pair(t, clr.Provider.Desc)
	read := make(chan int)
	go func() {
		n := 0
		for r := (&etw.Record{}); s.Next(r) == nil; {
			n++
		}
		read <- n
	}()
	ctx := provider.NewActivity(t.Context())
	write := func() { _ = p.Write(ctx, &clr.GCStartV1{Count: 7}) }
	for range 1000 {
		write()
	}
	start := time.Now()
	const runs = 20000
	if n := testing.AllocsPerRun(runs, write); n != 0 {
		t.Errorf("writing allocates %v times", n)
	}
	t.Logf("%v an event", time.Since(start)/runs)
	if err := s.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n, want := <-read, 1000+runs+1; n != want {
		t.Errorf("%d of %d events came out", n, want)
	}
}

type sold struct {
	Article string
	Price   float64
	Colors  []string
	Places  []struct{ X, Y int16 }
	When    time.Time
}

// TestSelfDescribing: an event that describes itself is understood by its description.
func TestSelfDescribing(t *testing.T) {
	needETW(t)
	desc := &etw.ProviderDesc{Name: "Etwgen-Shop", GUID: etw.NameGUID("Etwgen-Shop")}
	s, err := session.Start(t.Context(), session.Config{
		Providers: []session.Provider{{Name: desc.Name, GUID: desc.GUID, Enablement: session.Enablement{Level: 5, Keywords: 1}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	p := provider.New(desc)
	if err := p.Register(); err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	e := tracelogging.MustDefine[sold](p, "Sold", tracelogging.Options{Level: etw.LevelWarning, Opcode: etw.OpcodeStart, Keywords: 1})
	outer := provider.NewActivity(t.Context())
	ctx := provider.NewActivity(outer)
	if err := e.Write(ctx, &sold{"chair", 99.5, []string{"red", "blue"}, []struct{ X, Y int16 }{{1, -2}}, time.Unix(1, 0)}); err != nil {
		t.Fatal(err)
	}
	if err := s.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	n, decoder := 0, etw.NewDecoder()
	for r := range testio.Records(t, s.Records()) {
		if r.Provider != desc.GUID {
			continue
		}
		n++
		values, err := decoder.Decode(r)
		const want = `Sold Article=chair Price=99.5 Colors=[red blue] Places=[{X=1 Y=-2}] When=1970-01-01T00:00:01.0000000Z`
		if err != nil || fmt.Sprint(values) != want || r.ProviderName != desc.Name {
			t.Errorf("got %s %v (%v), want %s", r.ProviderName, values, err, want)
		}
		if r.ActivityID != provider.ActivityOf(ctx).ID || r.RelatedActivityID != provider.ActivityOf(outer).ID {
			t.Errorf("activities %v and %v", r.ActivityID, r.RelatedActivityID)
		}
	}
	if n != 1 {
		t.Errorf("%d events came out", n)
	}
}

// TestControls: requests of sessions come to the provider.
func TestControls(t *testing.T) {
	needETW(t)
	controls := make(chan provider.Control, 10)
	p := provider.New(clr.Provider.Desc, provider.OnControl(func(p *provider.Provider, c provider.Control) {
		for key, value := range c.Filter.Arguments() {
			if key != "answer" || value != "42" {
				t.Errorf("the argument %s is %s", key, value)
			}
		}
		if c.Code == provider.CaptureState {
			if err := p.Write(context.Background(), &clr.GCStartV1{Count: 77}); err != nil {
				t.Error(err)
			}
		}
		c.Filter.Data = nil
		controls <- c
	}))
	if err := p.Register(); err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	s, err := session.Start(t.Context(), session.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	id := clr.Provider.Desc.GUID
	filters := session.Filters{Arguments: map[string]string{"answer": "42"}}
	if err := errors.Join(
		s.Enable(id, session.Enablement{Level: 4, Keywords: 3, AllKeywords: 1, Filters: filters, Timeout: time.Second}),
		s.CaptureState(id, 1), s.Disable(id),
	); err != nil {
		t.Fatal(err)
	}
	list, err := provider.Registered()
	if err != nil || !slices.Contains(list, id) {
		t.Errorf("registered are %v (%v)", list, err)
	}
	who, err := provider.Registrations(id)
	if err != nil || !slices.ContainsFunc(who, func(r provider.Registration) bool { return r.ProcessID == uint32(os.Getpid()) }) {
		t.Errorf("registrations are %+v (%v)", who, err)
	}
	for _, want := range []provider.Code{provider.Enable, provider.CaptureState, provider.Disable} {
		select {
		case c := <-controls:
			if c.Code != want {
				t.Errorf("got %+v, want %v", c, want)
			}
			if c.Code == provider.Enable && (c.Level != 4 || c.Any != 3 || c.All != 1 || c.Filter.Type != provider.FilterSchematized) {
				t.Errorf("got %+v", c)
			}
		case <-time.After(time.Minute):
			t.Fatalf("no %v came", want)
		}
	}
	if p.Enabled(0, 0) {
		t.Error("it is enabled still")
	}
	if err := s.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	n := 0
	for r := range testio.Records(t, s.Records()) {
		if r.Provider == id && r.ID == 1 {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d events tell of the state", n)
	}
}
