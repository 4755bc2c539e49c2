package tracefilereceiver

import (
	"context"
	"path/filepath"
	"sync"
	"testing"

	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/receiver/receivertest"
	"go.opentelemetry.io/collector/receiver/xreceiver"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/etwgen/etwgen/collector/tracefilereceiver/internal/metadata"
)

// A profileSink counts profiles, and sums their values by the types of these.
type profileSink struct {
	mu     sync.Mutex
	bodies int
	sums   map[string]int64
	first  int64
}

func (s *profileSink) Capabilities() consumer.Capabilities { return consumer.Capabilities{} }

func (s *profileSink) ConsumeProfiles(_ context.Context, data pprofile.Profiles) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bodies++
	texts := data.Dictionary().StringTable()
	for _, of := range data.ResourceProfiles().All() {
		for _, scope := range of.ScopeProfiles().All() {
			for _, p := range scope.Profiles().All() {
				s.first = p.Time().AsTime().Unix()
				for _, x := range p.Samples().All() {
					s.sums[texts.At(int(p.SampleType().TypeStrindex()))] += x.Values().At(0)
				}
			}
		}
	}
	return nil
}

// TestProfiles has the samples of a trace as profiles, with the times of the trace, and once.
func TestProfiles(t *testing.T) {
	dir := t.TempDir()
	copyOf(t, "../../tests/recorded/answers/exceptions-10.nettrace", filepath.Join(dir, "a.nettrace"))
	keep := new(memory)
	s := &profileSink{sums: make(map[string]int64)}
	for range 2 { // as after a restart
		set := receivertest.NewNopSettings(metadata.Type)
		core, seen := observer.New(zap.InfoLevel)
		set.Logger = zap.New(core)
		r, err := NewFactory().(xreceiver.Factory).CreateProfiles(t.Context(), set, config(dir), s)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Start(t.Context(), hostOf(keep)); err != nil {
			t.Fatal(err)
		}
		wait(t, "all is read", func() bool { return seen.FilterMessageSnippet("all files are read").Len() > 0 })
		if err := r.Shutdown(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	if s.bodies != 1 || s.sums["exceptions"] != 7 {
		t.Errorf("%d bodies, %v", s.bodies, s.sums)
	}
	if year := s.first / (365 * 24 * 3600); year < 50 || year > 60 {
		t.Errorf("they begin at %d", s.first)
	}
}

func TestProgram(t *testing.T) {
	for line, want := range map[string]string{"": "", "/srv/shop --port 1": "shop", `"C:\shop\Shop.exe" x`: "Shop.exe", "dotnet shop.dll": "shop", "/usr/bin/dotnet run": "dotnet"} {
		if got := program(line); got != want {
			t.Errorf("%q is of %q, want %q", line, got, want)
		}
	}
}
