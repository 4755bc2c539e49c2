package schema_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/etwgen/etwgen/internal/decode"
	"github.com/etwgen/etwgen/internal/schema"
	"github.com/etwgen/etwgen/manifest"
	"github.com/etwgen/etwgen/runtime/etw"
)

// TestProviders holds the descriptions that are made at run time against those
// that the generator made of the same manifest.
func TestProviders(t *testing.T) {
	m, _, err := manifest.ParseFile(filepath.Join("..", "..", "generated", "clr", "clr.man"), manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, _ := schema.Providers(m)
	if len(got) != len(decode.Builtins) {
		t.Fatalf("%d providers, want %d", len(got), len(decode.Builtins))
	}
	generated := make(map[etw.GUID]*etw.Provider)
	for _, p := range decode.Builtins {
		generated[p.Desc.GUID] = p.Provider
	}
	// What only generated code has.
	own := cmpopts.IgnoreFields(etw.EventDesc{}, "New", "Extends")
	for _, p := range got {
		if diff := cmp.Diff(generated[p.Desc.GUID], p, own, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-generated +schema):\n%s", p.Desc.Name, diff)
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
	m, _, err := manifest.Parse("kernel.man", []byte(src), manifest.Options{Lenient: true})
	if err != nil {
		t.Fatal(err)
	}
	_, classes := schema.Providers(m)
	if len(classes) != 1 {
		t.Fatalf("%d classes, want 1", len(classes))
	}
	if want := (etw.ProviderDesc{Name: "Job", GUID: etw.MustParseGUID("aaaaaaaa-2222-3333-4444-555555555555")}); *classes[0].Desc != want {
		t.Errorf("class %v, want %v", *classes[0].Desc, want)
	}
	var got []string
	for _, d := range classes[0].Events {
		got = append(got, fmt.Sprintf("%d.%d %s %d fields", d.ID, d.Version, d.Name, len(d.Fields)))
		if d.Provider != classes[0].Desc {
			t.Errorf("%s is of %v", d.Name, d.Provider)
		}
	}
	want := []string{"1.0 JobStart 0 fields", "20.0 JobAdd 0 fields", "20.1 JobAdd_V1 1 fields"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
