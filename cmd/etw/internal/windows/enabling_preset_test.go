package windows

import (
	"testing"

	"github.com/etwgen/etwgen/runtime/etw"
)

// TestPresets: a provider takes the presets of etw keywords, with their level, beside keywords,
// which ask for every level.
func TestPresets(t *testing.T) {
	for text, want := range map[string]struct {
		mask  uint64
		level etw.Level
	}{
		"clr:exceptions":            {0x8000, 4},
		"clr:symbols":               {0xb8, 5},
		"clr:exceptions+threadpool": {0x18000, 4},
		"clr:exceptions:error":      {0x8000, 2},
		"clr:exceptions+gc":         {0x8001, 5},
		"clr:exception":             {0x8000, 5},
		"rundown:symbols":           {0x138, 5},
	} {
		if p, err := parseEnable(text); err != nil || p.Keywords != want.mask || p.Level != want.level {
			t.Errorf("%s is 0x%x:%d, error %v; want 0x%x:%d", text, p.Keywords, p.Level, err, want.mask, want.level)
		}
	}
	for _, text := range []string{"clr:symbls", "private:symbols", "Acme:symbols"} {
		if p, err := parseEnable(text); err == nil {
			t.Errorf("%s is 0x%x", text, p.Keywords)
		}
	}
}
