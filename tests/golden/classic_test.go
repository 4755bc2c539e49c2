package golden

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etwgen/etwgen/runtime/etw"
	classic "github.com/etwgen/etwgen/tests/golden/classic/want"
)

// The classes of the case named classic.
var (
	jobClass    = must(etw.ParseGUID("{5d1f7a10-11b2-4a5c-9d3e-7f0c52a1b001}"))
	moduleClass = must(etw.ParseGUID("{5d1f7a10-11b2-4a5c-9d3e-7f0c52a1b002}"))
	clockClass  = must(etw.ParseGUID("{5d1f7a10-11b2-4a5c-9d3e-7f0c52a1b003}"))
)

// classicRecord returns a record as the kernel writes it, of a program with
// pointers of 4 bytes.
func classicRecord(class etw.GUID, opcode etw.Opcode, version uint8, e etw.Event) *etw.Record {
	return &etw.Record{
		Kind: etw.KindClassic, Provider: class, Opcode: opcode, Version: version,
		PointerSize: etw.Ptr32, Payload: must(e.AppendPayload(nil, etw.Ptr32)),
	}
}

// TestClassicEvents dispatches records that say class and opcode and no id: to the
// type of a version, and to those of all versions.
func TestClassicEvents(t *testing.T) {
	var mux etw.Mux
	var got []string
	etw.Handle(&mux, func(_ *etw.Record, e *classic.JobStartV2) error {
		got = append(got, "v2 "+e.String())
		return nil
	})
	etw.Handle(&mux, func(_ *etw.Record, e *classic.AnyJobStart) error {
		got = append(got, "any "+e.String())
		return nil
	})
	etw.Handle(&mux, func(_ *etw.Record, e *classic.ModuleLoad) error {
		got = append(got, e.String())
		return nil
	})
	etw.Handle(&mux, func(_ *etw.Record, e *classic.AnyClockLoad) error {
		got = append(got, e.String())
		return nil
	})
	etw.Handle(&mux, func(_ *etw.Record, e *classic.ModuleStop) error {
		got = append(got, e.String())
		return nil
	})
	v2 := &classic.JobStartV2{UniqueKey: 0x10, ProcessID: 4, UserSID: etw.MakeSID(5, 18), ImageFileName: etw.ANSI("a.exe"), CommandLine: etw.MakeUTF16("a b")}
	module := &classic.ModuleLoad{Base: 0x20, Size: 0x30, FileName: etw.MakeUTF16("m.dll")}
	records := []*etw.Record{
		classicRecord(jobClass, 1, 0, &classic.JobStart{ProcessID: 7, ImageFileName: etw.ANSI("b.exe")}),
		classicRecord(jobClass, 1, 2, v2),
		classicRecord(jobClass, 1, 3, v2), // a newer one
		classicRecord(moduleClass, 10, 0, module),
		classicRecord(clockClass, 10, 0, &classic.ClockLoad{Ticks: 9}),
		classicRecord(moduleClass, 2, 0, module),
		classicRecord(jobClass, 99, 0, module), // of no opcode that is known
		{ID: 10, PointerSize: etw.Ptr64, Provider: classic.Provider.Desc.GUID, Payload: must(module.AppendPayload(nil, etw.Ptr64))},
	}
	for _, r := range records {
		if err := mux.Dispatch(r); err != nil {
			t.Fatal(err)
		}
	}
	const start = `JobStart UniqueKey=0x10 ProcessId=4 UserSID=S-1-5-18 ImageFileName=a.exe CommandLine="a b"`
	want := []string{
		"any JobStart ProcessId=0x7 ImageFileName=b.exe",
		"v2 " + start,
		"any " + start,
		"any " + start,
		"ModuleLoad Base=0x20 Size=0x30 FileName=m.dll",
		"ClockLoad Ticks=9",
		"Module/Stop Base=0x20 Size=0x30 FileName=m.dll",
		"ModuleLoad Base=0x20 Size=0x30 FileName=m.dll",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if s := mux.Stats(); s.Newer != 1 || s.Unhandled != 1 || s.Undecodable != 0 {
		t.Errorf("mux: %v", s)
	}
}

// TestClassicProvider: the provider lists the events that records lead to, and the keys.
func TestClassicProvider(t *testing.T) {
	var got []string
	for _, d := range classic.Provider.Events {
		got = append(got, d.Title()+" "+d.Key().String())
	}
	want := []string{
		"ModuleLoad 0e1d9b5a-93a3-4c8e-8f0e-1c6f3c2d7a10/10.0",
		"ClockTick 0e1d9b5a-93a3-4c8e-8f0e-1c6f3c2d7a10/46.0",
		"JobStart classic " + jobClass.String() + "/1.0",
		"JobStart classic " + jobClass.String() + "/1.1",
		"JobStart classic " + jobClass.String() + "/1.2",
		"JobStop classic " + jobClass.String() + "/2.2",
		"Module classic " + moduleClass.String() + "/0.0",
		"Module/Stop classic " + moduleClass.String() + "/2.0",
		"ClockLoad classic " + clockClass.String() + "/10.0",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	registry := etw.NewRegistry(classic.Provider)
	for _, d := range classic.Provider.Events {
		if found := registry.Lookup(d.Key()); found != d {
			t.Errorf("%v leads to %v", d.Key(), found)
		}
	}
}
