package heap

import "github.com/etwgen/etwgen/analysis/measure"

// Schema is the version of the JSON form of a [Result]. Fields may be added to a
// version; one that is removed, or changes its meaning, makes a new version.
const Schema = 1

// A Result is the snapshots of heaps in a trace.
type Result struct {
	Schema    int         `json:"schema"`
	Snapshots []*Snapshot `json:"snapshots"`

	unmet bool // no type is one that was asked for
}

// A Snapshot is the heap of one runtime at one collection.
type Snapshot struct {
	PID         int64  `json:"pid"`
	CLRInstance uint16 `json:"clrInstance"`
	Life        int    `json:"life,omitempty"`
	Number      uint32 `json:"number,omitempty"` // of the collection
	// AtMS is unknown in a dump, which does not tell when in the life of its process it was made.
	AtMS measure.Float `json:"atMs"`

	// Objects and Bytes are all that the runtime walked over.
	Objects int    `json:"objects"`
	Bytes   uint64 `json:"bytes"`
	// References lead from object to object. Of those that are Dangling, the target
	// is no object of the snapshot: it is in a part of the heap that is not walked.
	References int `json:"references"`
	Dangling   int `json:"dangling"`
	// Complete says that nothing of the snapshot is missing. Else everything up to
	// the first gap is here; MissingReferences did not come, and LostEvents came
	// after the gap and are left out.
	Complete          bool `json:"complete"`
	MissingReferences int  `json:"missingReferences,omitempty"`
	LostEvents        int  `json:"lostEvents,omitempty"`
	// CutObjects are larger than can be: with them all sizes would add up to 2^63 bytes
	// and more, and so they count up to there.
	CutObjects int `json:"cutObjects,omitempty"`

	// ReachableBytes are of the objects that the roots keep alive; the others are
	// waiting for their finalizers, or are only held weakly.
	ReachableObjects   int        `json:"reachableObjects"`
	ReachableBytes     uint64     `json:"reachableBytes"`
	UnreachableObjects int        `json:"unreachableObjects"`
	UnreachableBytes   uint64     `json:"unreachableBytes"`
	Roots              []RootKind `json:"roots"`
	Types              []Type     `json:"types"` // by bytes
	// Held says of types who holds them: of those that retain most, or that were asked for.
	Held []*Held `json:"held,omitempty"`
	// Largest has the hundred objects that retain most.
	Largest []Object `json:"largest"`

	graph *graph
	tree  *tree
	names []string // of types
	roots []root
	from  []uint32 // the object before each on a shortest path, when asked for
	// nearest are the objects that roots keep alive, in the order of their distance.
	nearest []uint32
}

// A RootKind is the roots of one kind.
type RootKind struct {
	Kind  string `json:"kind"`
	Count int    `json:"count"`
}

// A Type is the objects of one type.
type Type struct {
	Type  string `json:"type"`
	Count int    `json:"count"`
	Bytes uint64 `json:"bytes"`
	// RetainedBytes would be free without all objects of the type.
	RetainedBytes uint64 `json:"retainedBytes"`
	// Share is Bytes of all.
	SharePercent measure.Float `json:"sharePercent,omitzero"`
}

// An Object is one object.
type Object struct {
	Address       string `json:"address"`
	Type          string `json:"type"`
	Bytes         uint64 `json:"bytes"`
	RetainedBytes uint64 `json:"retainedBytes"`
	// Path leads from a root to the object: the root, then types.
	Path []string `json:"path,omitempty"`
}

// A Change is the difference of one type in two snapshots.
type Change struct {
	Type          string `json:"type"`
	Count         int    `json:"count"`
	Bytes         int64  `json:"bytes"`
	RetainedBytes int64  `json:"retainedBytes"`
}

// mostHeld is of how many types a snapshot says who holds them, where nobody asks for others.
const mostHeld = 10

// Hold has all snapshots say who holds the types that are wanted.
func (r *Result) Hold(wanted func(name string) bool) {
	r.unmet = true
	for _, s := range r.Snapshots {
		s.Held = s.Holders(wanted)
		r.unmet = r.unmet && len(s.Held) == 0
	}
}
