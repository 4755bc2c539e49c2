package look

import (
	"strings"
	"testing"

	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/clr/rundown"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/runtime/etw"
)

// TestAsking: levels follow the mask, presets equal those in Go, and masks that cause or
// name nothing are reported.
func TestAsking(t *testing.T) {
	for _, test := range []struct {
		of      *etw.Provider
		words   string
		presets string
		level   string
		mask    uint64
		want    etw.Level
		warning string // a part, or "" if there is to be none
	}{
		{of: clr.Provider, words: "gc", mask: 1, want: 4},
		{of: clr.Provider, words: "gc-verbose", mask: 1, want: 5},
		{of: clr.Provider, words: "Jit", mask: 0x10, want: 5},
		{of: clr.Provider, presets: "jit", mask: 0x1000000010, want: 5},
		{of: clr.Provider, words: "JITSymbols", mask: 0x60098, want: 5},
		{of: clr.Provider, words: "symbols", mask: 0xb8, want: 5},
		{of: clr.Provider, words: "exceptions,Threading", mask: 0x18000, want: 4},
		{of: clr.Provider, words: "WaitHandle", mask: 0x40000000000, want: 5},
		{of: clr.Provider, words: "WaitHandle", level: "4", mask: 0x40000000000, want: 4, warning: "WaitHandleKeyword causes nothing at level 4: the lowest of its events is 5"},
		{of: clr.Provider, words: "0x1ccbd", level: "informational", mask: 0x1ccbd, want: 4, warning: "at level 4 most methods come without their names"},
		{of: clr.Provider, words: "Loader,NGen", mask: 0x28, want: 4, warning: "without StartEnumeration"},
		{of: clr.Provider, words: "NGen,StartEnumeration", mask: 0x60, want: 5},
		{of: clr.Provider, words: "NGen,StartEnumeration,SuppressNGen", mask: 0x40060, want: 4, warning: "takes its methods away"},
		{of: rundown.Provider, words: "symbols", mask: 0x138, want: 5},
		{of: rundown.Provider, presets: "symbols-at-start", mask: 0x78, want: 5},
		{of: rundown.Provider, words: "Loader,End", mask: 0x108, want: 4},
		{of: rundown.Provider, words: "Loader,Jit,End", mask: 0x118, want: 5},
		{of: rundown.Provider, words: "Loader,Jit", mask: 0x18, want: 4, warning: "no rundown: the mask lacks both"},
		{of: rundown.Provider, words: "0xb8", mask: 0xb8, want: 4, warning: "0x80 is EndEnumeration, of the runtime's provider alone"},
		{of: rundown.Provider, words: "symbols,SuppressNGen", mask: 0x40138, want: 5, warning: "takes its methods away"},
		{of: clr.Provider, words: "0x40", mask: 0x40, want: 4, warning: "and not which code"},
		{of: clr.Provider, words: "EndEnumeration", mask: 0x80, want: 4, warning: "and not which code"},
		{of: clr.Provider, mask: 0xfffe3fbfcff, want: 5}, // all keywords, to be listed
		{of: rundown.Provider, mask: 0x1060030979, want: 5},
		{of: rundown.Provider, words: "End", mask: 0x100, want: 4, warning: "an empty rundown"},
		{of: rundown.Provider, words: "0x138", level: "4", mask: 0x138, want: 4, warning: "without their names"},
	} {
		k := keywordsCommand{level: test.level}
		var args []string
		if test.words != "" {
			args = []string{test.words}
		}
		if test.presets != "" {
			k.presets = []string{test.presets}
		}
		a, err := k.asking(test.of, args)
		if err != nil {
			t.Errorf("%s%s: %v", test.words, test.presets, err)
			continue
		}
		warnings := strings.Join(a.warnings(), "\n")
		if a.mask != test.mask || a.level != test.want || (warnings == "") != (test.warning == "") || !strings.Contains(warnings, test.warning) {
			t.Errorf("%s%s is 0x%x:%d, with %q", test.words, test.presets, a.mask, a.level, warnings)
		}
	}
	for _, p := range []*etw.Provider{clr.Provider, rundown.Provider} {
		for _, preset := range pick.PresetsOf(p) {
			a, err := (&keywordsCommand{presets: []string{preset.Name}}).asking(p, nil)
			if e := preset.Enable(); err != nil || a.mask != e.Keywords || a.level != e.Level || len(a.warnings()) > 0 {
				t.Errorf("%s is %+v, %v, with %q", preset.Name, a, err, a.warnings())
			}
		}
	}
}

// TestMissions: the command lines of Microsoft's two pages on sessions of the runtime, as
// the tool prints them: the rundown's mask of one page, 0xB8, causes none, and so is 0x138;
// the second session has a name of its own, without which xperf starts none.
func TestMissions(t *testing.T) {
	const runtime, end = "e13c0d23-ccbc-4e12-931b-d9cc2eee27e4", "a669021c-c450-4609-a035-5af59af4df18"
	for _, test := range []struct {
		of   *etw.Provider
		ask  keywordsCommand
		args []string
		want string
	}{
		{clr.Provider, keywordsCommand{presets: []string{"documented"}}, nil, "-on " + runtime + ":0x1ccbd:0x5"},
		{rundown.Provider, keywordsCommand{presets: []string{"symbols"}}, nil, "-on " + end + ":0x138:0x5"},
		{clr.Provider, keywordsCommand{presets: []string{"without-enumeration"}}, nil, "-on " + runtime + ":0x1fc1f:0x5"},
		{clr.Provider, keywordsCommand{level: "verbose"}, []string{"0xFFFFFFFF"}, "-on " + runtime + ":0xffffffff:0x5"},
	} {
		a, err := test.ask.asking(test.of, test.args)
		if err != nil {
			t.Fatal(err)
		}
		if got := recorders["xperf"](test.of.Desc, a.mask, a.level); got != test.want {
			t.Errorf("%s, want %s", got, test.want)
		}
	}
	lines := []string{
		"xperf -start clr -on " + runtime + ":0x1ccbd:0x5 -f clr1.etl",
		"xperf -start clrRundown -on " + end + ":0x138:0x5 -f clr2.etl",
		"xperf -stop clrRundown",
		"xperf -stop clr",
		"xperf -merge clr1.etl clr2.etl merged.etl",
	}
	if !strings.HasSuffix(recipes["xperf"], "  "+strings.Join(lines, "\n  ")+"\n") {
		t.Errorf("the recipe is\n%s", recipes["xperf"])
	}
}

// TestKernelRecipes: the flags of the kernel have the names of each tool, and a tool that
// has no name for one, or records no kernel, says so.
func TestKernelRecipes(t *testing.T) {
	for _, test := range []struct {
		tool, words   string
		want, warning string // want is an error if there is no such text
	}{
		{"xperf", "process,thread,image_load,profile", "-on PROC_THREAD+LOADER+PROFILE", ""},
		{"xperf", "process", "-on PROC_THREAD", "turns both on"},
		{"wpr", "process,thread,cswitch", `<SystemProvider Id="kernel"><Keywords><Keyword Value="ProcessThread"/><Keyword Value="CSwitch"/></Keywords></SystemProvider>`, ""},
		{"perfview", "process,dpc", "/KernelEvents:Process,DeferedProcedureCalls", ""},
		{"logman", "0x7", `-p "Windows Kernel Trace" 0x7`, "NT Kernel Logger"},
		{"xperf", "debug_events", "it has no name for EVENT_TRACE_FLAG_DEBUG_EVENTS", ""},
		{"dotnet-trace", "process", "not the kernel of Windows", ""},
		{"env", "process", "not the kernel of Windows", ""},
	} {
		a, err := new(keywordsCommand).asking(kernel.Provider, []string{test.words})
		var got string
		var warnings []string
		if err == nil {
			got, warnings, err = a.recorded(test.tool)
		}
		if err != nil && strings.Contains(err.Error(), test.want) {
			continue
		}
		if all := strings.Join(warnings, "\n"); err != nil || got != test.want || (all == "") != (test.warning == "") || !strings.Contains(all, test.warning) {
			t.Errorf("%s %s: %q, %q, %v", test.tool, test.words, got, warnings, err)
		}
	}
}
