package rundown_test

import (
	"testing"

	"github.com/etwgen/etwgen/generated/clr/rundown"
)

func TestMethodFlags(t *testing.T) {
	for _, test := range []struct {
		flags  rundown.MethodFlags
		tier   rundown.OptimizationTier
		extent rundown.MethodExtent
	}{
		{0x8 | 3<<7, rundown.OptimizationTierQuickJitted, rundown.MethodExtentHot},
		{0x1000007f | 7<<7, rundown.OptimizationTierInstrumentedTierOptimized, rundown.MethodExtentCold},
		{0xf0000000, rundown.OptimizationTierUnknown, 15},
	} {
		if tier, extent := test.flags.Tier(), test.flags.Extent(); tier != test.tier || extent != test.extent {
			t.Errorf("MethodFlags(%#x): tier %s, extent %s; want %s, %s", uint32(test.flags), tier, extent, test.tier, test.extent)
		}
	}
}

func TestSharingPolicy(t *testing.T) {
	if got := rundown.AppDomainFlags(0x30000007).SharingPolicy(); got != 3 {
		t.Errorf("sharing policy %d, want 3", got)
	}
}
