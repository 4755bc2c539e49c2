package peers

import (
	"cmp"
	"math"
	"strconv"

	"github.com/etwgen/etwgen/analysis/jit"
)

type peerJIT struct {
	Process struct{ ID int64 }
	Methods []peerMethod
	Total   struct {
		Count, CountForeground, CountBackgroundTieredCompilation int
		TotalILSize, TotalNativeSize                             uint64
		TotalCPUTimeMSec                                         float64
	}
}

type peerMethod struct {
	MethodName              string
	StartTimeMSec           float64
	CompileCPUTimeMSec      float64
	ThreadID                int64
	ILSize, NativeSize      uint32
	OptimizationTier        int
	VersionID               uint64
	IsBackground            bool
	JitHotCodeRequestSize   uint64
	AllocatedSizeForJitCode uint64
	JitRODataRequestSize    uint64
	CompilationThreadKind   int
	ModuleILPath            string
}

// peerTiers are TraceEvent's numbers of tiers.
var peerTiers = map[int]string{
	0: "Unknown", 1: "MinOptJitted", 2: "Optimized", 3: "QuickJitted", 4: "OptimizedTier1", 5: "OptimizedTier1OSR",
	6: "InstrumentedTier", 7: "InstrumentedTierOptimized",
}

func compareJIT(s *sheet) {
	byPID := map[int64]*jit.Runtime{}
	for _, rt := range s.ours.JIT.Runtimes {
		byPID[rt.PID] = rt
	}
	for i := range s.theirs.JIT {
		theirs := &s.theirs.JIT[i]
		ours := byPID[theirs.Process.ID]
		if theirs.Total.Count == 0 || ours == nil {
			if ours != nil {
				s.equal("count", ours.Count, theirs.Total.Count)
			} else {
				s.equal("count", 0, theirs.Total.Count)
			}
			continue
		}
		s.equal("count", ours.Count, theirs.Total.Count)
		s.near("time", ours.InclusiveMS, theirs.Total.TotalCPUTimeMSec)
		s.equal("bytes of IL", ours.ILBytes, theirs.Total.TotalILSize)
		s.equal("bytes of code", ours.NativeBytes, theirs.Total.TotalNativeSize)
		open := 0
		for j := range theirs.Methods {
			if p := &theirs.Methods[j]; p.NativeSize == 0 && p.CompileCPUTimeMSec == 0 {
				open++
				s.differs(whyOpenJIT)
				continue
			}
			compareMethod(s, ours, &theirs.Methods[j])
		}
		s.equal("open", ours.Open+ours.LostStops, open)
	}
}

func compareMethod(s *sheet, ours *jit.Runtime, p *peerMethod) {
	for i := range ours.Methods {
		m := &ours.Methods[i]
		if m.Thread != p.ThreadID || math.Abs(m.StartMS-p.StartTimeMSec) > 1e-5 {
			continue
		}
		s.near("time of "+m.Method, m.InclusiveMS.Or(math.NaN()), p.CompileCPUTimeMSec)
		s.equal("name", m.Method, p.MethodName)
		s.equal("bytes of IL of "+m.Method, m.ILBytes, p.ILSize)
		s.equal("bytes of code of "+m.Method, m.NativeBytes, p.NativeSize)
		s.equal("version of "+m.Method, m.Version, p.VersionID)
		s.equal("tier of "+m.Method, m.Tier, cmp.Or(peerTiers[p.OptimizationTier], strconv.Itoa(p.OptimizationTier)))
		s.equal("module of "+m.Method, m.Module, p.ModuleILPath)
		return
	}
	s.t.Errorf("%s: jit: %s at %v on thread %d is not in our list", s.file, p.MethodName, p.StartTimeMSec, p.ThreadID)
}
