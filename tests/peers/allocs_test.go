package peers

import (
	"github.com/etwgen/etwgen/analysis/alloc"
	"github.com/etwgen/etwgen/generated/clr"
)

type peerAllocs struct {
	TickCount, SampledCount int
	TickAmount64            uint64
	TickKinds               []struct {
		Kind     clr.GCAllocationKind
		Count    int
		Amount64 uint64
	}
	Ticks []struct {
		Type     string
		Count    int
		Amount64 uint64
	}
	Sampled []struct {
		Type  string
		Count int
	}
}

func compareAllocs(s *sheet) {
	theirs := &s.theirs.Allocs
	count, samples, bytes := 0, 0, uint64(0)
	ours, sampled, kinds := map[string]alloc.Type{}, map[string]int{}, map[string]alloc.Kind{}
	for _, rt := range s.ours.Alloc.Runtimes { // one a trace in the corpus
		if rt.Ticks != nil {
			count, bytes = count+rt.Ticks.Count, bytes+rt.Ticks.Bytes
			for _, t := range rt.Ticks.Types {
				ours[t.Type] = t
			}
			for _, k := range rt.Ticks.Kinds {
				kinds[k.Kind] = k
			}
		}
		if rt.Samples != nil {
			samples += rt.Samples.Count
			for _, t := range rt.Samples.Types {
				sampled[t.Type] = t.Ticks
			}
		}
	}
	if count+samples+theirs.TickCount+theirs.SampledCount == 0 {
		return
	}
	s.equal("ticks", count, theirs.TickCount)
	s.equal("bytes by ticks", bytes, theirs.TickAmount64)
	s.equal("samples", samples, theirs.SampledCount)
	for _, k := range theirs.TickKinds {
		s.equal("ticks of "+k.Kind.String(), kinds[k.Kind.String()].Count, k.Count)
		s.equal("bytes of "+k.Kind.String(), kinds[k.Kind.String()].Bytes, k.Amount64)
	}
	type sum struct {
		count int
		bytes uint64
	}
	byType, samplesOf := map[string]sum{}, map[string]int{}
	for _, t := range theirs.Ticks { // a row for each kind
		byType[t.Type] = sum{byType[t.Type].count + t.Count, byType[t.Type].bytes + t.Amount64}
	}
	for _, t := range theirs.Sampled {
		samplesOf[t.Type] += t.Count
	}
	s.equal("types", len(ours), len(byType))
	for name, t := range byType {
		s.equal("ticks of "+name, ours[name].Ticks, t.count)
		s.near("bytes of "+name, ours[name].Bytes, float64(t.bytes))
	}
	s.equal("types of samples", len(sampled), len(samplesOf))
	for name, n := range samplesOf {
		s.equal("samples of "+name, sampled[name], n)
	}
}
