package nettrace

import (
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace/internal/layout"
)

// A known is the tables of a stream so far, to which its events refer.
type known struct {
	v6    bool
	stats *Stats

	// Kinds of events, by the number of their metadata.
	kinds     table[*kindOf]
	rows      table[*Metadata]             // the same as they stand in the stream
	last      *kindOf                      // of the event that was delivered last, or nil
	unknown   kindOf                       // with what all records of the stream have in common
	providers map[string]*etw.ProviderDesc // by name
	described int64                        // bytes that kinds take
	verdicts  []verdict                    // on kinds.dense, of wants at turn
	wants     *etw.Wants
	turn      uint64

	// Other tables whose numbers events have. A sequence point forgets most of it.
	stacks  stacks
	threads threads
	labels  labels
	loss    loss
}

// begin prepares for a stream of a given header.
func (k *known) begin(h *Header, file string, stats *Stats) {
	k.v6, k.stats, k.providers = h.Version == 6, stats, make(map[string]*etw.ProviderDesc)
	k.loss.v6, k.loss.damage, k.threads.pid = k.v6, &stats.Damage, h.ProcessID
	k.unknown = kindOf{unknown: true, rare: true, record: etw.Record{
		Kind: etw.KindManifest, PointerSize: h.PointerSize, Clock: &h.Clock, File: file,
		ProcessID: h.ProcessID, ThreadID: -1, Stack: etw.Stack{PtrSize: h.PointerSize},
	}}
}

// isPoint reports whether events before b could not be given their references once b was
// read: b is a sequence point, or gives a number of a stack or a label list again, behind a
// sequence point that was lost.
func (k *known) isPoint(b block) bool {
	switch b.kind {
	case layout.KindSequencePoint:
		return true
	case layout.KindStacks:
		return firstNumber(b.data) < k.stacks.next()
	case layout.KindLabels:
		return firstNumber(b.data) < k.labels.next
	}
	return false
}

// firstNumber returns the first of the numbers that a block gives.
func firstNumber(data []byte) uint64 {
	c := layout.Cursor{B: data}
	return uint64(c.U32())
}
