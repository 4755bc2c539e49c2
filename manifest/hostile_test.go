package manifest

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/tests/corpus"
)

// hostile has manifests that are made to cost more than they should. Each
// function returns one of about size bytes.
var hostile = []struct {
	name  string
	make  func(size int) string
	valid bool // in lenient mode
}{
	{"nested elements", func(size int) string {
		return inProvider(strings.Repeat("<a>", size/3))
	}, false},
	{"nested structs", func(size int) string {
		n := size / 32
		return inTemplate(strings.Repeat(`<struct name="s">`, n) + strings.Repeat(`</struct>`, n))
	}, false},
	{"attributes of one element", func(size int) string {
		var b strings.Builder
		for i := range size / 14 {
			fmt.Fprintf(&b, ` a%07d="b"`, i)
		}
		return inTemplate(`<data name="A" inType="win:UInt8"` + b.String() + `/>`)
	}, true},
	{"namespaces of one element", func(size int) string {
		var b strings.Builder
		for i := range size / 24 {
			fmt.Fprintf(&b, ` xmlns:a%07d="u%07d"`, i, i)
		}
		return inTemplate(`<data name="A" inType="win:UInt8"` + b.String() + `/>`)
	}, true},
	{"prefixes", func(size int) string {
		var b strings.Builder
		for i := range size / 30 {
			fmt.Fprintf(&b, `<keyword name="p%07d:a" mask="1"/>`, i)
		}
		return inProvider(`<keywords>` + b.String() + `</keywords>`)
	}, true},
	{"repeated attribute", func(size int) string {
		return inTemplate(`<data` + strings.Repeat(` a="b"`, size/6) + `/>`)
	}, false},
	{"empty attributes without names", func(size int) string {
		return `<a b="` + strings.Repeat(`"c="`, size/4)
	}, false},
	{"open tags", func(size int) string { return strings.Repeat("<a ", size/3) }, false},
	{"open comments", func(size int) string { return "<a>" + strings.Repeat("<!-- x ", size/7) }, false},
	{"ampersands", func(size int) string { return "<a>" + strings.Repeat("&amp;", size/5) + "&</a>" }, false},
	{"entities", func(size int) string {
		return `<!DOCTYPE x [<!ENTITY a "` + strings.Repeat("lol", size/3) + `"><!ENTITY b "&a;&a;&a;&a;">]><x>&b;</x>`
	}, false},
	{"counts of four billion", func(size int) string {
		return inTemplate(strings.Repeat(`<data name="A" inType="win:GUID" count="4294967296"/>`, size/53))
	}, false},
	{"the highest counts", func(size int) string {
		var b strings.Builder
		for i := range size / 66 {
			fmt.Fprintf(&b, `<data name="A%07d" inType="win:GUID" count="65535"/>`, i)
		}
		return inTemplate(`<struct name="S" count="65535">` + b.String() + `</struct>`)
	}, true},
	{"duplicate events", func(size int) string {
		return inProvider(`<events>` + strings.Repeat(`<event value="1" symbol="E"/>`, size/29) + `</events>`)
	}, true},
	{"duplicate keywords", func(size int) string {
		return inProvider(`<keywords>` + strings.Repeat(`<keyword name="K" mask="0x1"/>`, size/30) + `</keywords>`)
	}, false},
	{"duplicate strings", func(size int) string {
		return withStrings("", strings.Repeat(`<string id="s" value="v"/>`, size/26))
	}, true},
	{"duplicate templates", func(size int) string {
		return inProvider(`<templates>` + strings.Repeat(`<template tid="T"><data name="A" inType="win:UInt8"/></template>`, size/65) + `</templates>`)
	}, false},
	{"duplicate fields", func(size int) string {
		return inTemplate(strings.Repeat(`<data name="A" inType="win:UInt8"/>`, size/36))
	}, true},
	{"duplicate providers", func(size int) string {
		const p = `<provider name="P" guid="{0f3e1c7a-52b4-4c1e-9d20-6a7b8c9d0e1f}"/>`
		return `<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events"><instrumentation><events>` +
			strings.Repeat(p, size/len(p)) + `</events></instrumentation></instrumentationManifest>`
	}, true},
	{"cultures", func(size int) string {
		const r = `<resources culture="en-US"><stringTable/></resources>`
		return providerHead + `<keywords>` + strings.Repeat(`<keyword name="K" mask="1" message="$(string.x)"/>`, size/100) + `</keywords></provider></events></instrumentation><localization>` +
			strings.Repeat(r, size/2/len(r)) + `</localization></instrumentationManifest>`
	}, false},
	{"unknown types", func(size int) string {
		return inTemplate(strings.Repeat(`<data name="A" inType="win:UnicodeStrong"/>`, size/43))
	}, true},
	{"binary fields without lengths", func(size int) string {
		return inTemplate(strings.Repeat(`<data name="A" inType="win:Binary"/>`, size/37))
	}, true},
	{"forward references", func(size int) string {
		return inTemplate(strings.Repeat(`<data name="A" inType="win:UInt8" count="Z"/>`, size/46) + `<data name="Z" inType="win:UInt8"/>`)
	}, false},
	{"undefined keywords", func(size int) string {
		return inProvider(`<events><event value="1" symbol="E" keywords="` + strings.Repeat("k ", size/2) + `"/></events>`)
	}, false},
	{"names to guess from", func(size int) string {
		var tasks, events strings.Builder
		for i := range size / 100 {
			fmt.Fprintf(&tasks, `<task name="A task with a name that is long%07d" value="1"/>`, i)
			fmt.Fprintf(&events, `<event value="1" symbol="E" task="A task with a name that is wrong%07d"/>`, i)
		}
		return inProvider(`<tasks>` + tasks.String() + `</tasks><events>` + events.String() + `</events>`)
	}, true},
	{"long names", func(size int) string {
		name := strings.Repeat("n", size/2)
		return inProvider(`<tasks><task name="` + name + `" value="1"/></tasks><events>` +
			strings.Repeat(`<event value="1" symbol="E" opcode="x"/>`, size/2/40) + `</events>`)
	}, true},
	{"long opcode with a suffix", func(size int) string {
		return inProvider(`<events><event value="1" symbol="E" opcode="win:Start` + strings.Repeat("_1", size/2) + `"/></events>`)
	}, true},
	{"inserts", func(size int) string {
		return withStrings(`<events>`+strings.Repeat(`<event value="1" symbol="E" message="$(string.s)"/>`, size/2/51)+`</events>`,
			`<string id="s" value="`+strings.Repeat("%", size/2)+`"/>`)
	}, true},
	{"long namespaces", func(size int) string {
		return strings.Replace(inProvider(`<events>`+strings.Repeat(`<event value="1" symbol="E" opcode="win:x"/>`, size/2/45)+`</events>`),
			"http://manifests.microsoft.com", strings.Repeat("u", size/2), 1)
	}, true},
	{"long prefixes", func(size int) string {
		long := strings.Repeat("p", size/2)
		return inProvider(`<x xmlns="urn:x"/><tasks xmlns:` + long + `="urn:y" xmlns:q="urn:y"><task name="` + long + `:a" value="1"/>` +
			strings.Repeat(`<task name="q:a" value="1"/>`, size/2/28) + `</tasks>`)
	}, false},
	{"lines", func(size int) string { return inProvider(strings.Repeat("\n", size)) }, true},
	{"user data", func(size int) string {
		return inTemplate(`<UserData>` + strings.Repeat(`<a><b c="d">e</b></a>`, size/21) + `</UserData>`)
	}, true},
}

// TestHostile feeds manifests that are made to be expensive. Memory must stay
// within a factor of their size, and so must the text of the messages. That the
// test ends at all shows the same for time: its square would take hours.
func TestHostile(t *testing.T) {
	size := 1 << 20 / corpus.Every(4)
	for _, h := range hostile {
		for _, opts := range []Options{{}, {Lenient: true}} {
			t.Run(fmt.Sprintf("%s/lenient=%v", h.name, opts.Lenient), func(t *testing.T) {
				src := []byte(h.make(size))
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				_, warnings, err := Parse("t.man", src, opts)
				runtime.ReadMemStats(&after)
				if opts.Lenient && h.valid != (err == nil) {
					t.Fatalf("error %v, want none: %v", err, h.valid)
				}
				if used := after.TotalAlloc - before.TotalAlloc; used > 256*uint64(len(src)) {
					t.Errorf("%d bytes took %d bytes of memory", len(src), used)
				}
				var list ErrorList
				errors.As(err, &list)
				text := 0
				for _, e := range append(list, warnings...) {
					text += len(e.Msg)
				}
				if text > 50*len(src)+1000 {
					t.Errorf("%d bytes have %d bytes of messages", len(src), text)
				}
			})
		}
	}
}

// TestMillionAttributes has one element with a million attributes, or a share of them.
func TestMillionAttributes(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second")
	}
	var b strings.Builder
	n := 1_000_000 / corpus.Every(5)
	for i := range n {
		fmt.Fprintf(&b, ` a%d=""`, i)
	}
	_, warnings, err := Parse("t.man", []byte(inTemplate(`<data name="A" inType="win:UInt8"`+b.String()+`/>`)), Options{})
	if err != nil || len(warnings) != n {
		t.Errorf("error %v, %d warnings", err, len(warnings))
	}
}

// BenchmarkHostile shows that the speed does not depend on the size.
func BenchmarkHostile(b *testing.B) {
	for _, h := range hostile {
		for _, size := range []int{1 << 18, 1 << 21} {
			b.Run(fmt.Sprintf("%s/%dK", h.name, size>>10), func(b *testing.B) {
				src := []byte(h.make(size))
				b.SetBytes(int64(len(src)))
				for b.Loop() {
					Parse("t.man", src, Options{})
				}
			})
		}
	}
}
