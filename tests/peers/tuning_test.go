package peers

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"

	"github.com/etwgen/etwgen/analysis/gc"
	"github.com/etwgen/etwgen/analysis/measure"
)

// The layouts of the events by which the collector tells of its tuning.
type (
	peerSample struct {
		Version            uint16
		Index              uint64
		Elapsed, Pause     uint32
		SmallWait, BigWait uint32
		Stable             uint64
		Budget             uint32
	}
	peerTuning struct {
		Version, Heaps, Max, Min     uint16
		Index, Stable                uint64
		Median, Consider, Around     float32
		Recorded                     uint16
		Slope                        float32
		Since                        uint32
		Aggressive                   uint8
		Decision, Why, Factor, Which uint16
		Metric                       uint8
	}
	peerFullTuning struct {
		Version, Heaps uint16
		Index          uint64
		Median         float32
		Since          uint32
		Samples        [3]struct {
			Distance uint32
			Percent  float32
		}
	}
)

// tuning compares the events of tuning one by one, whichever collection has them:
// TraceEvent gives each to the collection that began last, which is not that of a
// background collection.
func (c *collections) tuning() {
	var ours []*gc.Dynamic
	var theirs []struct{ Name, Payload string }
	for i, g := range c.gcs {
		for k := range g.Dynamic {
			ours = append(ours, &g.Dynamic[k])
			c.is("number in an event of tuning", indexOf(&g.Dynamic[k], g.Number), uint64(g.Number))
		}
		theirs = append(theirs, c.peers[i].DynamicEvents...)
	}
	c.is("number of events of tuning", len(ours), len(theirs))
	bytesOf := map[string]int{}
	for _, p := range theirs {
		bytesOf[p.Name+" "+p.Payload]++
	}
	for _, o := range ours {
		key := ""
		for _, p := range theirs {
			if p.Name == o.Name && sameTuning(o, p.Payload) && bytesOf[p.Name+" "+p.Payload] > 0 {
				key = p.Name + " " + p.Payload
				break
			}
		}
		bytesOf[key]--
		c.is("values of "+o.Name, key != "", true)
	}
}

// indexOf returns the number of the collection that an event of tuning names.
func indexOf(d *gc.Dynamic, none uint32) uint64 {
	switch {
	case d.Sample != nil:
		return d.Sample.GCIndex
	case d.FullGCTuning != nil:
		return d.FullGCTuning.GCIndex
	case d.Tuning != nil:
		return d.Tuning.GCIndex
	}
	return uint64(none)
}

// sameTuning reports whether an event has the values that are in a payload.
func sameTuning(d *gc.Dynamic, payload string) bool {
	b, err := hex.DecodeString(payload)
	if err != nil {
		return false
	}
	read := func(v any) bool { return binary.Read(bytes.NewReader(b), binary.LittleEndian, v) == nil }
	float := func(f float32) measure.Float { return measure.Known(float64(f)) }
	switch {
	case d.Sample != nil:
		var p peerSample
		return read(&p) && *d.Sample == gc.SizeAdaptationSample{GCIndex: p.Index, ElapsedBetweenGCsUS: p.Elapsed, GCPauseUS: p.Pause,
			SOHMoreSpaceLockWaitUS: p.SmallWait, UOHMoreSpaceLockWaitUS: p.BigWait, TotalSOHStableBytes: p.Stable, Gen0BudgetPerHeapBytes: p.Budget}
	case d.Tuning != nil:
		var p peerTuning
		return read(&p) && *d.Tuning == gc.SizeAdaptationTuning{NewHeaps: p.Heaps, MaxHeaps: p.Max, MinHeaps: p.Min, GCIndex: p.Index, TotalSOHStableBytes: p.Stable,
			MedianThroughputCost: float(p.Median), ThroughputCostToConsider: float(p.Consider), CurrentAroundTarget: float(p.Around),
			RecordedThroughputCosts: p.Recorded, RecordedThroughputSlope: float(p.Slope), GCsSinceLastChange: p.Since, AggressiveFactor: p.Aggressive,
			ChangeDecision: p.Decision, AdjustmentReason: p.Why, HeapCountChangeFactor: p.Factor, HeapCountChangeReason: p.Which, AdjustmentMetric: p.Metric}
	case d.FullGCTuning != nil:
		var p peerFullTuning
		if !read(&p) {
			return false
		}
		want := gc.SizeAdaptationFullGCTuning{NewHeaps: p.Heaps, GCIndex: p.Index, MedianGen2Cost: float(p.Median), Gen2GCsSinceChange: p.Since}
		for i, s := range p.Samples {
			want.Samples[i] = gc.FullGCSample{Distance: s.Distance, GCPercent: float(s.Percent)}
		}
		return *d.FullGCTuning == want
	}
	return fmt.Sprintf("%x", d.Data) == payload
}
