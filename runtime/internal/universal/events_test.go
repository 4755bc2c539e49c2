package universal

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etwgen/etwgen/generated/universal"
	"github.com/etwgen/etwgen/generated/universal/events"
	"github.com/etwgen/etwgen/runtime/etw"
)

// The descriptions are those of the generated types.
func TestDescriptions(t *testing.T) {
	for own, want := range map[*etw.EventDesc]etw.Event{
		ExistingProcess: new(universal.ExistingProcess), ProcessCreate: new(universal.ProcessCreate), ProcessExit: new(universal.ProcessExit),
		ProcessMapping: new(universal.ProcessMapping), ProcessSymbol: new(universal.ProcessSymbol), MappingMetadata: new(universal.ProcessMappingMetadata),
		CPUSample: new(events.CPU), ContextSwitch: new(events.ContextSwitch),
	} {
		d := want.EventDesc()
		provider := *d.Provider
		provider.Generated = false // as what a trace says of itself
		if diff := cmp.Diff(provider, *own.Provider); diff != "" {
			t.Errorf("%s (-want +got):\n%s", d.Name, diff)
		}
		if diff := cmp.Diff(d.Fields, own.Fields); diff != "" || d.ID != own.ID || d.Name != own.Name || d.Named != own.Named || d.Version != own.Version || d.Level != own.Level {
			t.Errorf("%s (-want +got):\n%s", d.Name, diff)
		}
	}
}
