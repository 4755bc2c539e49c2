package wevt

import (
	"encoding/binary"
	"runtime"
	"testing"
)

// TestLongNames reads a directory in which all entries have the same long name: they
// would be gigabytes.
func TestLongNames(t *testing.T) {
	const entries, name = 60000, 500000
	tree := make([]byte, 1<<20)
	binary.LittleEndian.PutUint16(tree[12:], entries)
	for i := range entries {
		binary.LittleEndian.PutUint32(tree[directoryHeader+resourceSlot*i:], highBit|name)
		binary.LittleEndian.PutUint32(tree[directoryHeader+resourceSlot*i+4:], highBit|(name-directoryHeader)) // an empty one
	}
	binary.LittleEndian.PutUint16(tree[name:], 0xffff)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	walk := &resourceTree{b: tree, left: maxResources}
	if err := walk.walk(0, nil, func([]resourceID, []byte) { t.Error("there is a resource") }); err != nil {
		t.Error(err)
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 100<<20 {
		t.Errorf("%d MB were allocated", n>>20)
	}
}

// TestLoops reads directories that lead to themselves.
func TestLoops(t *testing.T) {
	tree := make([]byte, directoryHeader+8*resourceSlot)
	binary.LittleEndian.PutUint16(tree[14:], 8)
	for i := range 8 {
		binary.LittleEndian.PutUint32(tree[directoryHeader+resourceSlot*i+4:], highBit)
	}
	walk := &resourceTree{b: tree, left: maxResources}
	if err := walk.walk(0, nil, func([]resourceID, []byte) { t.Error("there is a resource") }); err == nil {
		t.Error("a loop is accepted")
	}
}
