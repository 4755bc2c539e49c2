package manifest_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/etwgen/etwgen/internal/builtin"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/manifest"
	"github.com/etwgen/etwgen/runtime/etw"
)

// TestDescribe holds the descriptions that are made at run time against those
// that the generator made of the same manifest.
func TestDescribe(t *testing.T) {
	var got []*etw.Provider
	files := testio.Glob(t, "../generated/*/*.man")
	windows := testio.Glob(t, "../generated/windows/*/*.man")
	files = append(files, windows...)
	for _, path := range files {
		m := testio.ParseFile(t, manifest.ParseFile, path, manifest.Options{})
		got = append(got, m.Describe()...)
	}
	if len(got) != len(builtin.Providers) {
		t.Fatalf("%d providers, want %d", len(got), len(builtin.Providers))
	}
	generated := make(map[etw.GUID]*etw.Provider)
	for _, p := range builtin.Providers {
		generated[p.Desc.GUID] = p.Provider
	}
	// Facts that only generated code has.
	own := cmpopts.IgnoreFields(etw.ProviderDesc{}, "Generated")
	for _, p := range got {
		if diff := cmp.Diff(generated[p.Desc.GUID], p, own, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-generated +described):\n%s", p.Desc.Name, diff)
		}
	}
}

// TestClasses: classic events are found by class and opcode, whatever their id.
func TestClasses(t *testing.T) {
	const src = `<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events" xmlns:win="http://manifests.microsoft.com/win/2004/08/windows/events">
	<instrumentation><events><provider name="Kernel" guid="{11111111-2222-3333-4444-555555555555}">
	<tasks>
		<task name="Job" value="1" eventGUID="{aaaaaaaa-2222-3333-4444-555555555555}"><opcodes><opcode name="Add" value="20"/></opcodes></task>
		<task name="Plain" value="2"/>
	</tasks>
	<templates><template tid="T"><data name="F" inType="win:UInt8"/></template></templates>
	<events>
		<event value="70001" version="1" task="Job" opcode="Add" template="T" symbol="JobAdd_V1"/>
		<event value="70001" version="0" task="Job" opcode="Add" symbol="JobAdd"/>
		<event value="2" task="Job" opcode="win:Start" symbol="JobStart"/>
		<event value="3" task="Plain" symbol="Plain"/>
		<event value="4" symbol="None"/>
	</events></provider></events></instrumentation></instrumentationManifest>`
	m := testio.Parse(t, manifest.Parse, "kernel.man", src, manifest.Options{Lenient: true})
	p := m.Describe()[0]
	var got []string
	for _, d := range p.Events {
		got = append(got, fmt.Sprintf("%v %s %d fields", d.Key(), d.Name, len(d.Fields)))
		if d.Provider != p.Desc {
			t.Errorf("%s is of %v", d.Name, d.Provider)
		}
	}
	const provider, class = "11111111-2222-3333-4444-555555555555", "aaaaaaaa-2222-3333-4444-555555555555"
	want := []string{
		provider + "/2.0 JobStart 0 fields",
		provider + "/3.0 Plain 0 fields",
		provider + "/4.0 None 0 fields",
		"classic " + class + "/20.0 JobAdd 0 fields",
		"classic " + class + "/20.1 JobAdd_V1 1 fields",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	g := etw.NewRegistry(p)
	if d := g.Lookup(etw.Key{Kind: etw.KindClassic, Provider: etw.MustParseGUID(class), ID: 1}); d == nil || d.Name != "JobStart" {
		t.Errorf("the classic form of JobStart leads to %v", d)
	}
}
