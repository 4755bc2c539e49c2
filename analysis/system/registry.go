package system

import (
	"cmp"
	"strings"

	"github.com/etwgen/etwgen/analysis/table"
	"github.com/etwgen/etwgen/analysis/window"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Registry adds up the operations on keys of the registry, of a [window.Window] those that have a
// part in it, with that part. No recording with them was at hand:
// the layouts are those of descriptions.
type Registry struct {
	machine *Machine
	window  *window.Window
	blocks  map[uint64]*keyBlock // by address, those that are now
	rows    map[keyUse]*keyUses
	order   []*keyUses
	unfit   int
}

// A keyBlock is a block by which the kernel controls a key. Its name may come as late as the end
// of the trace.
type keyBlock struct{ name string }

// A keyUse is a key, by its name below a block, and who used it.
type keyUse struct {
	block  *keyBlock // nil if the name is the whole
	name   string
	thread *Thread
}

type keyUses struct {
	keyUse
	FileFacts
	ticks, longest int64
}

// What operations do, by their opcodes.
const (
	keyOpens = iota + 1
	keyReads
	keyWrites
	keyOthers
	keyBlockNamed
	keyBlockGone
)

var keyOperations = [...]uint8{
	10: keyOpens, 11: keyOpens, 12: keyWrites, 13: keyReads, 14: keyWrites, 15: keyWrites, 16: keyReads, 17: keyReads, 18: keyReads, 19: keyReads,
	20: keyWrites, 21: keyOthers, 22: keyBlockNamed, 23: keyBlockGone, 24: keyBlockNamed, 25: keyBlockNamed, 26: keyOthers, 27: keyOthers, 28: keyWrites, 29: keyReads,
}

// registryClass is that of the events.
const registryClass = "ae53722e-c863-11d2-8659-00c04fa321a1"

// NewRegistry returns the use of a registry of which nothing is known yet. Its handlers are
// registered at mux. They read the fields themselves: generated types would be 100 kB of a program.
func NewRegistry(mux *etw.Mux) *Registry {
	g := &Registry{machine: Of(mux), window: window.Of(mux), blocks: make(map[uint64]*keyBlock), rows: make(map[keyUse]*keyUses)}
	class := etw.MustParseGUID(registryClass)
	mux.HandleRest(func(r *etw.Record) error {
		if r.Kind == etw.KindClassic && r.Provider == class && int(r.Opcode) < len(keyOperations) && keyOperations[r.Opcode] != 0 {
			g.take(r, keyOperations[r.Opcode])
		}
		return nil
	})
	return g
}

func (g *Registry) take(r *etw.Record, does uint8) {
	c := etw.NewCursor(r.Payload, 0, r.PointerSize)
	begun, status := c.Int64(), c.Uint32()
	c.Uint32()
	address, name := uint64(c.Pointer()), c.UTF16()
	if r.Version < 2 || c.Failed() {
		g.unfit++
		return
	}
	block := g.block(address)
	switch does {
	case keyBlockNamed:
		if block != nil && name.Len() > 0 {
			block.name = name.String()
		}
	case keyBlockGone:
		if block != nil && name.Len() > 0 {
			block.name = cmp.Or(block.name, name.String())
		}
		delete(g.blocks, address)
	default:
		k := keyUse{block: block, thread: g.machine.Asker(r, r.ThreadID)}
		if does == keyOpens { // of others it is that of a value
			k.name = name.String()
		}
		took := max(r.Timestamp-begun, 0)
		if g.machine.at(r); g.machine.tooLong(uint64(took)) {
			took = 0
		}
		w := g.window.Ticks(r.Clock)
		if !w.Meets(r.Timestamp-took, r.Timestamp) {
			return
		}
		from, to := w.Clip(r.Timestamp-took, r.Timestamp)
		took = to - from
		g.of(k).add(does, status, took)
	}
}

// block returns the block at an address, or nil for none.
func (g *Registry) block(address uint64) *keyBlock {
	if address == 0 {
		return nil
	}
	b := g.blocks[address]
	if b == nil {
		b = new(keyBlock)
		g.blocks[address] = b
	}
	return b
}

func (g *Registry) of(k keyUse) *keyUses {
	x := g.rows[k]
	if x == nil {
		x = &keyUses{keyUse: k}
		g.rows[k] = x
		g.order = append(g.order, x)
	}
	return x
}

func (x *keyUses) add(does uint8, status uint32, took int64) {
	*[...]*uint64{keyOpens: &x.Opens, keyReads: &x.Reads, keyWrites: &x.Writes, keyOthers: &x.Others}[does]++
	if status>>30 == 3 { // the severity of errors
		x.failed++
	}
	x.ticks += took
	x.longest = max(x.longest, took)
}

// path returns the whole path of a key, as people write it.
func (k *keyUse) path() string {
	path := k.name
	if k.block != nil {
		path = strings.Trim(cmp.Or(k.block.name, unknown), `\`)
		if below := strings.Trim(k.name, `\`); below != "" {
			path += `\` + below
		}
		if k.block.name != "" {
			path = `\` + path
		}
	}
	for long, short := range map[string]string{`\REGISTRY\MACHINE`: "HKLM", `\REGISTRY\USER`: "HKU"} {
		if len(path) >= len(long) && strings.EqualFold(path[:len(long)], long) && (len(path) == len(long) || path[len(long)] == '\\') {
			return short + path[len(long):]
		}
	}
	return cmp.Or(path, unknown)
}

// A RegistryResult is the use of the registry, by key and process.
type RegistryResult struct {
	Schema int             `json:"schema"`
	Keys   []RegistryFacts `json:"keys"`
	// Unfit are events that are too short, or of Windows before Vista.
	Unfit int `json:"unfit,omitempty"`
}

// RegistryFacts are the operations of a process on a key.
type RegistryFacts struct {
	// Path begins with HKLM or HKU. A key whose block the trace does not name is (unknown), or
	// below it.
	Path    string `json:"path"`
	PID     ID     `json:"pid,omitzero"`
	Process string `json:"process,omitempty"`
	// Opens created the key or opened it. Reads asked for values, keys below it, or facts about it, and
	// Writes changed or deleted any of these. Others closed or flushed it.
	Opens  uint64 `json:"opens"`
	Reads  uint64 `json:"reads"`
	Writes uint64 `json:"writes"`
	Others uint64 `json:"others"`
	// Failed are those that ended with an error, such as that there is no such key.
	Failed uint64  `json:"failed"`
	MS     float64 `json:"ms"`
	// LongestMS is the longest operation.
	LongestMS float64 `json:"longestMs"`
}

// Result returns the use so far. It shares no memory that changes with g.
func (g *Registry) Result() *RegistryResult {
	var rows tally[FileFacts]
	spelt := make(map[string]string) // by the name in small letters: names have no case
	for _, x := range g.order {
		path := x.path()
		small := strings.ToLower(path)
		if spelt[small] == "" {
			spelt[small] = path
		}
		f := x.FileFacts
		f.MS, f.longestMS = g.machine.ms(float64(x.ticks)), g.machine.ms(float64(x.longest))
		rows.of(g.machine, &File{Path: spelt[small]}, x.thread).addUp(&f)
	}
	res := &RegistryResult{Schema: Schema, Keys: []RegistryFacts{}, Unfit: g.unfit}
	for _, f := range rows.list(nameFile) {
		res.Keys = append(res.Keys, RegistryFacts{f.Path, f.PID, f.Process, f.Opens, f.Reads, f.Writes, f.Others, f.failed, f.MS, f.longestMS})
	}
	return res
}

// Operations are all of them.
func (f *RegistryFacts) Operations() uint64 { return f.Opens + f.Reads + f.Writes + f.Others }

// file returns the facts in the form in which those of files are added up.
func (f *RegistryFacts) file() *FileFacts {
	return &FileFacts{Path: f.Path, PID: f.PID, Process: f.Process, Opens: f.Opens, Reads: f.Reads, Writes: f.Writes, Others: f.Others, MS: f.MS, failed: f.Failed, longestMS: f.LongestMS}
}

// Keep leaves the keys of processes for which has is true.
func (r *RegistryResult) Keep(has func(pid int64, process string) bool) {
	all := r.Keys
	r.Keys = r.Keys[:0]
	for i := range all {
		if has(int64(all[i].PID), all[i].Process) {
			r.Keys = append(r.Keys, all[i])
		}
	}
}

// Sum adds up all operations.
func (r *RegistryResult) Sum() RegistryFacts {
	var sum FileFacts
	for i := range r.Keys {
		sum.addUp(r.Keys[i].file())
	}
	return RegistryFacts{Opens: sum.Opens, Reads: sum.Reads, Writes: sum.Writes, Others: sum.Others, Failed: sum.failed, MS: sum.MS, LongestMS: sum.longestMS}
}

// Tables returns the tables of the registry: by key, process, or both.
func (r *RegistryResult) Tables() []table.View {
	return []table.View{r.by("key", "Keys", "file"), r.by("process", "Processes", "process"), r.by("access", "Keys by process", "access")}
}

func (r *RegistryResult) by(name, title, parts string) table.View {
	type row = group[fileKey, FileFacts]
	var groups grouping[fileKey, FileFacts]
	for i := range r.Keys {
		f := r.Keys[i].file()
		groups.at(f.key(parts)).addUp(f)
	}
	rows := groups.sorted(func(a, b *FileFacts) int {
		return cmp.Or(cmp.Compare(b.MS, a.MS), cmp.Compare(b.Operations(), a.Operations()))
	})
	return table.Of(name, title, rows, append(keyColumns[FileFacts](parts),
		table.Count("opens", func(x *row) uint64 { return x.sum.Opens }),
		table.Count("reads", func(x *row) uint64 { return x.sum.Reads }),
		table.Count("writes", func(x *row) uint64 { return x.sum.Writes }),
		table.Count("others", func(x *row) uint64 { return x.sum.Others }),
		table.Count("failed", func(x *row) uint64 { return x.sum.failed }),
		table.Amount("ms", func(x *row) float64 { return x.sum.MS }),
		table.Amount("longestMs", func(x *row) float64 { return x.sum.longestMS }))...)
}
