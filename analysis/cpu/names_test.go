package cpu

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/tests/corpus"
)

// traceEventName returns a place as TraceEvent calls it.
func traceEventName(n symbols.Native) string {
	module, function := n.File(), n.Function
	if n.Type != "" {
		module, function = strings.ToLower(module), n.Type+"::"+function[len(n.Type)+1:]
	}
	if function == "" {
		function = "?"
	}
	return module + "!" + function
}

// peerDiffers are the places that TraceEvent calls otherwise: it takes the file of a symbol
// for another one, and has no name for memory without a file.
var peerDiffers = []struct{ theirs, ours string }{
	{"ManagedModule!intel_check_word.constprop.0", "ld-linux-x86-64.so.2!intel_check_word.constprop.0"},
	{"!?", "memfd:doublemapper!?"},
}

// TestUniversalNames holds the name of the running code against TraceEvent's, sample by
// sample as far as its counts tell: each name that both have is the same.
func TestUniversalNames(t *testing.T) {
	for _, path := range corpus.Glob(t, "universal/*.nettrace") {
		var peer struct {
			Tables map[string]map[string]int64
		}
		if !testtrace.JSON(t, strings.TrimSuffix(path, ".nettrace")+".traceevent.json", &peer) {
			continue
		}
		code, l := readUniversal(t, path)
		raw := l.Samples()[0]
		more := make(map[string]int64) // of TraceEvent's
		maps.Copy(more, peer.Tables["cpu by leaf"])
		samples := int64(0)
		for s := range raw.All() {
			if stack := raw.Stack(s.Stack); len(stack) > 0 {
				n, _ := code.Native(s.Process, stack[0], time.Unix(0, s.Time))
				more[traceEventName(n)] -= s.Values[0]
				samples += s.Values[0]
			}
		}
		for _, d := range peerDiffers {
			if n := more[d.ours]; n < 0 && more[d.theirs] == -n {
				more[d.ours], more[d.theirs] = 0, 0
			}
		}
		for _, name := range slices.Sorted(maps.Keys(more)) {
			if n := more[name]; n != 0 {
				t.Errorf("%s: TraceEvent has %d more of %s", filepath.Base(path), n, name)
			}
		}
		t.Logf("%s: %d samples, %d names", filepath.Base(path), samples, len(more))
	}
}
