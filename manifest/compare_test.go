package manifest_test

import (
	"strings"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/manifest"
)

// compared is a manifest for tests to change.
const compared = `<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events" xmlns:win="http://manifests.microsoft.com/win/2004/08/windows/events" xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:etwgen="https://github.com/etwgen/etwgen/manifest"><instrumentation><events>
<provider name="Shop" guid="{0f3e1c7a-52b4-4c1e-9d20-6a7b8c9d0e1f}" symbol="SHOP">
<channels><channel name="Shop/Operational" type="Operational" chid="O"/><channel name="Shop/Debug" type="Debug" chid="D"/></channels>
<tasks><task name="Sale" value="1"><opcodes><opcode name="Return" value="11"/></opcodes></task><task name="Gift" value="2"/></tasks>
<keywords><keyword name="Money" mask="0x1"/><keyword name="Goods" mask="0x2"/></keywords>
<maps><valueMap name="Kind"><map value="0" message="big"/><map value="1" message="small"/></valueMap></maps>
<templates><template tid="T">
<data name="N" inType="win:UInt16"/>
<data name="M" inType="win:UInt16"/>
<data name="Kind" inType="win:UInt8" map="Kind"/>
<data name="Data" inType="win:Binary" length="N"/>
<data name="Code" inType="win:UInt32"/>
</template>
<template tid="T1"><data name="N" inType="win:UInt16"/></template>
</templates>
<events>
<event value="1" symbol="Sold" template="T" task="Sale" opcode="win:Start" keywords="Money" level="win:Error" channel="O" message="sold"/>
</events>
</provider></events></instrumentation></instrumentationManifest>`

// TestCompare changes one thing at a time.
func TestCompare(t *testing.T) {
	parse := func(src string) *manifest.Manifest {
		t.Helper()
		return testio.Parse(t, manifest.Parse, "x.man", src, manifest.Options{})
	}
	old := parse(compared)
	if changes := manifest.Compare(old, parse(compared)); len(changes) > 0 {
		t.Errorf("a manifest differs from itself: %v", changes)
	}
	for _, tt := range []struct{ from, to, want string }{
		{`name="Shop" guid`, `name="Store" guid`, "error (name)"},
		{`0f3e1c7a`, `0f3e1c7b`, "error (provider), note (new)"},
		{`symbol="SHOP"`, `symbol="STORE"`, "warning (symbol)"},
		{`value="1" symbol`, `value="2" symbol`, "error (event), note (new)"},
		{`symbol="Sold"`, `symbol="Bought"`, "warning (symbol)"},
		{`"Code" inType="win:UInt32"`, `"Code" inType="win:UInt64"`, "error (layout)"},
		{`"Code" inType="win:UInt32"/>`, `"Code" inType="win:UInt32" count="2"/>`, "error (layout)"},
		{`"Code" inType="win:UInt32"/>`, `"Code" inType="win:UInt32"/><data name="More" inType="win:UInt8"/>`, "error (layout)"},
		{`<data name="Code" inType="win:UInt32"/>`, ``, "error (layout)"},
		{`length="N"`, `length="4"`, "error (layout)"},
		{`length="N"`, `length="M"`, "error (layout)"},
		{`"Code" inType="win:UInt32"/>`, `"Code" inType="win:UInt32"/><!-- -->`, ""},
		{`"Code" inType="win:UInt32"`, `"Result" inType="win:UInt32"`, "warning (field)"},
		{`"Code" inType="win:UInt32"`, `"Code" inType="win:UInt32" outType="win:HexInt32"`, "note (outType)"},
		{`win:UInt8" map="Kind"`, `win:UInt8"`, "warning (map)"},
		{`level="win:Error"`, `level="win:Verbose"`, "warning (level)"},
		{`keywords="Money"`, `keywords="Goods"`, "warning (keywords)"},
		{`channel="O"`, `channel="D"`, "warning (channel)"},
		{`opcode="win:Start"`, `opcode="win:Stop"`, "warning (opcode)"},
		{`task="Sale"`, `task="Gift"`, "warning (task)"},
		{`<task name="Gift"`, `<task name="Present"`, "warning (task)"},
		{`<opcode name="Return"`, `<opcode name="Refund"`, "warning (opcode)"},
		{`value="1" symbol`, `etwgen:named="Sold" value="1" symbol`, "error (event), note (new)"},
		{`message="sold"`, `message="gone"`, "note (message)"},
		{`<keyword name="Goods" mask="0x2"/>`, `<keyword name="Goods" mask="0x4"/>`, "error (keyword)"},
		{`<keyword name="Goods" mask="0x2"/>`, `<keyword name="Wares" mask="0x2"/>`, "warning (keyword)"},
		{`<keyword name="Goods" mask="0x2"/>`, ``, "warning (keyword)"},
		{`<map value="1" message="small"/>`, ``, "warning (map)"},
		{`message="small"`, `message="tiny"`, "warning (map)"},
		{`valueMap name="Kind"`, `bitMap name="Kind"`, "warning (map)"},
		{`message="sold"/>`, `message="sold"/><event value="1" version="1" template="T1"/>`, "warning (extends)"},
		{`message="sold"/>`, `message="sold"/><event value="1" version="1" template="T"/>`, "note (new)"},
		{`message="sold"/>`, `message="sold"/><event value="7" template="T1"/>`, "note (new)"},
	} {
		src := strings.Replace(compared, tt.from, tt.to, 1)
		if strings.Contains(tt.to, "<bitMap") || strings.HasPrefix(tt.to, "bitMap") {
			src = strings.Replace(src, "</valueMap>", "</bitMap>", 1)
		}
		if src == compared {
			t.Fatalf("the manifest does not have %s", tt.from)
		}
		var got []string
		for _, c := range manifest.Compare(old, parse(src)) {
			got = append(got, c.Severity.String()+" ("+c.Rule+")")
			if !c.Pos.IsValid() {
				t.Errorf("%s to %s: a change has no place: %v", tt.from, tt.to, c)
			}
		}
		if strings.Join(got, ", ") != tt.want {
			t.Errorf("%s to %s: %s, want %s", tt.from, tt.to, strings.Join(got, ", "), tt.want)
		}
	}
}

// TestCompareNamed: events that go by names are the same under any id.
func TestCompareNamed(t *testing.T) {
	parse := func(value, name string) *manifest.Manifest {
		t.Helper()
		src := strings.Replace(compared, `value="1" symbol`, `etwgen:named="`+name+`" value="`+value+`" symbol`, 1)
		return testio.Parse(t, manifest.Parse, "x.man", src, manifest.Options{})
	}
	old := parse("22", "Sold")
	if changes := manifest.Compare(old, parse("14", "Sold")); len(changes) > 0 {
		t.Errorf("another id is a change: %v", changes)
	}
	changes := manifest.Compare(old, parse("22", "Bought"))
	if len(changes) != 2 || !strings.Contains(changes[0].Msg, `event "Sold" version 0 is gone`) || !strings.Contains(changes[1].Msg, `event "Bought" version 0 is new`) {
		t.Errorf("another name under the same id: %v", changes)
	}
}
