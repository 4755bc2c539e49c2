package dotnetreceiver

import (
	"slices"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/runtime/eventpipe"
)

// TestCause: the preset that tells where the time of spans goes takes the starts of activities,
// and the events that say for whom threads work; without it stops alone are taken.
func TestCause(t *testing.T) {
	for _, presets := range [][]string{{"requests"}, {"cause"}, {"requests", "cause"}} {
		c := defaultConfig().(*Config)
		c.Presets = presets
		p := c.plan(10, nil)
		find := func(name string) eventpipe.Provider {
			i := slices.IndexFunc(p.providers, func(p eventpipe.Provider) bool { return p.Name == name })
			if i < 0 {
				return eventpipe.Provider{}
			}
			return p.providers[i]
		}
		cause := slices.Contains(presets, "cause")
		spans := find("Microsoft-Diagnostics-DiagnosticSource").Arguments
		if strings.Contains(spans, "[AS]Microsoft.AspNetCore/Stop:") == cause || strings.Contains(spans, "[AS]Microsoft.AspNetCore:") != cause {
			t.Errorf("%v: spans by %s", presets, spans)
		}
		if flow := find("System.Threading.Tasks.TplEventSource"); flow.Keywords&0x40080 == 0x40080 != cause {
			t.Errorf("%v: tasks by %#x", presets, flow.Keywords)
		}
	}
}
