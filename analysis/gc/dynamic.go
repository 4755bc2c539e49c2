package gc

import (
	"encoding/binary"
	"math"

	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/generated/clr"
)

// Committed is the memory that the collector holds, in bytes.
type Committed struct {
	InUse          uint64 `json:"inUseBytes"`
	GlobalDecommit uint64 `json:"globalDecommitBytes"`
	Free           uint64 `json:"freeBytes"`
	GlobalFree     uint64 `json:"globalFreeBytes"`
	Bookkeeping    uint64 `json:"bookkeepingBytes"`
}

// A Dynamic is a GCDynamicEvent: an event without a manifest that the collector
// writes about its tuning. One of the fields after the name is set; Data has the
// bytes of an event that is not known.
type Dynamic struct {
	Name         string                      `json:"name"`
	AtMS         float64                     `json:"atMs"`
	Sample       *SizeAdaptationSample       `json:"sizeAdaptationSample,omitempty"`
	Tuning       *SizeAdaptationTuning       `json:"sizeAdaptationTuning,omitempty"`
	FullGCTuning *SizeAdaptationFullGCTuning `json:"sizeAdaptationFullGCTuning,omitempty"`
	Data         []byte                      `json:"data,omitempty"`
}

// A SizeAdaptationSample is one measurement by server GC with a dynamic number of heaps
// (DATAS), for one collection. Times are microseconds.
type SizeAdaptationSample struct {
	GCIndex                uint64 `json:"gcIndex"`
	ElapsedBetweenGCsUS    uint32 `json:"elapsedBetweenGCsUs"`
	GCPauseUS              uint32 `json:"gcPauseUs"`
	SOHMoreSpaceLockWaitUS uint32 `json:"sohMoreSpaceLockWaitUs"`
	UOHMoreSpaceLockWaitUS uint32 `json:"uohMoreSpaceLockWaitUs"`
	TotalSOHStableBytes    uint64 `json:"totalSOHStableBytes"`
	Gen0BudgetPerHeapBytes uint32 `json:"gen0BudgetPerHeapBytes"`
}

// A SizeAdaptationTuning is a decision about the number of heaps.
type SizeAdaptationTuning struct {
	NewHeaps                 uint16        `json:"newHeaps"`
	MaxHeaps                 uint16        `json:"maxHeaps"`
	MinHeaps                 uint16        `json:"minHeaps"`
	GCIndex                  uint64        `json:"gcIndex"`
	TotalSOHStableBytes      uint64        `json:"totalSOHStableBytes"`
	MedianThroughputCost     measure.Float `json:"medianThroughputCostPercent,omitzero"`
	ThroughputCostToConsider measure.Float `json:"throughputCostToConsiderPercent,omitzero"`
	CurrentAroundTarget      measure.Float `json:"currentAroundTargetAccumulation,omitzero"`
	RecordedThroughputCosts  uint16        `json:"recordedThroughputCosts"`
	RecordedThroughputSlope  measure.Float `json:"recordedThroughputSlope,omitzero"`
	GCsSinceLastChange       uint32        `json:"gcsSinceLastChange"`
	AggressiveFactor         uint8         `json:"aggressiveFactor"`
	ChangeDecision           uint16        `json:"changeDecision"`
	AdjustmentReason         uint16        `json:"adjustmentReason"`
	HeapCountChangeFactor    uint16        `json:"heapCountChangeFactor"`
	HeapCountChangeReason    uint16        `json:"heapCountChangeReason"`
	AdjustmentMetric         uint8         `json:"adjustmentMetric"`
}

// A SizeAdaptationFullGCTuning is a decision because of the cost of full
// collections.
type SizeAdaptationFullGCTuning struct {
	NewHeaps           uint16          `json:"newHeaps"`
	GCIndex            uint64          `json:"gcIndex"`
	MedianGen2Cost     measure.Float   `json:"medianGen2CostPercent,omitzero"`
	Gen2GCsSinceChange uint32          `json:"gen2GCsSinceChange"`
	Samples            [3]FullGCSample `json:"samples"`
}

// A FullGCSample is one of the last full collections: how many collections before, and its
// share of the time.
type FullGCSample struct {
	Distance  uint32        `json:"distance"`
	GCPercent measure.Float `json:"gcPercent,omitzero"`
}

// dynamic returns the contents of the event. Committed memory is not kept as an event: the
// second value is it, then.
func dynamic(e *clr.GCDynamicEvent) (Dynamic, *Committed) {
	d := fields{p: e.Data[:min(len(e.Data), int(e.DataSize))]}
	size := len(d.p)
	if size >= 42 && e.Name.EqualString("CommittedUsage") {
		d.u16()
		return Dynamic{}, &Committed{d.u64(), d.u64(), d.u64(), d.u64(), d.u64()}
	}
	out := Dynamic{Name: e.Name.String()}
	switch {
	case out.Name == "SizeAdaptationSample" && size >= 38:
		d.u16()
		out.Sample = &SizeAdaptationSample{d.u64(), d.u32(), d.u32(), d.u32(), d.u32(), d.u64(), d.u32()}
	case out.Name == "SizeAdaptationTuning" && size >= 56:
		d.u16()
		out.Tuning = &SizeAdaptationTuning{d.u16(), d.u16(), d.u16(), d.u64(), d.u64(), d.f32(), d.f32(), d.f32(),
			d.u16(), d.f32(), d.u32(), d.u8(), d.u16(), d.u16(), d.u16(), d.u16(), d.u8()}
	case out.Name == "SizeAdaptationFullGCTuning" && size >= 44:
		d.u16()
		t := &SizeAdaptationFullGCTuning{NewHeaps: d.u16(), GCIndex: d.u64(), MedianGen2Cost: d.f32(), Gen2GCsSinceChange: d.u32()}
		for i := range t.Samples {
			t.Samples[i] = FullGCSample{d.u32(), d.f32()}
		}
		out.FullGCTuning = t
	default:
		out.Data = append([]byte(nil), d.p...)
	}
	return out, nil
}

// tuning returns the event's decision on the number of heaps and their budgets, and reports
// whether it has one.
func (d *Dynamic) tuning() (t Tuning, ok bool) {
	number := func(n uint16) measure.Float { return measure.Known(float64(n)) }
	size := func(bytes uint64) measure.Float { return measure.Known(float64(bytes) / 1e6) }
	t.AtMS, ok = d.AtMS, true
	switch {
	case d.Sample != nil:
		t.GCIndex = d.Sample.GCIndex
		t.BudgetMB, t.StableMB = size(uint64(d.Sample.Gen0BudgetPerHeapBytes)), size(d.Sample.TotalSOHStableBytes)
	case d.Tuning != nil:
		x := d.Tuning
		t.GCIndex, t.StableMB, t.CostPercent = x.GCIndex, size(x.TotalSOHStableBytes), x.MedianThroughputCost
		t.Heaps, t.MinHeaps, t.MaxHeaps = number(x.NewHeaps), number(x.MinHeaps), number(x.MaxHeaps)
	case d.FullGCTuning != nil:
		t.GCIndex, t.CostPercent, t.Heaps = d.FullGCTuning.GCIndex, d.FullGCTuning.MedianGen2Cost, number(d.FullGCTuning.NewHeaps)
	default:
		ok = false
	}
	return t, ok
}

// fields reads the packed, little-endian fields of a dynamic event, whose length
// was checked.
type fields struct{ p []byte }

func (f *fields) next(n int) []byte {
	b := f.p[:n]
	f.p = f.p[n:]
	return b
}

func (f *fields) u8() uint8   { return f.next(1)[0] }
func (f *fields) u16() uint16 { return binary.LittleEndian.Uint16(f.next(2)) }
func (f *fields) u32() uint32 { return binary.LittleEndian.Uint32(f.next(4)) }
func (f *fields) u64() uint64 { return binary.LittleEndian.Uint64(f.next(8)) }
func (f *fields) f32() measure.Float {
	return measure.Known(float64(math.Float32frombits(f.u32())))
}
