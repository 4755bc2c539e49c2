package windows_test

import (
	"slices"
	"testing"

	"github.com/etwgen/etwgen/generated/windows"
	"github.com/etwgen/etwgen/generated/windows/disk"
	"github.com/etwgen/etwgen/generated/windows/file"
	"github.com/etwgen/etwgen/generated/windows/network"
	"github.com/etwgen/etwgen/generated/windows/process"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/manifest"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/corpus"
)

// whole are the packages that have all events of their providers.
var whole = []*etw.Provider{process.Provider, network.Provider, file.Provider, disk.Provider}

// grown are the events that have one field more since Windows 8, and the same version.
var grown = []string{"DirtyTransition_V2", "HandleRequested_V1"}

// The fields of each event are those that Windows has registered, in all versions that
// any Windows has.
func TestAsRegistered(t *testing.T) {
	for _, of := range []string{"win7-7600", "win10-17134"} {
		for _, p := range windows.Providers {
			m := testio.ParseFile(t, manifest.ParseFile, corpus.File(t, "manifests", of, p.Desc.Name+".xml"), manifest.Options{Lenient: true})
			compare(t, of, p, m.Providers[0])
		}
	}
}

func compare(t *testing.T, of string, p *etw.Provider, want *manifest.Provider) {
	if p.Desc.GUID != want.GUID {
		t.Errorf("%s: %v, want %v", p.Desc.Name, p.Desc.GUID, want.GUID)
	}
	known, has := make(map[etw.Key]*etw.EventDesc), make(map[uint16]bool)
	for _, d := range p.Events {
		known[etw.Key{Kind: d.Kind, ID: d.ID, Version: d.Version}] = d
		has[d.ID] = !slices.Contains(whole, p)
	}
	for _, e := range want.Events {
		d := known[etw.Key{Kind: etw.KindManifest, ID: uint16(e.ID), Version: e.Version}]
		if d == nil {
			if slices.Contains(whole, p) && (p != process.Provider || e.ID < 15) || has[uint16(e.ID)] { // what is left out of processes is of jobs
				t.Errorf("%s: %s: event %d version %d is missing", of, p.Desc.Name, e.ID, e.Version)
			}
			continue
		}
		var fields []*manifest.Field
		if e.Template != nil {
			fields = e.Template.Fields
		}
		opaque := slices.IndexFunc(fields, func(f *manifest.Field) bool { return f.Type == manifest.Opaque })
		if opaque >= 0 { // an address that what is registered has no length of
			fields = fields[:opaque]
		}
		if of == "win7-7600" && slices.Contains(grown, d.Name) {
			fields = append(slices.Clip(fields), &manifest.Field{Name: d.Fields[len(fields)].Name, Type: d.Fields[len(fields)].Type})
		}
		if len(fields) != len(d.Fields) && opaque < 0 {
			t.Errorf("%s: %s has %d fields, want %d", of, d.Name, len(d.Fields), len(fields))
			continue
		}
		for i, f := range fields {
			got := &d.Fields[i]
			same := got.Type == f.Type || got.Type == etw.InUInt32 && f.Type == etw.InHexInt32 || got.Type == etw.InHexInt32 && f.Type == etw.InUInt32
			if got.Name != f.Name || !same {
				t.Errorf("%s: %s.%s is %v, want %s %v", of, d.Name, got.Name, got.Type, f.Name, f.Type)
			}
		}
	}
}

// An event of the network or of processes is about whom it names.
func TestSubject(t *testing.T) {
	for _, c := range []struct {
		e    etw.Event
		want int64
	}{
		{&network.TCPSend{PID: 7}, 7},
		{&network.UDPReceiveIPv6{PID: 7, Daddr: make([]byte, 16), Saddr: make([]byte, 16)}, 7},
		{&network.TCPFail{Proto: 1}, 3},
		{&process.Start{ProcessID: 7}, 7},
		{&process.Rundown{ProcessID: 7}, 7},
		{&process.ImageLoad{ImageBase: 0x10000, ProcessID: 7}, 7},
		{&process.JobStart{JobID: 7}, 3},
	} {
		d := c.e.EventDesc()
		payload, err := c.e.(interface {
			AppendPayload([]byte, etw.PtrSize) ([]byte, error)
		}).AppendPayload(nil, etw.Ptr64)
		if err != nil {
			t.Fatal(err)
		}
		r := &etw.Record{Kind: etw.KindManifest, Provider: d.Provider.GUID, ID: d.ID, ProcessID: 3, PointerSize: etw.Ptr64, Payload: payload}
		if got := windows.Subject(r); got != c.want {
			t.Errorf("%s: %d, want %d", d.Name, got, c.want)
		}
		if r.Payload = nil; windows.Subject(r) != 3 {
			t.Errorf("%s without a payload: %d", d.Name, windows.Subject(r))
		}
	}
}

// The manifest is in the form of those that people write.
func TestManifest(t *testing.T) {
	if _, warnings, err := manifest.ParseFile("windows.man", manifest.Options{}); err != nil || len(warnings) > 0 {
		t.Error(err, warnings)
	}
}
