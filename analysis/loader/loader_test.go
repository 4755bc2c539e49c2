package loader

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/clr/rundown"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/google/go-cmp/cmp"
)

func analyze(tb testing.TB, path string) *Result { return testtrace.Analyze(tb, New, path) }

// set returns the different names in a list, sorted.
func set[T any](list []T, name func(T) string) []string {
	var names []string
	for _, v := range list {
		if n := name(v); n != "" {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func TestTraceEventAgrees(t *testing.T) {
	compared := 0
	for _, path := range testtrace.All(t) {
		var peer struct {
			Loader struct {
				Assemblies, Modules []string
				Counts              map[string]int
				Methods             int
				MethodBytes         uint64
			}
		}
		if !testtrace.Peer(t, path, &peer) {
			continue
		}
		name, res, theirs := testtrace.Name(path), analyze(t, path), &peer.Loader
		var all Runtime
		stages, probes, types := 0, 0, 0
		for _, rt := range res.Runtimes {
			all.Assemblies = append(all.Assemblies, rt.Assemblies...)
			all.Modules = append(all.Modules, rt.Modules...)
			all.Binds = append(all.Binds, rt.Binds...)
			all.Methods += rt.Methods
			all.MethodBytes += rt.MethodBytes
			for _, s := range rt.Stages {
				stages += s.Count
			}
			for _, s := range rt.Probes {
				probes += s.Count
			}
			if rt.Types != nil {
				types += rt.Types.Count
			}
		}
		if diff := cmp.Diff(set(theirs.Assemblies, func(s string) string { return s }), set(all.Assemblies, func(a Assembly) string { return a.Name })); diff != "" {
			t.Errorf("%s: assemblies (-TraceEvent +ours):\n%s", name, diff)
		}
		if diff := cmp.Diff(set(theirs.Modules, func(s string) string { return s }), set(all.Modules, func(m Module) string { return m.Path })); diff != "" {
			t.Errorf("%s: modules (-TraceEvent +ours):\n%s", name, diff)
		}
		compared += len(all.Assemblies) + len(all.Modules)
		got := [...]int{len(all.Binds), stages, probes, all.Methods, int(all.MethodBytes)}
		want := [...]int{theirs.Counts["AssemblyLoader/Stop"], theirs.Counts["AssemblyLoader/ResolutionAttempted"], theirs.Counts["AssemblyLoader/KnownPathProbed"], theirs.Methods, int(theirs.MethodBytes)}
		if got != want {
			t.Errorf("%s: binds, stages, probes, methods and their bytes are %d, and TraceEvent says %d", name, got, want)
		}
	}
	t.Logf("%d assemblies and modules compared", compared)
}

// The figures were measured before, by another program.
func TestKnownTypeLoads(t *testing.T) {
	found := false
	for _, path := range testtrace.All(t) {
		for _, rt := range analyze(t, path).Runtimes {
			if rt.Types == nil {
				continue
			}
			found = true
			if rt.Types.ExclusiveMS > rt.Types.InclusiveMS+1e-6 {
				t.Errorf("%s: %+v", path, rt.Types)
			}
			count, ms := 0, 0.0
			for _, l := range rt.Types.Levels {
				count += l.Count
				ms += l.ExclusiveMS
			}
			if count != rt.Types.Count || math.Abs(ms-rt.Types.ExclusiveMS) > 1e-6 {
				t.Errorf("%s: %d loads of %v ms, by level %d of %v", path, rt.Types.Count, rt.Types.ExclusiveMS, count, ms)
			}
		}
	}
	if !found {
		t.Skip("no trace has loads of types")
	}
}

// The program knows which contexts it loaded and which it did not find.
func TestTruth(t *testing.T) {
	path := testtrace.Named(t, "loader.nettrace")
	var truth struct {
		Contexts int
		Counts   struct {
			NotFound int `json:"assembly_not_found"`
		}
	}
	if !testtrace.Truth(t, path, &truth) {
		t.Skip("the program says nothing")
	}
	rt := analyze(t, path).Runtimes[0]
	plugins, unloaded := 0, 0
	for _, m := range rt.Assemblies {
		if len(m.Name) > 9 && m.Name[:9] == "RecPlugin" {
			plugins++
			if !m.UnloadedMS.IsZero() && m.Collectible {
				unloaded++
			}
		}
	}
	if plugins != truth.Contexts || unloaded != truth.Contexts || rt.Failed != truth.Counts.NotFound {
		t.Errorf("%d plugins, %d unloaded, %d not found; want %+v", plugins, unloaded, rt.Failed, truth)
	}
}

func TestEvents(t *testing.T) {
	var mux etw.Mux
	a := New(&mux)
	s := testtrace.NewScript(t, &mux)
	text, ms := etw.MakeUTF16, time.Millisecond
	s.Event(0, 1, &clr.AppDomainLoadV1{})
	s.Event(1*ms, 1, &clr.AssemblyLoadV1{AssemblyID: 1, FullyQualifiedAssemblyName: text("A"), AssemblyFlags: clr.AssemblyFlagsDynamic})
	s.Event(2*ms, 1, &clr.ModuleLoadV2{ModuleID: 2, ModuleILPath: text("a.dll"), ModuleFlags: clr.ModuleFlagsReadyToRunModule | clr.ModuleFlagsPartialReadyToRunModule, ManagedPdbSignature: etw.GUID{1}, ManagedPdbAge: 1})
	s.Event(3*ms, 1, &clr.AssemblyUnloadV1{AssemblyID: 1})
	s.Event(3*ms, 1, &clr.AssemblyUnloadV1{AssemblyID: 9})
	s.Event(3*ms, 1, &clr.ModuleUnloadV2{ModuleID: 2})
	s.Event(3*ms, 1, &clr.ModuleUnloadV2{ModuleID: 9})
	s.Event(4*ms, 1, &rundown.AssemblyDCEndV1{AssemblyID: 5, FullyQualifiedAssemblyName: text("B")})
	s.Event(4*ms, 1, &rundown.AssemblyDCEndV1{AssemblyID: 5, FullyQualifiedAssemblyName: text("B")})
	s.Event(4*ms, 1, &clr.AssemblyUnloadV1{AssemblyID: 5})
	s.Event(4*ms, 1, &rundown.AssemblyDCEndV1{AssemblyID: 1, FullyQualifiedAssemblyName: text("A")}) // of a runtime that ends
	s.Event(4*ms, 1, &rundown.ModuleDCEndV2{ModuleID: 2, ModuleILPath: text("a.dll")})
	s.Event(4*ms, 1, &clr.MethodLoadV2{MethodSize: 7})
	s.Event(4*ms, 1, &clr.AssemblyLoadStop{}) // that began before
	s.Event(5*ms, 1, &clr.AssemblyLoadStart{AssemblyName: text("C")})
	s.Event(5*ms, 1, &clr.ResolutionAttempted{ErrorMessage: text("no")})
	s.Event(5*ms, 1, &clr.KnownPathProbed{Result: 2})
	s.Event(5*ms, 1, &clr.AssemblyLoadContextResolvingHandlerInvoked{})
	s.Event(5*ms, 1, &clr.AppDomainAssemblyResolveHandlerInvoked{})
	s.Event(5*ms, 1, &clr.AssemblyLoadFromResolveHandlerInvoked{})
	s.Event(7*ms, 1, &clr.AssemblyLoadStop{Cached: 1})
	s.Event(8*ms, 1, &clr.TypeLoadStart{TypeLoadStartID: 1})
	s.Event(9*ms, 1, &clr.TypeLoadStart{TypeLoadStartID: 2})
	s.Event(10*ms, 1, &clr.TypeLoadStart{TypeLoadStartID: 3})
	s.Event(10*ms, 1, &clr.TypeLoadStart{TypeLoadStartID: 4}) // whose end is lost
	s.Event(10*ms, 1, &clr.TypeLoadStop{TypeLoadStartID: 3, LoadLevel: 6, TypeName: text("T")})
	s.Event(11*ms, 1, &clr.TypeLoadStop{TypeLoadStartID: 2, LoadLevel: 6})
	s.Event(14*ms, 1, &clr.TypeLoadStop{TypeLoadStartID: 1, LoadLevel: 4})
	s.Event(14*ms, 1, &clr.TypeLoadStop{TypeLoadStartID: 9})
	rt := a.Result().Runtimes[0]
	names := set(rt.Assemblies, func(a Assembly) string { return a.Name })
	if diff := cmp.Diff([]string{"A", "B"}, names); diff != "" || !rt.Assemblies[1].Dynamic || rt.Assemblies[1].UnloadedMS.Or(0) != 3 {
		t.Errorf("%+v", rt.Assemblies)
	}
	if m := rt.Modules[0]; len(rt.Modules) != 1 || len(rt.Assemblies) != 2 || !m.ReadyToRun || !m.Partial || m.PDB == "" || m.UnloadedMS.Or(0) != 3 {
		t.Errorf("%+v", m)
	}
	if b := rt.Binds[0]; b.DurationMS != 2 || b.Requested != "C" || len(b.Errors) != 1 || rt.Failed != 1 || rt.Cached != 1 || rt.Handlers != 3 || rt.Probes[0].Result != "not found" {
		t.Errorf("%+v, %+v", b, rt)
	}
	if l := rt.Types; l.Count != 3 || l.InclusiveMS != 8 || l.ExclusiveMS != 6 || l.LostStops != 1 || l.Levels[1].Count != 2 || l.Longest[0].ExclusiveMS != 4 {
		t.Errorf("%+v", l)
	}
	if rt.Methods != 1 || rt.MethodBytes != 7 || rt.AppDomains != 1 {
		t.Errorf("%+v", rt)
	}
}
