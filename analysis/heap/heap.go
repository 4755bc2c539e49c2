package heap

import (
	"math"

	"github.com/etwgen/etwgen/analysis/internal/lives"
	"github.com/etwgen/etwgen/analysis/internal/types"
	"github.com/etwgen/etwgen/analysis/need"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
)

// An Analysis collects the snapshots in the records that a [etw.Mux] dispatches.
type Analysis struct {
	runtimes lives.Table[state]
	types    *types.Analysis
}

type runtime = lives.Runtime[state]

type state struct {
	number uint32 // of the collection that began last
	walk   *walk
	done   []*walk
	built  []*Snapshot // of done
}

// A walk is a snapshot while its events come.
type walk struct {
	graph
	number       uint32
	at           float64
	typeOf       map[uint64]uint32
	typeIDs      []uint64
	lastID       uint64
	last         uint32
	expected     uint64 // references that the objects have
	nodes, edges uint32 // index of the next event of each kind
	gap          bool
	lost         int
	bytes        uint64 // of all objects: no sum of sizes is larger
	cut          int    // objects whose sizes do not fit a sum
	roots        []rawRoot
	pairs        []rawPair
}

type rawRoot struct {
	addr uint64
	kind rootKind
	// name is that of a static field. The event does not say which type declares
	// it: the type in it is that of the object.
	name string
}

type rawPair struct{ key, value uint64 }

// A rootKind is the kind of root that keeps an object alive. Those that come first make the
// better paths.
type rootKind uint8

const (
	rootStatic rootKind = iota
	rootThreadStatic
	rootHandle
	rootSizedRef
	rootCOM
	rootStack
	rootFinalizer
	rootOther
)

var rootNames = [...]string{"static", "thread static", "handle", "sized reference", "COM", "stack", "finalizer queue", "other"}

func (k rootKind) String() string { return rootNames[k] }

func kindOf(k clr.GCBulkRootKind) rootKind {
	switch k {
	case clr.GCBulkRootKindStack:
		return rootStack
	case clr.GCBulkRootKindFinalizer:
		return rootFinalizer
	case clr.GCBulkRootKindHandle:
		return rootHandle
	}
	return rootOther
}

// Needs are a snapshot, and so make the collection that it is of. The level is that of
// dotnet-gcdump.
var Needs = []need.Need{{What: "snapshots of the heap", Provider: need.CLR, Keywords: 0x1980001, Names: "GC, Type, GCHeapDump, GCHeapCollect and GCHeapAndTypeNames", Level: etw.LevelVerbose, Events: [2]uint16{18}}}

// New returns an analysis whose handlers are registered at mux.
func New(mux *etw.Mux) *Analysis {
	defer need.Ask(mux, Needs)()
	a := &Analysis{types: types.Of(mux)}
	rts := &a.runtimes
	rts.Watch(mux)
	lives.On(rts, mux, func(rt *runtime, _ *etw.Record, e *clr.AnyGCStart) {
		if e.Count != rt.State.number { // .NET Framework sends it twice
			rt.State.finish()
		}
		rt.State.number = e.Count
	})
	lives.On(rts, mux, func(rt *runtime, _ *etw.Record, e *clr.AnyGCEnd) {
		if w := rt.State.walk; w != nil && w.number == e.Count {
			rt.State.finish()
		}
	})
	lives.On(rts, mux, func(rt *runtime, _ *etw.Record, e *clr.GCBulkNode) { rt.State.on(rt).addNodes(e) })
	lives.On(rts, mux, func(rt *runtime, _ *etw.Record, e *clr.GCBulkEdge) { rt.State.on(rt).addEdges(e) })
	lives.On(rts, mux, func(rt *runtime, _ *etw.Record, _ *dumpEnd) { rt.State.finish() })
	a.handleRoots(mux)
	return a
}

func (a *Analysis) handleRoots(mux *etw.Mux) {
	rts := &a.runtimes
	lives.On(rts, mux, func(rt *runtime, _ *etw.Record, e *clr.GCBulkRootEdge) {
		w := rt.State.on(rt)
		for v := range e.Values.All() {
			if v.GCRootFlag&clr.GCRootFlagsWeakRef == 0 && v.RootedNodeAddress != 0 {
				w.roots = append(w.roots, rawRoot{addr: uint64(v.RootedNodeAddress), kind: kindOf(v.GCRootKind)})
			}
		}
	})
	lives.On(rts, mux, func(rt *runtime, _ *etw.Record, e *clr.GCBulkRootStaticVar) {
		w := rt.State.on(rt)
		for v := range e.Values.All() {
			kind := rootStatic
			if v.Flags&clr.GCRootStaticVarFlagsThreadLocal != 0 {
				kind = rootThreadStatic
			}
			if v.ObjectID != 0 {
				w.roots = append(w.roots, rawRoot{v.ObjectID, kind, v.FieldName.String()})
			}
		}
	})
	lives.On(rts, mux, func(rt *runtime, _ *etw.Record, e *clr.GCBulkRootCCW) {
		w := rt.State.on(rt)
		for v := range e.Values.All() {
			if v.ObjectID != 0 {
				w.roots = append(w.roots, rawRoot{addr: v.ObjectID, kind: rootCOM})
			}
		}
	})
	lives.On(rts, mux, func(rt *runtime, _ *etw.Record, e *clr.GCBulkRootConditionalWeakTableElementEdge) {
		w := rt.State.on(rt)
		for v := range e.Values.All() {
			w.pairs = append(w.pairs, rawPair{uint64(v.GCKeyNodeID), uint64(v.GCValueNodeID)})
		}
	})
}

// on returns the walk that is under way, or begins one.
func (s *state) on(rt *runtime) *walk {
	if s.walk == nil {
		s.walk = &walk{number: s.number, at: rt.At(rt.Now), typeOf: make(map[uint64]uint32)}
	}
	return s.walk
}

// finish ends the walk, if there is one and it has objects.
func (s *state) finish() {
	if s.walk != nil && s.walk.len() > 0 {
		s.done = append(s.done, s.walk)
	}
	s.walk = nil
}

// addNodes adds the objects of an event. After a gap references cannot be assigned to
// objects, and are left out.
func (w *walk) addNodes(e *clr.GCBulkNode) {
	if e.Index != w.nodes {
		w.gap = true
	}
	if w.gap {
		w.lost++
		return
	}
	w.nodes++
	for v := range e.Values.All() {
		size := min(v.Size, math.MaxInt64-w.bytes)
		if size < v.Size {
			w.cut++
		}
		if !w.add(uint64(v.Address), size, w.typeIndex(v.TypeID), v.EdgeCount) {
			w.gap = true
			w.lost++
			return
		}
		w.bytes += size
		w.expected += v.EdgeCount
	}
}

// typeIndex numbers the types of a walk.
func (w *walk) typeIndex(id uint64) uint32 {
	if id == w.lastID && len(w.typeIDs) > 0 {
		return w.last
	}
	i, ok := w.typeOf[id]
	if !ok {
		i = uint32(len(w.typeIDs))
		w.typeOf[id] = i
		w.typeIDs = append(w.typeIDs, id)
	}
	w.lastID, w.last = id, i
	return i
}

// addEdges adds the references of an event, which are those of all objects in
// order.
func (w *walk) addEdges(e *clr.GCBulkEdge) {
	if e.Index != w.edges {
		w.gap = true
	}
	if w.gap {
		w.lost++
		return
	}
	w.edges++
	for v := range e.Values.All() {
		w.refs = append(w.refs, uint64(v.Value))
	}
}

// Result returns the snapshots that are complete so far. The first call after a
// snapshot came evaluates it, which takes some seconds for millions of objects.
func (a *Analysis) Result() *Result {
	res := &Result{Schema: Schema, Snapshots: []*Snapshot{}}
	for _, rt := range a.runtimes.All() {
		s := &rt.State
		for len(s.done) > 0 {
			w := s.done[0]
			s.done = s.done[1:]
			s.built = append(s.built, a.build(rt, w))
		}
		res.Snapshots = append(res.Snapshots, s.built...)
	}
	return res
}
