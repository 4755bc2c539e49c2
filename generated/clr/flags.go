package clr

// Tier returns how much the code was optimized, which bits 7 to 9 hold.
func (f MethodFlags) Tier() OptimizationTier { return OptimizationTier(f >> 7 & 7) }

// Extent returns which part of the method's code the event is about, which bits
// 28 to 31 hold.
func (f MethodFlags) Extent() MethodExtent { return MethodExtent(f >> 28) }

// ArrayRank returns the number of dimensions of an array that is not a vector,
// which bits 8 to 13 hold, and 0 for all other types.
func (f TypeFlags) ArrayRank() int { return int(f >> 8 & 0x3f) }

// SharingPolicy returns how the domain shares assemblies with others, which bits
// 28 to 31 hold. It is 0 for the shared domain.
func (f AppDomainFlags) SharingPolicy() uint8 { return uint8(f >> 28) }
