// Package ticks tells events of allocations that no runtime writes.
package ticks

import "github.com/etwgen/etwgen/generated/clr"

// MostObject is more bytes than an address space of a program has, on any machine that .NET runs on.
const MostObject = 1 << 47

// mostBeside is more than a tick stands for beside its object: it comes once 100 KB are handed out,
// in pieces that are much smaller than this or are that object.
const mostBeside = 2 << 20

// Impossible reports whether a tick has amounts that no runtime writes, as in a file that was damaged. One
// such event would be more than all others together.
func Impossible(e *clr.AnyGCAllocationTick) bool {
	bytes, least := e.AllocationAmount64, e.AllocationAmount // the same, but for its upper half
	return e.AllocationKind > clr.GCAllocationKindPinned || e.HasAllocationAmount64() && least != 0 && least != uint32(bytes) ||
		e.HasObjectSize() && (bytes == 0 || e.ObjectSize > MostObject || bytes > e.ObjectSize+mostBeside)
}
