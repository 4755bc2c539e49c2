package provider

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"runtime"
	"sync"
	"testing"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/clr/private"
	"github.com/etwgen/etwgen/generated/clr/rundown"
	"github.com/etwgen/etwgen/generated/clr/stress"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/etwtest"
	everything "github.com/etwgen/etwgen/tests/golden/everything/want"
)

// packages are those whose events are all written and read back.
var packages = []struct {
	*etw.Provider
	types []etw.Event
}{
	{everything.Provider, everything.Types()}, {clr.Provider, clr.Types()}, {private.Provider, private.Types()},
	{rundown.Provider, rundown.Types()}, {stress.Provider, stress.Types()}, {kernel.Provider, kernel.Types()},
}

// A place is somewhere to write to.
type place struct {
	name    string
	open    func(t *testing.T, desc *etw.ProviderDesc, opts ...Option) *Provider
	records func() []*etw.Record
}

func places() []place {
	fake := newFake()
	var memory Memory
	local := NewLocal(&memory)
	return []place{
		{"ETW", fake.provider, func() []*etw.Record { return fake.records }},
		{"local", func(t *testing.T, desc *etw.ProviderDesc, opts ...Option) *Provider {
			p := New(desc, append(opts, To(local))...)
			if err := p.Register(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { p.Close() })
			return p
		}, memory.Records},
	}
}

// TestEveryEvent writes every event of the packages, and decodes the output by the type that
// a registry has for it.
func TestEveryEvent(t *testing.T) {
	var all []*etw.Provider
	for _, pkg := range packages {
		all = append(all, pkg.Provider)
	}
	registry := etw.NewRegistry(all...)
	for _, at := range places() {
		count := 0
		for _, pkg := range packages {
			var opts []Option
			if pkg.Provider == kernel.Provider {
				opts = append(opts, Classic())
			}
			p := at.open(t, pkg.Desc, opts...)
			for _, e := range pkg.types {
				d := e.EventDesc()
				for seed := range uint64(4) {
					if err := written(p, e, seed, at.records, registry); err != nil {
						t.Errorf("%s: %s %s %d, seed %d: %v", at.name, pkg.Desc.Name, d.Title(), d.Version, seed, err)
					}
					count++
				}
			}
		}
		t.Logf("%s: %d events were written and are equal", at.name, count)
		if count < 4*1000 {
			t.Errorf("%s: only %d events were written", at.name, count)
		}
	}
}

// written writes an event and compares the output.
func written(p *Provider, like etw.Event, seed uint64, records func() []*etw.Record, registry *etw.Registry) error {
	d, want, got := like.EventDesc(), etwtest.New(like), etwtest.New(like)
	if _, err := want.DecodePayload(etwtest.Payload(d, native, seed), native); err != nil {
		return err
	}
	before := len(records())
	if err := p.Write(context.Background(), want); err != nil {
		return err
	}
	list := records()
	if len(list) != before+1 {
		return fmt.Errorf("%d records came out", len(list)-before)
	}
	r := list[before]
	if r.Key() != d.Key() || r.Level != d.Level {
		return fmt.Errorf("it is %v of level %d, want %v of level %d", r.Key(), r.Level, d.Key(), d.Level)
	}
	if r.Kind == etw.KindManifest && (r.Opcode != d.Opcode || r.Task != d.Task || r.Keywords != d.Keywords || r.Channel != d.Channel) {
		return fmt.Errorf("the header is %+v", r)
	}
	if known := registry.Of(r); known != d {
		return fmt.Errorf("it is taken for %v", known)
	}
	payload := append([]byte{}, r.Payload...) // a copy of nothing is nil, and views would be, too
	n, err := got.DecodePayload(payload, r.PointerSize)
	if err != nil || n != len(r.Payload) {
		return fmt.Errorf("read %d of %d bytes: %v", n, len(r.Payload), err)
	}
	if !reflect.DeepEqual(got, want) {
		return fmt.Errorf("got\n%v, want\n%v", got, want)
	}
	return nil
}

func TestEnabled(t *testing.T) {
	tests := []struct {
		level    etw.Level
		any, all uint64
		classic  bool
		event    etw.Level
		keywords uint64
		want     bool
	}{
		{4, 0, 0, false, 4, 1, true},
		{4, 0, 0, false, 5, 1, false},
		{0, 0, 0, false, 200, 1, true},
		{255, 0, 0, false, 255, 0, true},
		{4, 6, 0, false, 0, 2, true},
		{4, 6, 0, false, 4, 1, false},
		{4, 6, 0, false, 4, 0, true},
		{4, 6, 3, false, 4, 2, false},
		{4, 6, 3, false, 4, 3, true},
		{4, 0, 3, false, 4, 4, true},
		{4, 0, 0, true, 4, 1, false},
		{4, 0, 0, true, 4, 0, true},
		{4, 1, 0, true, 4, 1, true},
	}
	for _, test := range tests {
		if got := newEnablement(test.level, test.any, test.all, test.classic).takes(test.event, test.keywords); got != test.want {
			t.Errorf("%+v: got %v", test, got)
		}
	}
	if (New(clr.Provider.Desc)).Enabled(0, 0) {
		t.Error("a provider that is not registered is enabled")
	}
}

// TestControl: sessions enable, change, ask and disable.
func TestControl(t *testing.T) {
	fake := newFake()
	var memory Memory
	local := NewLocal(&memory, etw.Enable{Provider: clr.Provider.Desc, Level: 4, Keywords: 1})
	id := clr.Provider.Desc.GUID
	fake.enable(id, Control{Code: Enable, Level: 4, Any: 1})
	for name, c := range map[string]struct {
		opt     Option
		enable  func(etw.GUID, Control)
		records func() []*etw.Record
	}{
		"ETW":   {func(p *Provider) { p.host = system{fake} }, fake.enable, func() []*etw.Record { return fake.records }},
		"local": {To(local), local.Control, memory.Records},
	} {
		var seen []Control
		arguments := map[string]string{}
		p := New(clr.Provider.Desc, c.opt, OnControl(func(p *Provider, c Control) {
			maps.Insert(arguments, c.Filter.Arguments())
			c.Filter.Data = nil
			seen = append(seen, c)
			if c.Code == CaptureState {
				if err := p.Write(t.Context(), &clr.GCStartV1{Count: 77}); err != nil {
					t.Error(err)
				}
			}
		}))
		if err := p.Register(); err != nil {
			t.Fatal(err)
		}
		if !p.Enabled(4, 1) || p.Enabled(5, 1) || p.Enabled(4, 2) {
			t.Errorf("%s: it is not enabled as before it was registered", name)
		}
		source := etw.GUID{1}
		filter := Filter{FilterSchematized, []byte("FilterAndPayloadSpecs\x00a:b\x00Key\x00\x00rest")}
		c.enable(id, Control{Code: Enable, Session: source, Level: 5, Any: 3, All: 1, Filter: filter})
		if !p.Enabled(5, 1) || p.Enabled(5, 2) {
			t.Errorf("%s: it is not enabled as it was changed", name)
		}
		c.enable(id, Control{Code: CaptureState, Level: 1})
		if !p.Enabled(5, 1) {
			t.Errorf("%s: a question has changed what is enabled", name)
		}
		c.enable(id, Control{Code: Disable})
		if p.Enabled(0, 0) {
			t.Errorf("%s: it is enabled still", name)
		}
		if err := p.Write(t.Context(), &clr.GCStartV1{}); err != nil {
			t.Error(err)
		}
		want := []Control{
			{Code: Enable, Level: 4, Any: 1},
			{Code: Enable, Session: source, Level: 5, Any: 3, All: 1, Filter: Filter{Type: FilterSchematized}},
			{Code: CaptureState, Level: 1}, {Code: Disable},
		}
		if !reflect.DeepEqual(seen, want) {
			t.Errorf("%s: got\n%+v, want\n%+v", name, seen, want)
		}
		if want := map[string]string{"FilterAndPayloadSpecs": "a:b", "Key": ""}; !maps.Equal(arguments, want) {
			t.Errorf("%s: arguments %q, want %q", name, arguments, want)
		}
		if list := c.records(); len(list) != 1 || list[0].ID != 1 {
			t.Errorf("%s: got the records %v", name, list)
		}
		p.Close()
		c.enable(id, Control{Code: Enable})
		if p.Enabled(0, 0) {
			t.Errorf("%s: what is closed is enabled", name)
		}
	}
}

func TestErrors(t *testing.T) {
	fake := newFake()
	p := fake.provider(t, clr.Provider.Desc)
	start := &clr.GCStartV1{}
	if err := p.Register(); err == nil {
		t.Error("it is registered twice")
	}
	for _, code := range []uint32{codeNotEnoughMemory, codeNoSystemResources, codeLogFileFull} {
		fake.fail["EventWriteTransfer"] = code
		if err := p.Write(t.Context(), start); err != nil {
			t.Errorf("code %d: %v", code, err)
		}
	}
	for _, code := range []uint32{codeArithmeticOverflow, codeMoreData} {
		fake.fail["EventWriteTransfer"] = code
		if err := p.Write(t.Context(), start); !errors.Is(err, ErrTooLarge) {
			t.Errorf("code %d: %v", code, err)
		}
	}
	if got, want := p.Stats(), (Stats{Lost: 3, TooLarge: 2}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	fake.fail["EventWriteTransfer"] = codeInvalidParameter
	var failed *Error
	if err := p.Write(t.Context(), start); !errors.As(err, &failed) || failed.Code != codeInvalidParameter {
		t.Errorf("got %v", err)
	}
	delete(fake.fail, "EventWriteTransfer")

	if err := p.Write(t.Context(), &clr.MethodLoadVerboseV1{MethodName: etw.MakeUTF16("a\x00b")}); !errors.Is(err, etw.ErrNUL) {
		t.Errorf("an event that contradicts itself: %v", err)
	}
	if err := p.Write(t.Context(), &kernel.ProcessStartV4{}); !errors.Is(err, ErrKind) {
		t.Errorf("a classic event: %v", err)
	}
	classic := fake.provider(t, kernel.Provider.Desc, Classic())
	if err := classic.Write(t.Context(), start); !errors.Is(err, ErrKind) {
		t.Errorf("an event that is not classic: %v", err)
	}
	if err := p.WriteParts(Activity{}, &etw.EventDesc{Named: true}, nil); !errors.Is(err, ErrKind) {
		t.Errorf("a named event: %v", err)
	}
	fake.fail["EventRegister"], fake.fail["RegisterTraceGuidsW"] = 1450, 5
	for _, opt := range [][]Option{nil, {Classic()}} {
		refused := New(clr.Provider.Desc, append(opt, func(p *Provider) { p.host = system{fake} })...)
		if err := refused.Register(); !errors.As(err, &failed) {
			t.Errorf("got %v", err)
		}
		if err := refused.Write(t.Context(), start); err != nil || refused.Close() != nil {
			t.Errorf("what is not registered writes: %v", err)
		}
	}
	for range 2 {
		if err := errors.Join(p.Close(), p.Write(t.Context(), start)); err != nil {
			t.Errorf("what is closed fails: %v", err)
		}
	}
	if n := len(registrations.all); n != 1 {
		t.Errorf("%d providers are enrolled, want the classic one alone", n)
	}
}

// TestLocalErrors: those of events and of sinks.
func TestLocalErrors(t *testing.T) {
	broken := errors.New("broken")
	p := New(clr.Provider.Desc, To(NewLocal(sinkFunc(func(*etw.Record) error { return broken }))))
	if err := p.Register(); err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if err := p.Write(t.Context(), &clr.GCStartV1{}); !errors.Is(err, broken) {
		t.Errorf("the error of a sink became %v", err)
	}
	if err := p.WriteParts(Activity{}, (&clr.GCStartV1{}).EventDesc(), nil, make([]byte, 40000), make([]byte, 40000)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a large event: %v", err)
	}
	if runtime.GOOS != "windows" {
		if err := New(clr.Provider.Desc).Register(); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("without ETW: %v", err)
		}
	}
}

type sinkFunc func(*etw.Record) error

func (f sinkFunc) Write(r *etw.Record) error { return f(r) }

// TestParts: a payload in parts is one payload, however many there are.
func TestParts(t *testing.T) {
	for _, at := range places() {
		p := at.open(t, clr.Provider.Desc)
		d := (&clr.GCStartV1{}).EventDesc()
		for n := range 40 {
			var parts [][]byte
			var want []byte
			for i := range n {
				parts = append(parts, []byte{byte(i), byte(n)})
				want = append(want, byte(i), byte(n))
			}
			if err := p.WriteParts(Activity{}, d, nil, parts...); err != nil {
				t.Fatal(err)
			}
			list := at.records()
			if got := list[len(list)-1].Payload; string(got) != string(want) {
				t.Errorf("%s: %d parts: got %x, want %x", at.name, n, got, want)
			}
		}
	}
}

func TestActivities(t *testing.T) {
	for _, at := range places() {
		p := at.open(t, clr.Provider.Desc)
		outer := NewActivity(context.Background())
		inner := NewActivity(outer)
		a := ActivityOf(inner)
		if a.ID.IsZero() || a.Related != ActivityOf(outer).ID || a.ID == a.Related || ActivityOf(context.Background()) != (Activity{}) {
			t.Fatalf("got %+v in %+v", a, ActivityOf(outer))
		}
		start, end := &clr.GCStartV1{}, &clr.GCEndV1{}
		if err := errors.Join(p.Write(inner, start), p.Write(inner, end), p.WriteActivity(a, end), p.Write(t.Context(), start)); err != nil {
			t.Fatal(err)
		}
		want := []Activity{a, {ID: a.ID}, a, {}}
		for i, r := range at.records() {
			if got := (Activity{r.ActivityID, r.RelatedActivityID}); got != want[i] {
				t.Errorf("%s: record %d: got %v, want %v", at.name, i, got, want[i])
			}
		}
	}
}

// TestHeader: the additions of options to events.
func TestHeader(t *testing.T) {
	fake := newFake()
	group := etw.GUID{9}
	p := fake.provider(t, &etw.ProviderDesc{Name: "Shop", GUID: etw.GUID{7}}, Channels(16, 17), Group(group))
	for _, channel := range []uint8{16, 17, 18, 0} {
		if err := p.WriteParts(Activity{}, &etw.EventDesc{Channel: channel, Keywords: 1}, nil); err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range []uint64{1<<63 | 1, 1<<62 | 1, 1, 1} {
		if got := fake.records[i].Keywords; got != want {
			t.Errorf("event %d: keywords %#x, want %#x", i, got, want)
		}
	}
	fake.enable(etw.GUID{7}, Control{Code: Enable, Level: 4, Any: 1 << 62}) // as the event log does
	for channel, want := range map[uint8]bool{16: false, 17: true} {
		if got := p.Wants(&etw.EventDesc{Channel: channel, Keywords: 1}); got != want {
			t.Errorf("an event of channel %d is wanted: %v", channel, got)
		}
	}
	want := append([]byte("\x1a\x00Shop\x00\x13\x00\x01"), group[:]...)
	for _, r := range fake.known {
		if string(r.traits) != string(want) {
			t.Errorf("traits %x, want %x", r.traits, want)
		}
	}
	if got, want := New(&etw.ProviderDesc{Name: "System.Runtime"}).Desc().GUID.String(), "49592c0f-5a05-516d-aa4b-a64e02026c89"; got != want {
		t.Errorf("the GUID of a name is %s, want %s", got, want)
	}
}

// TestAllocations: writing allocates nothing, and events need not be on the heap.
func TestAllocations(t *testing.T) {
	fake := newFake()
	ctx := NewActivity(context.Background())
	fake.fail["EventWriteTransfer"] = codeNotEnoughMemory // so that the fake keeps nothing
	local := New(clr.Provider.Desc, To(NewLocal(sinkFunc(func(*etw.Record) error { return nil }))))
	if err := local.Register(); err != nil {
		t.Fatal(err)
	}
	defer local.Close()
	parts := []byte("0123456789")
	name := etw.MakeUTF16("name")
	for where, p := range map[string]*Provider{"ETW": fake.provider(t, clr.Provider.Desc), "local": local} {
		n := testing.AllocsPerRun(1000, func() {
			_ = p.Write(ctx, &clr.GCStartV1{Count: 7})
			_ = p.Write(ctx, &clr.MethodLoadVerboseV1{MethodNamespace: name, MethodName: name, MethodSignature: name})
			_ = p.WriteActivity(Activity{}, &clr.GCEndV1{})
			_ = p.WriteParts(Activity{}, gcStart, nil, parts[:4], parts[4:])
		})
		if n != 0 && !raceEnabled { // a pool forgets things on purpose then
			t.Errorf("%s: writing allocates %v times", where, n)
		}
	}
}

var gcStart = (&clr.GCStartV1{}).EventDesc()

// TestGoroutines: several write, while sessions come and go.
func TestGoroutines(t *testing.T) {
	for _, at := range places() {
		p := at.open(t, clr.Provider.Desc)
		var wg sync.WaitGroup
		for g := range 4 {
			wg.Go(func() {
				for i := range 100 {
					if err := p.Write(t.Context(), &clr.GCStartV1{Count: uint32(100*g + i)}); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		seen := make(map[uint32]bool)
		for _, r := range at.records() {
			var e clr.GCStartV1
			if _, err := e.DecodePayload(r.Payload, r.PointerSize); err != nil {
				t.Fatal(err)
			}
			seen[e.Count] = true
		}
		if len(seen) != 400 {
			t.Errorf("%s: %d different events of 400", at.name, len(seen))
		}
		var rest sync.WaitGroup
		for range 2 {
			rest.Go(func() {
				for range 100 {
					_ = p.Write(t.Context(), &clr.GCStartV1{}) // the handle may be gone
				}
			})
		}
		p.Close()
		rest.Wait()
	}
}

// TestSinks: written events come out of channels, and of memory by a Mux.
func TestSinks(t *testing.T) {
	c := make(chan *etw.Record, 3)
	var memory Memory
	l := NewLocal(sinkFunc(func(r *etw.Record) error { return errors.Join(memory.Write(r), Channel(c).Write(r)) }))
	p := New(clr.Provider.Desc, To(l))
	if err := p.Register(); err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for i := range 3 {
		if err := p.Write(t.Context(), &clr.GCStartV1{Count: uint32(i)}); err != nil {
			t.Fatal(err)
		}
	}
	var mux etw.Mux
	n, last := uint32(0), int64(0)
	etw.Handle(&mux, func(r *etw.Record, e *clr.AnyGCStart) error {
		if e.Count != n || r.Timestamp < last || r.Clock != l.Clock() || r.ProviderName != clr.Provider.Desc.Name {
			t.Errorf("record %d: %v %+v", n, e, r)
		}
		n, last = n+1, r.Timestamp
		return nil
	})
	if err := mux.Run(context.Background(), memory.Source()); err != nil || n != 3 {
		t.Errorf("%d records: %v", n, err)
	}
	for i := range 3 {
		if got := (<-c).Timestamp; got != memory.Records()[i].Timestamp {
			t.Errorf("record %d of the channel is of %d", i, got)
		}
	}
}

func BenchmarkEnabled(b *testing.B) {
	p := New(clr.Provider.Desc, To(NewLocal(&Memory{}, etw.Enable{Provider: clr.Provider.Desc, Level: 4, Keywords: 2})))
	if err := p.Register(); err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	for _, c := range []struct {
		name     string
		provider *Provider
	}{{"no session", New(clr.Provider.Desc)}, {"other keyword", p}} {
		b.Run(c.name, func(b *testing.B) {
			yes := 0
			for range b.N {
				if c.provider.Enabled(4, 1) {
					yes++
				}
			}
			if yes > 0 {
				b.Fatal("it is enabled")
			}
		})
	}
}

func BenchmarkWrite(b *testing.B) {
	p := New(clr.Provider.Desc, To(NewLocal(sinkFunc(func(*etw.Record) error { return nil }))))
	if err := p.Register(); err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	ctx := context.Background()
	b.ReportAllocs()
	for b.Loop() {
		_ = p.Write(ctx, &clr.GCStartV1{Count: 7})
	}
}
