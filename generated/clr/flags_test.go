package clr_test

import (
	"testing"

	"github.com/etwgen/etwgen/generated/clr"
)

func TestMethodFlags(t *testing.T) {
	for _, test := range []struct {
		flags  clr.MethodFlags
		tier   string
		extent string
	}{
		{0x8, "Unknown", "Hot"},
		{0x8 | 3<<7, "QuickJitted", "Hot"},
		{0x1c | 4<<7, "OptimizedTier1", "Hot"},
		{0x7f | 7<<7, "InstrumentedTierOptimized", "Hot"},
		{0x10000002, "Unknown", "Cold"},
		{0xf0000000 | 5<<7, "OptimizedTier1OSR", "MethodExtent(15)"},
	} {
		if tier, extent := test.flags.Tier(), test.flags.Extent(); tier.String() != test.tier || extent.String() != test.extent {
			t.Errorf("MethodFlags(%#x): tier %s, extent %s; want %s, %s", uint32(test.flags), tier, extent, test.tier, test.extent)
		}
	}
}

func TestArrayRank(t *testing.T) {
	for flags, want := range map[clr.TypeFlags]int{
		clr.TypeFlagsArray: 0, // a vector
		clr.TypeFlagsArray | clr.TypeFlagsArrayRankBit1:  2,
		clr.TypeFlagsArray | 0x3f<<8 | 0x40<<8:           63,
		clr.TypeFlagsDelegate | clr.TypeFlagsFinalizable: 0,
	} {
		if got := flags.ArrayRank(); got != want {
			t.Errorf("rank of %#x is %d, want %d", uint32(flags), got, want)
		}
	}
}

func TestSharingPolicy(t *testing.T) {
	if got := clr.AppDomainFlags(0x30000007).SharingPolicy(); got != 3 {
		t.Errorf("sharing policy %d, want 3", got)
	}
}
