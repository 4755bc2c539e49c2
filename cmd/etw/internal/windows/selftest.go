package windows

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/provider"
	"github.com/etwgen/etwgen/runtime/provider/tracelogging"
	"github.com/etwgen/etwgen/runtime/session"
)

// A selfTest tries the features that need a real Windows.
type selfTest struct {
	events int // to each session
	steps  []selfTestStep
	failed bool
}

// A selfTestStep is a line of the report.
type selfTestStep struct {
	name string
	took time.Duration
	note string
	err  error
}

// main does all steps and prints their outcomes.
func (t *selfTest) main(cmd *cobra.Command, out *show.Output) error {
	if runtime.GOOS != "windows" { // a constant: what follows is not linked there
		return session.Supported()
	}
	if _, err := session.List(); err != nil {
		return err
	}
	ctx := cmd.Context()
	t.step("etw "+cmd.Root().Version, func() (string, error) { return runtime.GOOS + "/" + runtime.GOARCH + ", " + runtime.Version(), nil })
	t.step("list sessions", func() (string, error) {
		list, err := session.List()
		return fmt.Sprintf("%d run", len(list)), err
	})
	t.step("write and read, event by event", func() (string, error) { return t.roundTrip(ctx, session.DeliverEvents) })
	t.step("write and read, in whole buffers", func() (string, error) { return t.roundTrip(ctx, session.DeliverBuffers) })
	t.step("events that describe themselves", func() (string, error) { return t.selfDescribing(ctx) })
	t.step("capture the state", func() (string, error) { return t.captureState(ctx) })
	t.step("start and stop", func() (string, error) { return t.rounds(ctx) })
	table := show.NewTable(show.Word("step"), show.Word("result"), show.Num("ms"), show.Word("note"))
	for _, s := range t.steps {
		result, note := "ok", s.note
		switch {
		case errors.Is(s.err, errors.ErrUnsupported):
			result, note = "not here", s.err.Error()
		case s.err != nil:
			result, note = "FAILED", s.err.Error()
		}
		table.Add(s.name, result, fmt.Sprint(s.took.Milliseconds()), note)
	}
	p := out.Open(cmd, false)
	if err := p.Close(table.Write(p)); err != nil || !t.failed {
		return err
	}
	return cli.ErrReported
}

// step does one step. A feature that this Windows lacks is no failure.
func (t *selfTest) step(name string, do func() (string, error)) {
	begun := time.Now()
	note, err := do()
	t.steps = append(t.steps, selfTestStep{name, time.Since(begun), note, err})
	t.failed = t.failed || err != nil && !errors.Is(err, errors.ErrUnsupported)
}

// patience is how long events may take.
const patience = 20 * time.Second

// open returns a session, and a provider that it has enabled.
func (t *selfTest) open(ctx context.Context, desc *etw.ProviderDesc, d session.Delivery, opts ...provider.Option) (*session.Session, *provider.Provider, error) {
	p := provider.New(desc, opts...)
	if err := p.Register(); err != nil {
		return nil, nil, err
	}
	s, err := session.Start(ctx, session.Config{
		Providers:   []session.Provider{{Name: desc.Name, GUID: desc.GUID, Enablement: session.Enablement{Level: 255, Keywords: 1<<64 - 1, Timeout: patience}}},
		Consumption: session.Consumption{Delivery: d},
	})
	if err != nil {
		p.Close()
		return nil, nil, err
	}
	for begun := time.Now(); !p.Enabled(etw.LevelCritical, 1); time.Sleep(time.Millisecond) {
		if time.Since(begun) > patience {
			s.Close()
			p.Close()
			return nil, nil, fmt.Errorf("the provider was not enabled within %v", patience)
		}
	}
	return s, p, nil
}

// selfTestProvider is that of the test, with the layout of an event of the runtime.
var selfTestProvider = &etw.ProviderDesc{Name: "Etwgen-Self-Test", GUID: etw.NameGUID("Etwgen-Self-Test")}

// roundTrip writes events of a generated type and compares the events that a session delivers.
func (t *selfTest) roundTrip(ctx context.Context, d session.Delivery) (string, error) {
	s, p, err := t.open(ctx, selfTestProvider, d)
	if err != nil {
		return "", err
	}
	defer p.Close()
	defer s.Close()
	defer time.AfterFunc(patience+time.Duration(t.events)*time.Millisecond, func() { s.Close() }).Stop()
	written := make(chan error, 1)
	go func() {
		var err error
		for i := 0; i < t.events && err == nil; i++ {
			err = writeEvent(p, provider.ActivityOf(provider.NewActivity(ctx)), selfTestEvent(i))
		}
		if stop := s.Stop(ctx); err == nil {
			err = stop
		}
		written <- err
	}()
	n, wrong := 0, ""
	for r, err := range s.Records() {
		if err != nil {
			return "", err
		}
		if r.Provider != selfTestProvider.GUID {
			continue
		}
		var got clr.ExceptionThrownV1
		_, err := got.DecodePayload(r.Payload, r.PointerSize)
		if want := selfTestEvent(n); wrong == "" && (err != nil || got.String() != want.String() || r.ActivityID.IsZero()) {
			wrong = fmt.Sprintf("event %d is %v (%v), want %v", n, got, err, want)
		}
		n++
	}
	if err := <-written; err != nil {
		return "", err
	}
	stats := s.Stats()
	switch {
	case wrong != "":
		return "", errors.New(wrong)
	case n != t.events:
		return "", fmt.Errorf("%d of %d events came out: %v, not written %+v", n, t.events, stats, p.Stats())
	}
	return fmt.Sprintf("%d of %d are equal; %v", n, t.events, stats), nil
}

// selfTestEvent returns the event of a number.
func selfTestEvent(i int) *clr.ExceptionThrownV1 {
	return &clr.ExceptionThrownV1{
		ExceptionType: etw.MakeUTF16("etw self-test"), ExceptionMessage: etw.MakeUTF16(fmt.Sprint("event ", i)),
		ExceptionEIP: etw.Pointer(i), ExceptionHRESULT: uint32(i), ClrInstanceID: uint16(i),
	}
}

// writeEvent writes an event as [provider.Provider.Write] does. That takes events of all
// types, and so the tool would have the encoders of all that it decodes.
func writeEvent(p *provider.Provider, a provider.Activity, e *clr.ExceptionThrownV1) error {
	payload, err := e.AppendPayload(nil, 4<<(^uintptr(0)>>63))
	if err != nil {
		return err
	}
	return p.WriteParts(a, e.EventDesc(), nil, payload)
}

type selfTestStruct struct {
	Number int
	Text   string
	List   []uint16
	When   time.Time
}

// selfDescribing writes a struct, and has it decoded by its own description.
func (t *selfTest) selfDescribing(ctx context.Context) (string, error) {
	s, p, err := t.open(ctx, selfTestProvider, session.DeliverBest)
	if err != nil {
		return "", err
	}
	defer p.Close()
	defer s.Close()
	e, err := tracelogging.Define[selfTestStruct](p, "Described", tracelogging.Options{Keywords: 1})
	if err != nil {
		return "", err
	}
	if err := e.Write(ctx, &selfTestStruct{-7, "text", []uint16{1, 2}, time.Unix(1, 0)}); err != nil {
		return "", err
	}
	const want = `Described Number=-7 Text=text List=[1 2] When=1970-01-01T00:00:01.0000000Z`
	decoder := etw.NewDecoder()
	got, err := t.collect(ctx, s, func(r *etw.Record) string {
		values, err := decoder.Decode(r)
		if err != nil {
			return err.Error()
		}
		return fmt.Sprint(values)
	})
	if err == nil && !slices.Equal(got, []string{want}) {
		err = fmt.Errorf("got %q, want %q", got, want)
	}
	return "", err
}

// captureState asks the provider for its state.
func (t *selfTest) captureState(ctx context.Context) (string, error) {
	asked := make(chan error, 1)
	s, p, err := t.open(ctx, selfTestProvider, session.DeliverBest, provider.OnControl(func(p *provider.Provider, c provider.Control) {
		if c.Code == provider.CaptureState {
			asked <- writeEvent(p, provider.ActivityOf(ctx), selfTestEvent(7))
		}
	}))
	if err != nil {
		return "", err
	}
	defer p.Close()
	defer s.Close()
	if err := s.CaptureState(selfTestProvider.GUID, 1); err != nil {
		return "", err
	}
	select {
	case err = <-asked:
	case <-time.After(patience):
		err = fmt.Errorf("the provider was not asked within %v", patience)
	}
	if err != nil {
		return "", err
	}
	got, err := t.collect(ctx, s, func(r *etw.Record) string { return fmt.Sprint(r.ID) })
	if err == nil && len(got) != 1 {
		err = fmt.Errorf("%d events tell of the state", len(got))
	}
	return "", err
}

// collect stops a session, and returns the answers of a function for each event of the test.
func (t *selfTest) collect(ctx context.Context, s *session.Session, say func(*etw.Record) string) ([]string, error) {
	if err := s.Stop(ctx); err != nil {
		return nil, err
	}
	var list []string
	for r, err := range s.Records() {
		if err != nil {
			return list, err
		}
		if r.Provider == selfTestProvider.GUID {
			list = append(list, say(r))
		}
	}
	return list, nil
}

// rounds starts and stops sessions.
func (t *selfTest) rounds(ctx context.Context) (string, error) {
	const rounds = 10
	slowest := time.Duration(0)
	for range rounds {
		s, p, err := t.open(ctx, selfTestProvider, session.DeliverBest)
		if err != nil {
			return "", err
		}
		p.Close()
		begun := time.Now()
		if err := s.Close(); err != nil {
			return "", err
		}
		slowest = max(slowest, time.Since(begun))
	}
	return fmt.Sprintf("%d rounds; the slowest stop took %d ms", rounds, slowest.Milliseconds()), nil
}
