package analysis_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"math/bits"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/analysis"
	"github.com/etwgen/etwgen/analysis/activities"
	"github.com/etwgen/etwgen/analysis/alloc"
	"github.com/etwgen/etwgen/analysis/asyncs"
	"github.com/etwgen/etwgen/analysis/contention"
	"github.com/etwgen/etwgen/analysis/cpu"
	"github.com/etwgen/etwgen/analysis/exceptions"
	"github.com/etwgen/etwgen/analysis/files"
	"github.com/etwgen/etwgen/analysis/gc"
	"github.com/etwgen/etwgen/analysis/handles"
	"github.com/etwgen/etwgen/analysis/heap"
	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/analysis/jit"
	"github.com/etwgen/etwgen/analysis/lifecycle"
	"github.com/etwgen/etwgen/analysis/loader"
	"github.com/etwgen/etwgen/analysis/need"
	"github.com/etwgen/etwgen/analysis/outstanding"
	"github.com/etwgen/etwgen/analysis/requests"
	"github.com/etwgen/etwgen/analysis/runtimes"
	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/analysis/threadpool"
	"github.com/etwgen/etwgen/analysis/waits"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/dotnet"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/generated/windows/disk"
	"github.com/etwgen/etwgen/generated/windows/file"
	"github.com/etwgen/etwgen/generated/windows/network"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/eventpipe"
)

// needy are the analyses of a runtime's events: their needs, the events they cannot do
// without, and how much they find in a recording.
var needy = []struct {
	name   string // of the package
	needs  []need.Need
	events []any
	begin  func(*etw.Mux) func() float64
	trace  string
}{
	{"gc", gc.Needs, []any{&clr.AnyGCStart{}, &clr.AnyGCEnd{}, &clr.AnyGCSuspendEEBegin{}, &clr.AnyGCRestartEEEnd{}, &clr.AnyGCHeapStats{}},
		func(m *etw.Mux) func() float64 {
			a := gc.New(m)
			return func() float64 { return a.Result().Runtimes[0].PauseMS }
		}, "gc-server-10.nettrace"},
	{"alloc", alloc.Needs, []any{&clr.AnyGCAllocationTick{}},
		func(m *etw.Mux) func() float64 {
			a := alloc.New(m)
			return func() float64 { return float64(a.Result().Runtimes[0].Ticks.Bytes) }
		}, "alloc-10.nettrace"},
	{"alloc", alloc.NeedsSampled, []any{&clr.AllocationSampled{}},
		func(m *etw.Mux) func() float64 {
			a := alloc.New(m)
			return func() float64 { return float64(a.Result().Runtimes[0].Samples.Count) }
		}, "alloc-sampled-10.nettrace"},
	{"alloc", alloc.NeedsExact, []any{&clr.GCSampledObjectAllocationHigh{}}, func(m *etw.Mux) func() float64 { alloc.New(m); return nil }, ""},
	{"exceptions", exceptions.Needs, []any{&clr.AnyExceptionThrown{}},
		func(m *etw.Mux) func() float64 {
			a := exceptions.New(m)
			return func() float64 { return float64(a.Result().Count) }
		}, "exceptions-10.nettrace"},
	{"exceptions", exceptions.NeedsHandling, []any{&clr.AnyExceptionThrown{}, &clr.ExceptionCatchStart{}, &clr.ExceptionFinallyStart{}, &clr.ExceptionFilterStart{}, &clr.ExceptionThrownStop{}},
		func(m *etw.Mux) func() float64 {
			a := exceptions.New(m)
			return func() float64 { return a.Result().Runtimes[0].Filters.Or(0) + a.Result().Runtimes[0].Finallys.Or(0) }
		}, "exceptions-10.nettrace"},
	{"jit", jit.Needs, []any{&clr.AnyMethodJittingStarted{}, &clr.AnyMethodLoadVerbose{}},
		func(m *etw.Mux) func() float64 {
			a := jit.New(m)
			return func() float64 { return a.Result().InclusiveMS }
		}, "jit-10.nettrace.gz"},
	{"contention", contention.Needs, []any{&clr.AnyContentionStart{}, &clr.AnyContentionStop{}},
		func(m *etw.Mux) func() float64 {
			a := contention.New(m)
			return func() float64 { return a.Result().TotalMS }
		}, "locks-10.nettrace"},
	{"waits", waits.Needs, []any{&clr.WaitHandleWaitStart{}, &clr.WaitHandleWaitStop{}},
		func(m *etw.Mux) func() float64 {
			a := waits.New(m)
			return func() float64 { return a.Result().TotalMS }
		}, "waits-10.nettrace"},
	{"waits", waits.NeedsPool, []any{&clr.WaitHandleWaitStart{}, &clr.WaitHandleWaitStop{}, &clr.ThreadPoolWorkerThreadStart{}, &clr.ThreadPoolWorkerThreadWait{}},
		func(m *etw.Mux) func() float64 {
			a := waits.New(m)
			return func() float64 { return a.Result().TotalMS - a.Result().Runtimes[0].PoolMS/2 }
		}, "waits-10.nettrace"},
	{"threadpool", threadpool.Needs, []any{&clr.ThreadPoolWorkerThreadStart{}, &clr.ThreadPoolWorkerThreadStop{}, &clr.ThreadPoolWorkerThreadWait{}, &clr.ThreadPoolWorkerThreadAdjustmentAdjustment{}},
		func(m *etw.Mux) func() float64 {
			a := threadpool.New(m)
			return func() float64 { return float64(len(a.Result().Runtimes[0].Adjustments)) }
		}, "pool-10.nettrace"},
	{"loader", loader.Needs, []any{&clr.AnyAssemblyLoad{}, &clr.AssemblyLoadStart{}, &clr.AssemblyLoadStop{}},
		func(m *etw.Mux) func() float64 {
			a := loader.New(m)
			return func() float64 { return float64(len(a.Result().Runtimes[0].Modules)) }
		}, "loader-10.nettrace.gz"},
	{"runtimes", runtimes.Needs, []any{&clr.RuntimeInformationStart{}},
		func(m *etw.Mux) func() float64 {
			a := runtimes.New(m)
			return func() float64 { return float64(len(a.Result().Runtimes)) }
		}, "jit-10.nettrace.gz"},
	{"lifecycle", lifecycle.Needs, []any{&clr.AnyMethodJittingStarted{}},
		func(m *etw.Mux) func() float64 {
			a := lifecycle.New(m)
			return func() float64 { return float64(len(a.Result().Processes[0].Phases)) }
		}, "jit-10.nettrace.gz"},
	{"handles", handles.Needs, []any{&clr.SetGCHandle{}, &clr.DestroyGCHandle{}}, func(m *etw.Mux) func() float64 { handles.New(m); return nil }, ""},
	// Some of its keywords have no events, but make the runtime send those of others.
	{"heap", heap.Needs, nil,
		func(m *etw.Mux) func() float64 {
			a := heap.New(m)
			return func() float64 { return float64(a.Result().Snapshots[0].Bytes) }
		}, "heap-10.nettrace.gz"},
}

// newest returns the description of the newest version of an event.
func newest(event any) *etw.EventDesc {
	if e, ok := event.(etw.AnyVersion); ok {
		all := etw.Versions(e)
		return all[len(all)-1]
	}
	return event.(etw.Event).EventDesc()
}

// enables reports whether needs bring an event of a provider.
func enables(needs []need.Need, provider string, keywords uint64, level etw.Level) bool {
	return slices.ContainsFunc(needs, func(n need.Need) bool {
		return n.Provider == provider && level <= n.Level && (keywords == 0 || keywords&n.Keywords != 0)
	})
}

// The needs of an analysis bring the events that it cannot do without, no keyword and no
// level of it can be left out.
func TestNeeds(t *testing.T) {
	for _, x := range needy {
		n := x.needs[0]
		if named, err := clr.ParseKeywords(strings.NewReplacer(" and ", ",", ", ", ",").Replace(n.Names)); n.Names != "" && (err != nil || uint64(named) != n.Keywords) {
			t.Errorf("%s: %s is %v, %v", x.name, n.Names, named, err)
		}
		all := func(less need.Need) bool {
			return !slices.ContainsFunc(x.events, func(e any) bool {
				d := newest(e)
				return !enables([]need.Need{less}, d.Provider.Name, d.Keywords, d.Level)
			})
		}
		if !all(n) {
			t.Errorf("%s: %s does not bring all of its events", x.name, &n)
		}
		if len(x.events) == 0 {
			continue
		}
		less := n
		if less.Level--; all(less) {
			t.Errorf("%s: %s is enough", x.name, &less)
		}
		for rest := n.Keywords; rest != 0; rest &= rest - 1 {
			less = n
			if less.Keywords &^= 1 << bits.TrailingZeros64(rest); all(less) {
				t.Errorf("%s: %s is enough", x.name, &less)
			}
		}
	}
}

// An analysis asks a session for its needs, and no more.
func TestAsks(t *testing.T) {
	for _, test := range []struct {
		name  string
		begin func(*etw.Mux)
		needs []need.Need
	}{
		{"gc", func(m *etw.Mux) { gc.New(m) }, gc.Needs},
		{"alloc", func(m *etw.Mux) { alloc.New(m) }, alloc.Needs},
		{"exceptions", func(m *etw.Mux) { exceptions.New(m) }, exceptions.NeedsHandling},
		{"jit", func(m *etw.Mux) { jit.New(m) }, jit.Needs},
		{"contention", func(m *etw.Mux) { contention.New(m) }, contention.Needs},
		{"waits", func(m *etw.Mux) { waits.New(m) }, waits.NeedsPool},
		{"threadpool", func(m *etw.Mux) { threadpool.New(m) }, threadpool.Needs},
		{"loader", func(m *etw.Mux) { loader.New(m) }, loader.Needs},
		{"runtimes", func(m *etw.Mux) { runtimes.New(m) }, runtimes.Needs},
		{"lifecycle", func(m *etw.Mux) { lifecycle.New(m) }, lifecycle.Needs},
		{"handles", func(m *etw.Mux) { handles.New(m) }, handles.Needs},
		{"heap", func(m *etw.Mux) { heap.New(m) }, heap.Needs},
		{"requests", func(m *etw.Mux) { requests.New(m) }, requests.Needs},
		{"symbols", func(m *etw.Mux) { symbols.New(m) }, symbols.Needs},
		{"cpu", func(m *etw.Mux) { cpu.New(m) }, cpu.Needs},
		{"analysis", func(m *etw.Mux) { analysis.New(m) }, analysis.Needs},
	} {
		var mux etw.Mux
		test.begin(&mux)
		var specs []string
		for _, e := range mux.Enablement() {
			specs = append(specs, e.String())
			if e.Provider.Name == need.CLR && test.name != "heap" && test.name != "handles" && e.Keywords&clr.Provider.Desc.Costly != 0 {
				t.Errorf("%s changes the program that it watches: %v", test.name, e)
			}
			if e.Provider.Name == need.CLR && e.Changes() != e.Keywords&clr.Provider.Desc.Costly {
				t.Errorf("%s: %v does not say that it changes the program by %#x", test.name, e, e.Keywords&clr.Provider.Desc.Costly)
			}
			for _, p := range slices.Concat(dotnet.Providers(), []*etw.Provider{clr.Provider}) {
				if p.Desc.Name == e.Provider.Name && p.Desc.GUID != e.Provider.GUID {
					t.Errorf("%s: %s has the GUID %v, and not %v", test.name, p.Desc.Name, p.Desc.GUID, e.Provider.GUID)
				}
			}
		}
		want := strings.Split(need.Providers(test.needs), ",")
		slices.Sort(want)
		if !slices.Equal(specs, want) {
			t.Errorf("%s asks for %v, and needs %v", test.name, specs, want)
		}
	}
}

// A recording of the needs of an analysis, and no more, has the same answer.
func TestNeedsSuffice(t *testing.T) {
	for _, x := range needy {
		if x.trace == "" {
			continue
		}
		var found [2]float64
		for i := range found {
			var mux etw.Mux
			answer := x.begin(&mux)
			source := testtrace.Open(t, "../tests/recorded/answers/"+x.trace)
			for r := range testio.Records(t, etw.Records(source)) {
				if i == 1 && r.ProviderName == need.CLR && !enables(x.needs, r.ProviderName, r.Keywords, r.Level) {
					continue
				}
				if err := mux.Dispatch(r); err != nil {
					t.Fatal(err)
				}
			}
			found[i] = answer()
		}
		if found[0] != found[1] || found[0] == 0 {
			t.Errorf("%s: %s has %v, with what %s brings %v", x.name, x.trace, found[0], &x.needs[0], found[1])
		}
	}
}

// TestSeen has traces tell that they have the needs of an analysis, and the same without its
// events that they have not.
func TestSeen(t *testing.T) {
	for _, x := range needy {
		if x.trace == "" {
			continue
		}
		whole, without := need.Follow(x.needs), need.Follow(x.needs)
		for r := range testio.Records(t, etw.Records(testtrace.Open(t, "../tests/recorded/answers/"+x.trace))) {
			whole.See(r)
			n := &x.needs[0]
			if !(r.ProviderName == n.Provider && (slices.Contains(n.Events[:], r.ID) || n.Events[0] == 0 && (n.Keywords == 0 || r.Keywords&n.Keywords != 0))) {
				without.See(r)
			}
		}
		n := &x.needs[0]
		if whole.Has(n, true) != need.Present || without.Has(n, false) != need.Absent || without.Has(n, true) != need.Lost {
			t.Errorf("%s, %s: %s, without its events %s", x.name, x.trace, whole.Has(n, true), without.Has(n, false))
		}
		if n.Events[0] != 0 && len(x.events) > 0 && !slices.ContainsFunc(x.events, func(e any) bool { return slices.Contains(n.Events[:], newest(e).ID) }) {
			t.Errorf("%s: %v are none of its events", x.name, n.Events)
		}
	}
	if s := need.Follow([]need.Need{need.Images}).Has(&need.Images, false); s != need.Unknown {
		t.Error("images:", s)
	}
	seen := need.Follow(files.Needs)
	for _, opcode := range []etw.Opcode{0, 36, 78} { // names, which other recordings have, too
		seen.See(&etw.Record{Kind: etw.KindClassic, Provider: etw.Versions(new(kernel.AnyFileIoRead))[0].Class, Opcode: opcode})
	}
	if absent, lost := seen.Has(&files.Needs[0], false), seen.Has(&files.Needs[0], true); absent != need.Absent || lost != need.Lost {
		t.Errorf("operations on files: %s, %s", absent, lost)
	}
}

// Kernel has the events that kernels log, by classes and by providers.
func TestSeenKernel(t *testing.T) {
	for _, x := range []struct {
		need   need.Need
		events []etw.AnyVersion
	}{
		{need.Network, []etw.AnyVersion{new(kernel.AnyTCPIPSend), new(kernel.AnyTCPIPRecvIPV6), new(kernel.AnyUDPIPRecv), new(network.AnyTCPSend)}},
		{need.Files, []etw.AnyVersion{new(kernel.AnyFileIoRead), new(kernel.AnyFileIoCreate), new(file.AnyRead), new(file.AnyCreate)}},
		{need.Disks, []etw.AnyVersion{new(kernel.AnyDiskIoRead), new(kernel.AnyDiskIoFlushBuffers), new(disk.AnyWrite)}},
		{need.Switches, []etw.AnyVersion{new(kernel.AnyThreadCSwitch)}},
		{need.Samples, []etw.AnyVersion{new(kernel.AnyPerfInfoSample)}},
		{need.Registry, []etw.AnyVersion{new(kernel.AnyRegistryOpen), new(kernel.AnyRegistryQuerySecurity)}},
		{outstanding.VirtualMemory.Needs[0], []etw.AnyVersion{new(kernel.AnyPageFaultVirtualAlloc), new(kernel.AnyPageFaultVirtualFree)}},
		{outstanding.NativeHeap.Needs[0], []etw.AnyVersion{new(kernel.AnyHeapAlloc), new(kernel.AnyHeapFree)}},
		{outstanding.Pool.Needs[0], []etw.AnyVersion{new(kernel.AnyPoolAllocation), new(kernel.AnyPoolSessionPoolFree)}},
		{outstanding.Handles.Needs[0], []etw.AnyVersion{new(kernel.AnyObjectCreateHandle), new(kernel.AnyObjectDuplicateHandle)}},
	} {
		for _, e := range x.events {
			d, seen := etw.Versions(e)[0], need.Follow([]need.Need{x.need})
			r := &etw.Record{Kind: etw.KindManifest, Provider: d.Provider.GUID, ID: d.ID}
			if d.Provider.GUID == kernel.Provider.Desc.GUID {
				r = &etw.Record{Kind: etw.KindClassic, Provider: d.Class, Opcode: d.Opcode}
			}
			if seen.See(r); seen.Has(&x.need, false) != need.Present {
				t.Errorf("%s: %s is none of them", x.need.What, d.Title())
			}
		}
	}
	for name, n := range map[string]*need.Need{"cswitch": &need.Switches, "cpu": &cpu.NeedsLinux[0]} {
		for _, there := range []string{name, "other"} {
			seen := need.Follow([]need.Need{*n})
			seen.See(&etw.Record{Provider: etw.NameGUID("Universal.Events"), Schema: &etw.EventDesc{Name: there}})
			if s := seen.Has(n, false); (s == need.Present) != (there == name) || s == need.Unknown {
				t.Errorf("%s: of a trace with %s they are %s", n.What, there, s)
			}
		}
	}
}

// Packages and pages name the needs of the analyses.
func TestNeedsTold(t *testing.T) {
	page := testio.Read(t, "../docs/answers.md")
	recording := testio.Read(t, "../docs/recording.md")
	commands := map[string]string{"alloc": "allocs", "contention": "waits --locks", "runtimes": "", "handles": "", "loader": "", "lifecycle": "startup --phases"}
	rows := make(map[string]bool)                                                               // of commands, whether they say what one of the needs is
	specs := map[string]bool{"jit": true, "runtimes": true, "lifecycle": true, "handles": true} // which stand for more there, or do not stand there
	for _, x := range needy {
		n := &x.needs[0]
		about := comment(t, x.name)
		told := strings.Contains(about, fmt.Sprintf("%#x", n.Keywords)) || n.Keywords == 0
		for rest := n.Keywords; !told && rest != 0; rest &= rest - 1 {
			if bit := fmt.Sprintf("%#x", rest&-rest); !strings.Contains(about, bit) {
				t.Errorf("package %s does not tell of keyword %s", x.name, bit)
			}
		}
		if level := fmt.Sprintf("level %d", n.Level); n.Keywords != 0 && !strings.Contains(about, level) {
			t.Errorf("package %s does not tell of %s", x.name, level)
		}
		specs[x.name] = specs[x.name] || strings.Contains(string(recording), "`"+n.String()+"`")
		command, other := commands[x.name]
		if !other {
			command = x.name
		}
		_, row, _ := strings.Cut(string(page), "| `etw "+command+"` |")
		row, _, _ = strings.Cut(row, "\n")
		if command != "" {
			mask := strings.NewReplacer("(", "", ")", "").Replace(row)
			rows[command] = rows[command] || strings.Contains(mask, fmt.Sprintf("%#x, %d", n.Keywords, n.Level))
		}
	}
	for command, told := range rows {
		if !told {
			t.Errorf("docs/answers.md does not say what to record for etw %s", command)
		}
	}
	for name, told := range specs {
		if !told {
			t.Errorf("docs/recording.md does not have what package %s needs", name)
		}
	}
}

// comment returns the comment of a package, in one line.
func comment(t *testing.T, name string) string {
	files, err := filepath.Glob(filepath.Join(name, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	for _, path := range files {
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		text += f.Doc.Text()
	}
	return strings.Join(strings.Fields(text), " ")
}

// Every profile brings the needs of its analyses.
func TestProfiles(t *testing.T) {
	covers := map[string][][]need.Need{
		"alloc": {alloc.Needs}, "common": {gc.Needs, exceptions.NeedsHandling, contention.Needs, threadpool.Needs}, "contention": {contention.Needs},
		"cause": {activities.Needs, asyncs.Needs, requests.Needs, cpu.Needs, jit.Needs}, "cause-light": {activities.Needs, requests.Needs, cpu.Needs},
		"cpu": {cpu.Needs}, "exceptions": {exceptions.NeedsHandling}, "gc-collect": {gc.Needs}, "gc-verbose": {gc.Needs, alloc.Needs, handles.Needs, exceptions.NeedsHandling}, "heap": {heap.Needs},
		"jit": {jit.Needs}, "requests": {requests.Needs}, "threadpool": {threadpool.Needs},
	}
	for _, p := range eventpipe.Profiles() {
		if len(covers[p.Name]) == 0 {
			t.Errorf("of %s nobody knows what it is for", p.Name)
		}
		for _, n := range slices.Concat(covers[p.Name]...) {
			if !slices.ContainsFunc(p.Providers, func(x eventpipe.Provider) bool {
				return x.Name == n.Provider && n.Keywords&^x.Keywords == 0 && n.Level <= x.Level
			}) {
				t.Errorf("%s does not bring %s", p.Name, &n)
			}
		}
	}
}
