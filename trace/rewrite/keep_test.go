package rewrite

import (
	"encoding/binary"
	"testing"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/clr/rundown"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/generated/universal"
	"github.com/etwgen/etwgen/runtime/etw"
)

// recordOf returns a record of an event, of process 7 and thread 8.
func recordOf(e etw.AnyVersion) *etw.Record {
	d := etw.Versions(e)[0]
	k := d.Key()
	return &etw.Record{Kind: k.Kind, Provider: k.Provider, ID: d.ID, Opcode: d.Opcode, ProcessID: 7, ThreadID: 8, PointerSize: etw.Ptr64}
}

// Each reason has its own condition.
func TestKeeperReasons(t *testing.T) {
	all, of8 := Keeper{Stacks: true}, Keeper{Stacks: true, Process: func(pid int64) bool { return pid == 8 }}
	var names Keeper
	bare := Keeper{NoRundown: true}
	answer := Keeper{Stacks: true, Answer: true, Process: of8.Process}
	image0 := recordOf(new(kernel.AnyImageLoad))
	image0.ProcessID = 0
	fork := &etw.Record{Kind: etw.KindManifest, ProviderName: "Universal.Events", ProcessID: 7, Schema: &etw.EventDesc{Name: "sched_process_fork"}}
	schema := &etw.Record{Kind: etw.KindManifest, Provider: etw.GUID{1}, ID: manifestEvent}
	named := &etw.Record{Kind: etw.KindManifest, ProviderName: universal.Provider.Desc.Name, ProcessID: 7}
	for _, c := range []struct {
		name                          string
		r                             *etw.Record
		all, of8, names, bare, answer bool
	}{
		{"header", recordOf(new(kernel.AnyEventTraceHeader)), true, true, true, true, true},
		{"extension of the header", recordOf(new(kernel.AnyEventTraceExtension)), true, true, true, true, true},
		{"schema", recordOf(new(kernel.AnyMetaDataEventInfo)), true, true, true, true, true},
		{"manifest of an EventSource", schema, true, true, true, true, true},
		{"process", recordOf(new(kernel.AnyProcessDCStart)), true, true, true, false, false},
		{"use of processes", recordOf(new(kernel.AnyProcessPerfCtr)), false, false, false, false, false},
		{"thread", recordOf(new(kernel.AnyThreadSetName)), true, true, true, false, false},
		{"context switch", recordOf(new(kernel.AnyThreadCSwitch)), false, false, false, false, false},
		{"machine", recordOf(new(kernel.AnySystemConfigNIC)), true, true, true, false, true},
		{"volumes", recordOf(new(kernel.AnySysConfigVolumeMapping)), true, true, true, false, true},
		{"name of a file", recordOf(new(kernel.AnyFileIoFileRundown)), true, true, true, false, true},
		{"name of a key", &etw.Record{Kind: etw.KindClassic, Provider: registryClass, Opcode: 22}, true, true, true, false, true},
		{"read of a key", &etw.Record{Kind: etw.KindClassic, Provider: registryClass, Opcode: 16}, false, false, false, false, false},
		{"interval of samples", recordOf(new(kernel.AnyPerfInfoCollectionStart)), true, true, true, false, true},
		{"process of Linux", fork, true, true, true, false, false},
		{"image of the kernel", image0, true, true, true, false, false},
		{"types", recordOf(new(clr.AnyBulkType)), true, false, true, false, false},
		{"read from a file", recordOf(new(kernel.AnyFileIoRead)), false, false, false, false, false},
		{"image", recordOf(new(kernel.AnyImageLoad)), true, false, true, false, false},
		{"identity of an image", recordOf(new(kernel.AnyImageIDDbgIDRSDS)), true, false, true, false, false},
		{"rundown", recordOf(new(rundown.AnyMethodDCEndVerbose)), true, false, true, false, false},
		{"runtime", recordOf(new(clr.AnyRuntimeInformationStart)), true, false, true, false, false},
		{"mapping", named, true, false, true, false, false},
		{"method", recordOf(new(clr.AnyMethodLoadVerbose)), true, false, false, false, false},
		{"module", recordOf(new(clr.AnyModuleLoad)), true, false, false, false, false},
		{"collection", recordOf(new(clr.AnyGCStart)), false, false, false, false, false},
		{"stack of nothing", recordOf(new(clr.AnyStackWalk)), false, false, false, false, false},
		{"kernel's stack of nothing", recordOf(new(kernel.AnyStackWalkStack)), false, false, false, false, false},
		{"key of nothing", recordOf(new(kernel.AnyStackWalkKeyRundown)), false, false, false, false, false},
	} {
		for _, k := range []struct {
			name string
			*Keeper
			want bool
		}{{"all", &all, c.all}, {"of process 8", &of8, c.of8}, {"names", &names, c.names}, {"bare", &bare, c.bare}, {"answer", &answer, c.answer}} {
			if got := k.Needs(c.r); got != k.want {
				t.Errorf("%s, %s: %v, want %v", c.name, k.name, got, k.want)
			}
		}
	}
}

// A call stack stays with its event: by time, by key, or since it follows on the thread.
func TestKeeperStacks(t *testing.T) {
	k := Keeper{Stacks: true}
	walk := func(e etw.AnyVersion, words ...uint64) *etw.Record {
		r := recordOf(e)
		for _, w := range words {
			r.Payload = binary.LittleEndian.AppendUint64(r.Payload, w)
		}
		return r
	}
	needs := func(what string, r *etw.Record, want bool) {
		t.Helper()
		if got := k.Needs(r); got != want {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	sample := recordOf(new(kernel.AnyPerfInfoSample))
	sample.Timestamp = 1000
	k.Chose(sample)
	needs("stack of the sample", walk(new(kernel.AnyStackWalkStack), 1000, 0, 0x1234), true)
	needs("stack of another event", walk(new(kernel.AnyStackWalkStack), 1001, 0, 0x1234), false)
	needs("key of the sample", walk(new(kernel.AnyStackWalkStackKeyUser), 1000, 0, 0xabc), true)
	needs("key of another event", walk(new(kernel.AnyStackWalkStackKeyUser), 1001, 0, 0xdef), false)
	needs("cut key", walk(new(kernel.AnyStackWalkStackKeyUser), 1000), false)
	needs("stack of the key", walk(new(kernel.AnyStackWalkKeyDelete), 0xabc, 0x1234), true)
	needs("stack of another key", walk(new(kernel.AnyStackWalkKeyDelete), 0xdef, 0x1234), false)

	// A definition has no process: it stays for references that were chosen themselves, too.
	k.Chose(walk(new(kernel.AnyStackWalkStackKeyKernel), 2000, 0, 0x123))
	needs("stack of a chosen key", walk(new(kernel.AnyStackWalkKeyRundown), 0x123, 0x1234), true)
	logged := recordOf(new(clr.AnyGCEnd))
	logged.Extended = []etw.ExtendedItem{{Type: etw.ExtStackKey64, Data: binary.LittleEndian.AppendUint64(make([]byte, 8), 0x456)}}
	k.Chose(logged)
	needs("stack that the event names", walk(new(kernel.AnyStackWalkKeyDelete), 0x456, 0x1234), true)

	k.Chose(recordOf(new(clr.AnyGCStart)))
	needs("stack of the collection", recordOf(new(clr.AnyStackWalk)), true)
	needs("end of the collection", recordOf(new(clr.AnyGCEnd)), false)
	needs("stack of the end", recordOf(new(clr.AnyStackWalk)), false)
}

// Needs is asked for every record of a trace, and allocates nothing.
func TestKeeperAllocates(t *testing.T) {
	k := Keeper{Stacks: true}
	records := []*etw.Record{recordOf(new(clr.AnyGCStart)), recordOf(new(kernel.AnyThreadCSwitch)), recordOf(new(clr.AnyStackWalk))}
	k.Chose(records[0])
	if n := testing.AllocsPerRun(100, func() {
		for _, r := range records {
			k.Needs(r)
		}
	}); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

// The moments that count are the latest, whenever somebody first asks for one.
func TestMoments(t *testing.T) {
	for _, asked := range []int64{0, maxMoments, maxMoments + 50, maxMoments + 100} {
		var m moments
		for at := range int64(maxMoments + 100) {
			if at == asked {
				m.has(moment{"a", 0})
			}
			m.add(moment{"a", at})
			m.add(moment{"a", at})
		}
		for at, want := range map[moment]bool{{"a", 99}: false, {"a", 100}: true, {"a", maxMoments + 99}: true, {"b", 100}: false, {"a", maxMoments + 100}: false} {
			if got := m.has(at); got != want {
				t.Errorf("first asked before %d: has %v: %v, want %v", asked, at, got, want)
			}
		}
		if m.add(moment{"a", maxMoments + 100}); m.has(moment{"a", 100}) || !m.has(moment{"a", 101}) || len(m.set) != maxMoments {
			t.Errorf("first asked before %d: the oldest does not go for the next, %d are there", asked, len(m.set))
		}
	}
}
