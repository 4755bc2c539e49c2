package etl

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"runtime"
	"slices"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/etwgen/etwgen/runtime/classic"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/schema"
)

// A prepass reads all files once before the first record that may need it is delivered, for
// facts that come later than the records: schemas, whom kernel events are about, and records
// that the user of the Reader wants before.
type prepass struct {
	*Reader
	next atomic.Int64 // the first of the plan that no goroutine reads
	kept atomic.Int64 // bytes of what was learned
	// late counts the call stacks that are in a later buffer than their event.
	late atomic.Int64
	// blocks are those of the plan, if all of them may stay loaded: see keepBlocks.
	blocks     []*block
	blockBytes atomic.Int64

	foreseen foreseen

	mu      sync.Mutex
	schemas []schemaRecord
	// payloads holds the payload of each schema once: programs write the same
	// manifest whenever they start.
	payloads map[uint64][]byte
}

// A place is where a record comes among all of them.
type place struct {
	key   int64
	block int // in the plan
	entry int // in the block
}

// compare orders places as records are delivered.
func (p place) compare(q place) int {
	return cmp.Or(cmp.Compare(p.key, q.key), cmp.Compare(p.block, q.block), cmp.Compare(p.entry, q.entry))
}

// A schemaRecord is a record that holds a schema, or a part of one.
type schemaRecord struct {
	place
	etw.Key
	process, thread int64
	payload         []byte
}

// schemaRecordSize is about the size of a schemaRecord without its payload.
const schemaRecordSize = 120

var payloadSeed = maphash.MakeSeed()

var eventTrace, _ = classic.KernelClass(0, 0)

// isOpening reports whether a record tells of the session, as the first ones of a
// trace do: then nothing that comes later says more of it. So one sees that there is
// a trace, and which, before all of it was read.
func isOpening(r *etw.Record) bool {
	return r.Kind == etw.KindClassic && r.Provider == eventTrace && r.ProcessID >= 0 && r.ThreadID >= 0
}

// prepare makes the prepass.
func (r *Reader) prepare() error {
	if !r.options.schemas && !r.options.attribution && r.options.foresight == nil {
		return nil
	}
	p := prepass{Reader: r, payloads: make(map[uint64][]byte)}
	if p.mayKeep() {
		p.blocks = make([]*block, len(r.ahead.plan))
	}
	found := make([][]classic.Owners, min(runtime.GOMAXPROCS(0), len(r.ahead.plan)))
	guards := make([]guard, len(found))
	r.settled = make([]bool, len(r.ahead.plan))
	var wg sync.WaitGroup
	for i := range found {
		found[i] = make([]classic.Owners, len(r.files))
		wg.Go(func() { guards[i].run(r.inMemory(), func() { p.collect(found[i]) }) })
	}
	wg.Wait()
	for i := range guards {
		guards[i].raise()
	}
	if err := r.canceled(); err != nil {
		return err
	}
	if p.blocks != nil && p.blockBytes.Load() <= p.blockLimit() && !slices.Contains(p.blocks, nil) {
		r.ahead.kept = p.blocks[r.ahead.next:] // before these are some that are loaded anyway
	}
	if p.kept.Load() > p.keepLimit() {
		r.stats.Damage.Add(r.files[0].damageAt(0, "schemas and owners", fmt.Errorf(
			"%w: they take more than %d bytes", ErrLimit, p.keepLimit())))
	}
	if n := p.late.Load(); n > r.options.late {
		r.stats.Damage.Add(r.files[0].damageAt(0, "owners", fmt.Errorf(
			"%w: %d call stacks come later than in the buffer of their events, and %d are looked at", ErrLimit, n, r.options.late)))
	}
	if r.options.schemas {
		r.schemas = p.learn()
	}
	if r.options.attribution {
		r.owners = make([]classic.Owners, len(r.files))
		for _, owners := range found {
			for i := range owners {
				r.owners[i].Merge(&owners[i])
			}
		}
		for i := range r.merge.open {
			r.learn(r.merge.open[i].block)
		}
	}
	p.show()
	return nil
}

// keepLimit bounds the data that a prepass keeps. In a sound file it is much less; in one
// that decompresses to far more than its size, it could be anything.
func (p *prepass) keepLimit() int64 { return 4<<20 + 2*p.size }

// mostLate is how many call stacks are kept whose events are in earlier buffers.
const mostLate = 1 << 22

// Limits of the blocks that stay loaded from the prepass on, so that a file of
// usual size is decompressed once. A sound one unpacks to four to six times its
// size.
const (
	maxBlockBytes   = 64 << 20
	blockRatio      = 6
	freeBlockMemory = 4 << 20
)

func (p *prepass) blockLimit() int64 {
	return min(freeBlockMemory+blockRatio*p.size, maxBlockBytes)
}

// mayKeep reports whether blocks are worth keeping, and may be few enough. Uncompressed
// buffers are read again in the time that new memory for it takes, unless it is in memory:
// then only the places of records are kept.
func (p *prepass) mayKeep() bool {
	size, compressed := int64(0), false
	for i := range p.ahead.plan {
		ref := &p.ahead.plan[i]
		if ref.compressed || p.files[ref.file].memory == nil {
			size += ref.memory()
		}
		compressed = compressed || ref.compressed
	}
	return (compressed || p.inMemory()) && size <= p.blockLimit()
}

// inMemory reports whether all files are.
func (r *Reader) inMemory() bool {
	return !slices.ContainsFunc(r.files, func(f *file) bool { return f.memory == nil })
}

// keep keeps b, block i of the plan, loaded if there is room, and returns it or another
// to load the next into.
func (p *prepass) keep(i int, b *block) *block {
	if p.blocks == nil {
		return b
	}
	entries := slices.Clone(b.entries) // without the room for more
	next := &block{entries: b.entries}
	b.entries = entries
	if p.blockBytes.Add(b.memory()) > p.blockLimit() {
		b.entries = next.entries
		return b
	}
	p.blocks[i] = b
	return next
}

// collect reads the blocks that no other goroutine reads.
func (p *prepass) collect(owners []classic.Owners) {
	b := new(block)
	var rec etw.Record
	var f filler
	quick := p.options.foresight == nil
	for p.canceled() == nil && p.kept.Load() <= p.keepLimit() {
		i := int(p.next.Add(1)) - 1
		if i >= len(p.ahead.plan) {
			return
		}
		b.ref = p.ahead.plan[i]
		b.file = p.files[b.ref.file]
		b.load()
		own := &owners[b.file.clockGroup]
		before, stacks := own.Size(), false
		for j, e := range b.entries {
			record := b.record(e)
			if quick && !mayTell(record) {
				continue
			}
			use := p.options.use(record)
			if use == (uses{}) {
				continue
			}
			f.fill(&rec, b, record, e.key)
			if use.schema {
				p.addSchema(&rec, schemaRecord{place: place{e.key, i, j}})
			}
			switch {
			case !use.owner:
			case b.hasEventOf(&rec):
				stacks = true
			case !classic.IsStack(&rec) || p.late.Add(1) <= p.options.late:
				own.Learn(&rec)
			}
			if use.foreseen {
				p.foreseen.add(&rec, place{e.key, i, j}, p.size)
			}
		}
		p.settled[i] = !stacks
		p.kept.Add(int64(own.Size() - before))
		b = p.keep(i, b)
	}
}

// hasEventOf reports whether r is the call stack of an event that is not before b, as most are. Its
// owner is learned when b is opened, which is before the event is delivered: so those that are kept
// until then are few in a trace of any size.
func (b *block) hasEventOf(r *etw.Record) bool {
	return classic.IsStack(r) && b.file.key(classic.StackTime(r)) >= b.ref.first
}

// learn has the owners of the call stacks known that the prepass passed over.
func (r *Reader) learn(b *block) {
	var rec etw.Record
	var f filler
	for _, e := range b.entries {
		record := b.record(e)
		if !mayTell(record) || !r.options.use(record).owner {
			continue
		}
		if f.fill(&rec, b, record, e.key); b.hasEventOf(&rec) {
			r.owners[b.file.clockGroup].Learn(&rec)
		}
	}
}

// uses names the uses of a record.
type uses struct{ schema, owner, foreseen bool }

// mayTell reports whether a record, by its kind and id or group, may tell of schemas or
// owners. Few do, and the rest of use takes longer than all else that is done for one in
// the prepass.
func mayTell(record []byte) bool {
	if record[3] != markerRecord {
		return false
	}
	switch record[2] {
	case kindEvent32, kindEvent64:
		return schema.HoldsID(etw.KindManifest, binary.LittleEndian.Uint16(record[0x28:]))
	case kindFull32, kindFull64:
		return schema.HoldsID(etw.KindClassic, uint16(record[4]))
	}
	return classic.LearnsGroup(record[7])
}

// use reports the uses of a record. Only the kernel's own records tell of owners.
func (o *options) use(record []byte) uses {
	if record[3] != markerRecord {
		return uses{}
	}
	var key etw.Key
	var use uses
	switch record[2] {
	case kindEvent32, kindEvent64:
		key = etw.Key{Kind: etw.KindManifest, ID: binary.LittleEndian.Uint16(record[0x28:])}
		if use.schema = o.schemas && schema.Holds(key); o.foresight != nil {
			key.Provider, key.Version = etw.GUID(record[0x18:0x28]), record[0x2a]
		}
	case kindFull32, kindFull64:
		key = etw.Key{Kind: etw.KindClassic, Provider: etw.GUID(record[0x18:0x28]), ID: uint16(record[4]), Version: record[6]}
		use.schema = o.schemas && schema.Holds(key)
	case kindInstance32, kindInstance64:
		return uses{}
	default:
		if !o.attribution && o.foresight == nil {
			return uses{}
		}
		opcode := etw.Opcode(record[6])
		class, _ := classic.KernelClass(record[7], opcode)
		key = etw.Key{Kind: etw.KindClassic, Provider: class, ID: uint16(opcode), Version: record[0]}
		use.owner = o.attribution && classic.Learns(class, opcode)
	}
	use.foreseen = o.foresight != nil && o.foresight.wants(key)
	return use
}

// addSchema keeps the record r, which is at the place that s says.
func (p *prepass) addSchema(r *etw.Record, s schemaRecord) {
	s.Key, s.process, s.thread = r.Key(), r.ProcessID, r.ThreadID
	sum := maphash.Bytes(payloadSeed, r.Payload)
	p.mu.Lock()
	defer p.mu.Unlock()
	payload, ok := p.payloads[sum]
	if !ok || !bytes.Equal(payload, r.Payload) {
		payload = bytes.Clone(r.Payload)
		p.payloads[sum] = payload
		p.kept.Add(int64(len(payload)))
	}
	s.payload = payload
	p.schemas = append(p.schemas, s)
	p.kept.Add(schemaRecordSize)
}

// learn returns the set of the schemas that were found, which are learned in the
// order of time.
func (p *prepass) learn() *schema.Set {
	sort.Slice(p.schemas, func(i, j int) bool { return p.schemas[i].compare(p.schemas[j].place) < 0 }) // shares its code, which slices.SortFunc does not
	set := new(schema.Set)
	p.payloads = nil
	for i := range p.schemas {
		s := &p.schemas[i]
		set.Learn(&etw.Record{
			Kind: s.Kind, Provider: s.Provider, ID: s.ID, Opcode: etw.Opcode(s.ID), Version: s.Version,
			ProcessID: s.process, ThreadID: s.thread, Payload: s.payload,
		})
		s.payload = nil // as soon as no other record needs it
	}
	return set
}
