package clr_test

import (
	"testing"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/clr/rundown"
)

func TestMethodFlags(t *testing.T) {
	tests := []struct {
		flags  uint32
		tier   string
		extent string
	}{
		{0x8, "Unknown", "Hot"},
		{0x8 | 3<<7, "QuickJitted", "Hot"},
		{0x1c | 4<<7, "OptimizedTier1", "Hot"},
		{0x7f | 7<<7, "InstrumentedTierOptimized", "Hot"},
		{0x10000002, "Unknown", "Cold"},
		{0xf0000000 | 5<<7, "OptimizedTier1OSR", "15"},
	}
	for _, test := range tests {
		for _, got := range []struct {
			where        string
			tier, extent interface{ String() string }
		}{
			{"clr", clr.MethodFlags(test.flags).Tier(), clr.MethodFlags(test.flags).Extent()},
			{"rundown", rundown.MethodFlags(test.flags).Tier(), rundown.MethodFlags(test.flags).Extent()},
		} {
			if got.tier.String() != test.tier || got.extent.String() != test.extent {
				t.Errorf("%s.MethodFlags(%#x): tier %s, extent %s; want %s, %s",
					got.where, test.flags, got.tier, got.extent, test.tier, test.extent)
			}
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
	if got := rundown.AppDomainFlags(0x30000007).SharingPolicy(); got != 3 {
		t.Errorf("sharing policy %d at the rundown, want 3", got)
	}
}
