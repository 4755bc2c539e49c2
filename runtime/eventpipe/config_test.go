package eventpipe

import (
	"context"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
)

// TestCollectPayloads holds each version of the command against bytes that were
// written by hand.
func TestCollectPayloads(t *testing.T) {
	const (
		name  = "02000000 5400 0000" // "T"
		noArg = "00000000"
		keys  = "2100000000000000" + "04000000"
	)
	provider := Provider{Name: "T", Keywords: 0x21, Level: 4}
	filtered := provider
	filtered.Filter = &Filter{IDs: []uint16{1, 300}}
	except := provider
	except.Arguments, except.Filter = "A=1", &Filter{IDs: []uint16{5}, Except: true}
	for _, test := range []struct {
		cfg  Config
		cmd  command
		want string
	}{
		{Config{}, collectTracing, "00010000 01000000 00 01000000" + keys + name + noArg},
		{Config{Rundown: DefaultRundown, BufferMB: 10}, collectTracing, "0a000000 01000000 01 01000000" + keys + name + noArg},
		{Config{WithoutStacks: true, Rundown: DefaultRundown}, collect3, "00010000 01000000 01 00 01000000" + keys + name + noArg},
		{Config{Rundown: 0x10}, collect4, "00010000 01000000 1000000000000000 01 01000000" + keys + name + noArg},
		{Config{Providers: []Provider{filtered}}, collect5, "00000000 00010000 01000000 0000000000000000 01 01000000" +
			keys + name + noArg + "01 02000000 01000000 2c010000"},
		{Config{Providers: []Provider{except, provider}}, collect5, "00000000 00010000 01000000 0000000000000000 01 02000000" +
			keys + name + "04000000 4100 3d00 3100 0000" + "00 01000000 05000000" + keys + name + noArg + "00 00000000"},
		{Config{Block: true}, collect6, "00000000 00010000 01000000 0000000000000000 01 01000000" + keys + name + noArg + "00 00000000" + "01000000"},
	} {
		if test.cfg.Providers == nil {
			test.cfg.Providers = []Provider{provider}
		}
		m := test.cfg.message()
		if m.cmd != test.cmd {
			t.Errorf("%+v: %v, want %v", test.cfg, m.cmd, test.cmd)
		}
		want := strings.ReplaceAll(test.want, " ", "")
		if diff := cmp.Diff(want, hex.EncodeToString(m.buf[headerSize:])); diff != "" {
			t.Errorf("%v (-want +got):\n%s", m.cmd, diff)
		}
	}
}

// TestInvalidConfigs checks that nothing is sent that runtimes do not take.
func TestInvalidConfigs(t *testing.T) {
	good := Provider{Name: "T"}
	for _, cfg := range []Config{
		{},
		{Providers: make([]Provider, maxProviders+1)},
		{Providers: []Provider{{}}},
		{Providers: []Provider{{Name: "T", Level: 6}}},
		{Providers: []Provider{{Name: "T\x00U"}}},
		{Providers: []Provider{{Name: "T\xff"}}},
		{Providers: []Provider{{Name: "T", Arguments: "A=\x00"}}},
		{Providers: []Provider{{Name: "T", Filter: new(Filter)}}},
		{Providers: []Provider{good}, BufferMB: -1},
		{Providers: []Provider{good}, BufferMB: maxBufferMB + 1},
		{Providers: []Provider{good}, StopTimeout: -1},
		{Providers: []Provider{{Name: "T", Arguments: strings.Repeat("a", 40_000)}}}, // longer than a message
	} {
		c := &Client{name: "test", connect: func(context.Context) (conn, error) {
			t.Errorf("%+v is sent", cfg)
			return nil, errors.New("not now")
		}}
		_, err := c.Start(context.Background(), cfg)
		wantError(t, "Start", err, ErrInvalid)
	}
}

func TestProviders(t *testing.T) {
	if got, want := Arguments("A", "1", "B", "x;y", "C", "a=b"), `A=1;B="x;y";C="a=b"`; got != want {
		t.Errorf("Arguments: %s, want %s", got, want)
	}
	p := Provider{Name: "T", Keywords: 0x21, Level: 4, Arguments: "A=1"}
	if got, want := p.String(), "T:0x21:4:A=1"; got != want {
		t.Errorf("String: %s, want %s", got, want)
	}
	var mux etw.Mux
	etw.Handle(&mux, func(*etw.Record, *clr.AnyGCStart) error { return nil })
	want := []Provider{{Name: "Microsoft-Windows-DotNETRuntime", Keywords: 1, Level: 4}}
	if diff := cmp.Diff(want, ForMux(&mux)); diff != "" {
		t.Errorf("ForMux (-want +got):\n%s", diff)
	}
	filtered := Provider{Name: "T", Filter: &Filter{IDs: []uint16{1}}}
	merged := Merge([]Provider{{Name: "T", Keywords: 1, Level: 5}, {Name: "U"}, {Name: "T", Keywords: 2, Level: 4}, filtered, p})
	want = []Provider{{Name: "T", Keywords: 3, Level: 5}, {Name: "U"}, filtered, p}
	if diff := cmp.Diff(want, merged); diff != "" {
		t.Errorf("Merge (-want +got):\n%s", diff)
	}
}

func TestProfiles(t *testing.T) {
	for _, p := range Profiles() {
		cfg := Config{Providers: p.Providers, Rundown: p.Rundown}
		if err := cfg.check(); err != nil || cfg.command() != collectTracing {
			t.Errorf("%s: %v, %v", p.Name, err, cfg.command())
		}
		if found, ok := FindProfile(p.Name); !ok || found.Doc != p.Doc {
			t.Errorf("%s is not found", p.Name)
		}
	}
	if _, ok := FindProfile("nothing"); ok {
		t.Error("a profile called nothing")
	}
}
