// Package stacks is the one shape for events that have a call stack and a weight: samples of
// the processor, allocations, exceptions, waits. Use it to ask any of them which code it is:
// it makes call trees, rankings, differences and the inputs of the packages pprof, folded,
// speedscope and html of export.
//
// While a trace is read, an analysis adds [Samples], whose frames are addresses: their code
// is known only later. Then [NewProfile] gives the frames their names. From a [Profile] come
// the top methods, the call tree, callers and callees, folding and grouping, differences,
// and the files of every format of package export.
package stacks

import (
	"cmp"
	"encoding/binary"
	"iter"
	"math"
	"slices"
	"time"

	"github.com/etwgen/etwgen/analysis/internal/when"
	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A ValueType describes a value of a sample.
type ValueType struct {
	Name string `json:"name"` // such as "time"
	Unit string `json:"unit"` // such as "nanoseconds"
}

// A Label is a fact of a sample that is no frame, such as state=managed.
type Label struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// A Sample is an event with a stack and weights.
type Sample struct {
	Time    int64 // in nanoseconds since 1970
	Process int64
	Thread  int64
	Stack   ID
	Labels  []Label
	Values  []int64 // as the Types of what it is of say
}

// A thread is one of a process.
type thread struct{ process, id int64 }

// A LabelSet is the number of a list of labels in one Samples. 0 means no labels.
type LabelSet int32

type labelNode struct {
	Label
	before LabelSet
}

// A tag is the rest of a sample beside its time, its stack and its values.
type tag struct {
	thread int32
	labels LabelSet
}

// An end is where a sample was. Rows of Samples have the numbers of ends as their stacks, those
// that were met first first, so that the data of the most frequent ones is near by.
type end struct {
	stack   ID
	other   ID    // of a pseudo: see AddShared
	pseudo  int16 // an innermost frame that is no code, from 1 on
	outside bool  // of managed code: see SetOutside
}

// rows are samples, with the tables that they refer to.
type rows struct {
	store
	tags       []tag
	tagIDs     map[tag]int32
	recentTags [512]int32 // + 1
	threads    []thread
	threadIDs  map[thread]int32
	// recentThreads are numbers of threads, + 1, by their IDs.
	recentThreads [256]int32
	labels        []labelNode // from 1 on
	labelIDs      map[labelNode]LabelSet
	sums          [maxValues]int64 // of the values of rows, but for those that were left out later
	cut           bool             // rows had more than the sums could take
	rest          Rest
}

func (s *rows) push(x row) {
	s.take(&x)
	s.append(&x)
}

// tag returns the number of a tag.
func (s *rows) tag(t tag) int32 {
	recent := &s.recentTags[(uint32(t.thread)*5+uint32(t.labels))%uint32(len(s.recentTags))]
	if *recent > 0 && s.tags[*recent-1] == t {
		return *recent - 1
	}
	if s.tagIDs == nil {
		s.tagIDs = make(map[tag]int32)
	}
	i := once(s.tagIDs, t, int32(len(s.tags)))
	if int(i) == len(s.tags) {
		s.tags = append(s.tags, t)
	}
	*recent = i + 1
	return i
}

// take adds the values of a sample to the sums. The part beyond the largest possible sum is cut
// off here, once, so that no sum of samples begins at 0 again.
func (s *rows) take(x *row) {
	for i, v := range x.values {
		if left := math.MaxInt64 - s.sums[i]; v > left {
			x.values[i], s.cut = left, true
		}
		s.sums[i] += max(x.values[i], 0)
	}
}

// takeAll is take for many samples at once, which nothing must be cut off from. Else it returns
// false and takes none.
func (s *rows) takeAll(sums [maxValues]int64) bool {
	for i, v := range sums {
		if v > math.MaxInt64-s.sums[i] {
			return false
		}
	}
	for i, v := range sums {
		s.sums[i] += v
	}
	return true
}

// Cut reports whether samples weigh less here than the trace says, since with them a sum would
// be 2^63 or more.
func (s *rows) Cut() bool { return s.cut }

func (s *rows) thread(process, id int64) int32 {
	t := thread{process, id}
	recent := &s.recentThreads[uint64(id)%uint64(len(s.recentThreads))]
	if *recent > 0 && s.threads[*recent-1] == t {
		return *recent - 1
	}
	if s.threadIDs == nil {
		s.threadIDs = make(map[thread]int32)
	}
	i := once(s.threadIDs, t, int32(len(s.threads)))
	if int(i) == len(s.threads) {
		s.threads = append(s.threads, t)
	}
	*recent = i + 1
	return i
}

// Label returns the number of labels with one more. Only its first use allocates.
func (s *rows) Label(before LabelSet, key, value string) LabelSet {
	n := labelNode{Label{key, value}, before}
	l, ok := s.labelIDs[n]
	if !ok {
		if s.labelIDs == nil {
			s.labelIDs = make(map[labelNode]LabelSet)
		}
		s.labels = append(s.labels, n)
		l = LabelSet(len(s.labels))
		s.labelIDs[n] = l
	}
	return l
}

// Labels returns the labels of a number, in the order in which they were added. It is not inlined:
// each loop over samples would have it, which calls it once a set of labels.
//
//go:noinline
func (s *rows) Labels(l LabelSet) []Label {
	var list []Label
	for ; l != 0; l = s.labels[l-1].before {
		list = append(list, s.labels[l-1].Label)
	}
	slices.Reverse(list)
	return list
}

// Samples are the samples of one kind, with addresses as frames.
type Samples struct {
	rows
	// Kind names the samples, such as "thread time".
	Kind  string
	Types []ValueType

	tree      tree
	processes map[int64]int32 // the node of a process, of which stacks are children
	pids      []int64
	ends      []end
	plainEnds [2][]int32    // those of stacks with nothing else, + 1, in managed code and outside it
	endIDs    map[end]int32 // the others
	outside   LabelSet      // see SetOutside; 0 if none are
	inside    LabelSet      // see SetUntold
	untold    LabelSet
	tells     func(pid int64) bool
	known     knownStacks
	pseudos   []string // names of frames that stand for no code
	bytes     []byte
	labelCode bool // see LabelCode
	// nodes and limit are how many nodes of the tree and how many rows are kept, and nameless
	// is how many addresses without a name are frames of profiles in any case.
	nodes, limit, nameless int
	// open are rows to which samples of their kind are added, and last is where one was.
	open    []int32
	last    int
	reading func() Reading
}

// NewSamples returns Samples of a kind. The first type is a count.
//
//go:noinline
func NewSamples(kind string, types ...ValueType) *Samples {
	return &Samples{Kind: kind, Types: types, processes: make(map[int64]int32), nodes: maxNodes, limit: maxRows, nameless: maxNameless}
}

// Len returns the number of samples, those that were summed up as one.
func (s *Samples) Len() int { return s.count }

// Grow makes room for n more samples.
func (s *Samples) Grow(n int) { s.room = s.count + n }

// Add adds a sample for a record, which has the stack.
func (s *Samples) Add(r *etw.Record, labels LabelSet, values ...int64) {
	s.add(when.Of(r), end{stack: s.Intern(r.ProcessID, r.Stack)}, tag{thread: s.thread(r.ProcessID, r.ThreadID), labels: labels}, values)
}

// AddFrames is Add for a record whose stack came apart from it: see [system.BindStacks].
//
// [system.BindStacks]: https://pkg.go.dev/github.com/etwgen/etwgen/analysis/system#BindStacks
func (s *Samples) AddFrames(r *etw.Record, frames []uint64, labels LabelSet, values ...int64) {
	s.add(when.Of(r), end{stack: s.InternAddresses(r.ProcessID, frames)}, tag{thread: s.thread(r.ProcessID, r.ThreadID), labels: labels}, values)
}

// AddStack adds a sample of a stack that Intern has returned, taken at a time.
func (s *Samples) AddStack(at time.Time, process, thread int64, stack ID, labels LabelSet, values ...int64) {
	s.add(at.UnixNano(), end{stack: stack}, tag{thread: s.thread(process, thread), labels: labels}, values)
}

// AddPseudo is AddStack for a sample with an innermost frame that stands for no code,
// such as a pause.
func (s *Samples) AddPseudo(at time.Time, process, thread int64, stack ID, name string, labels LabelSet, values ...int64) {
	s.AddShared(at, process, thread, stack, stack, name, labels, values...)
}

// AddShared is AddPseudo for a sample that is between two stacks of its thread, of which the frames are
// sure that called from the same place in both, and the one that they called if it is of the same
// method. A stack of 0 has none.
func (s *Samples) AddShared(at time.Time, process, thread int64, stack, other ID, name string, labels LabelSet, values ...int64) {
	i := slices.Index(s.pseudos, name)
	if i < 0 {
		i = len(s.pseudos)
		s.pseudos = append(s.pseudos, name)
	}
	s.add(at.UnixNano(), end{stack: stack, other: other, pseudo: int16(i + 1)}, tag{thread: s.thread(process, thread), labels: labels}, values)
}

// Intern returns the number of a stack of a process. Only the first use of a stack
// allocates.
func (s *Samples) Intern(process int64, stack etw.Stack) ID {
	n := stack.Len()
	if n == 0 {
		return 0
	}
	top := s.process(process)
	hash := s.known.hash(top, stack)
	if id := s.known.find(hash); id != 0 {
		return id
	}
	at, room := top, true
	for i := n - 1; i >= 0 && room; i-- {
		at, room = s.within(at, stack.At(i))
	}
	if room {
		s.known.add(hash, ID(at))
	}
	return ID(at)
}

// InternAddresses is Intern for a stack that is in no record: the addresses, the
// innermost first.
func (s *Samples) InternAddresses(process int64, frames []uint64) ID {
	s.bytes = s.bytes[:0]
	for _, f := range frames {
		if f == cutKey { // whoever bound the stack had no room for it
			s.rest.CutStacks++
		}
		s.bytes = binary.LittleEndian.AppendUint64(s.bytes, f)
	}
	return s.Intern(process, etw.Stack{Addresses: s.bytes, PtrSize: etw.Ptr64})
}

// process returns the node below which the stacks of a process are.
func (s *Samples) process(pid int64) int32 {
	if n, ok := s.processes[pid]; ok {
		return n
	}
	n := s.tree.child(0, uint64(len(s.pids)))
	s.pids = append(s.pids, pid)
	s.processes[pid] = n
	return n
}

// isTop reports whether a node is that of a process.
func (s *Samples) isTop(n int32) bool { return n == 0 || s.tree.nodes[n].parent == 0 }

// Stack returns the addresses of a stack.
func (s *Samples) Stack(id ID) Stack {
	var list Stack
	for n := int32(id); !s.isTop(n); n = s.tree.nodes[n].parent {
		if key := s.tree.nodes[n].key; key != cutKey {
			list = append(list, key)
		}
	}
	return list
}

// All iterates over the samples in the order in which they were added.
func (s *Samples) All() iter.Seq[Sample] { return s.rows.all(len(s.Types), s.stacks()) }

// end returns the number of an end.
func (s *Samples) end(e end) ID {
	next := int32(len(s.ends))
	if e.pseudo != 0 {
		if s.endIDs == nil {
			s.endIDs = make(map[end]int32)
		}
		if next = once(s.endIDs, e, next); int(next) == len(s.ends) {
			s.ends = append(s.ends, e)
		}
		return ID(next)
	}
	known := &s.plainEnds[0]
	if e.outside {
		known = &s.plainEnds[1]
	}
	if int(e.stack) >= len(*known) {
		*known = append(*known, make([]int32, s.tree.size()-len(*known))...)
	}
	if n := (*known)[e.stack]; n > 0 {
		return ID(n - 1)
	}
	(*known)[e.stack] = next + 1
	s.ends = append(s.ends, e)
	return ID(next)
}

// stacks returns the stacks of ends.
func (s *Samples) stacks() []ID {
	list := make([]ID, len(s.ends))
	for i, e := range s.ends {
		if list[i] = e.stack; e.pseudo != 0 {
			at, _, _ := s.tree.common(int32(e.stack), int32(e.other))
			list[i] = ID(at)
		}
	}
	return list
}

// all iterates over the samples, with the stacks that into has for theirs: see each.
func (s *rows) all(types int, into []ID) iter.Seq[Sample] {
	return func(yield func(Sample) bool) {
		sample := s.sampler(types)
		for _, x := range s.each(into) {
			if !yield(sample(x)) {
				return
			}
		}
	}
}

// sampler returns a function that makes Samples of rows. Those with equal labels share them.
func (s *rows) sampler(types int) func(*row) Sample {
	lists := make([][]Label, len(s.labels)+1)
	var room []int64 // for values, which are for whoever takes a sample to keep
	return func(x *row) Sample {
		t := &s.tags[x.tag]
		if t.labels != 0 && lists[t.labels] == nil {
			lists[t.labels] = s.Labels(t.labels)
		}
		if len(room) < types {
			room = make([]int64, min(s.count, 512)*types)
		}
		values := room[:types:types]
		room = room[types:]
		copy(values, x.values[:])
		thread := &s.threads[t.thread]
		return Sample{Time: x.at, Process: thread.process, Thread: thread.id, Stack: x.stack, Labels: lists[t.labels], Values: values}
	}
}

// A Weight is the weight of one stack with one set of labels.
type Weight struct {
	Labels []Label
	Stack  Stack
	Values [maxValues]int64
}

// Label returns the value of a label, or "".
func (w *Weight) Label(key string) string {
	for _, l := range w.Labels {
		if l.Key == key {
			return l.Value
		}
	}
	return ""
}

// Sum returns the sums of each stack with each set of labels, those with the largest
// last value first.
func (s *Samples) Sum() []Weight {
	return s.sumBy(func(x *row) LabelSet { return s.tags[x.tag].labels })
}

// SumByStack is Sum over all labels.
func (s *Samples) SumByStack() []Weight { return s.sumBy(func(*row) LabelSet { return 0 }) }

func (s *Samples) sumBy(labelsOf func(*row) LabelSet) []Weight {
	type key struct {
		stack  ID
		labels LabelSet
	}
	sums := make(map[key]*Weight)
	for _, x := range s.each(s.stacks()) {
		k := key{x.stack, labelsOf(x)}
		w := sums[k]
		if w == nil {
			w = &Weight{Labels: s.Labels(k.labels), Stack: s.Stack(x.stack)}
			sums[k] = w
		}
		for v := range x.values {
			w.Values[v] += x.values[v]
		}
	}
	list := make([]Weight, 0, len(sums))
	for _, w := range sums {
		list = append(list, *w)
	}
	last := len(s.Types) - 1
	order.Sort(list, func(a, b Weight) int {
		return cmp.Or(cmp.Compare(b.Values[last], a.Values[last]), cmp.Compare(b.Values[0], a.Values[0]),
			slices.CompareFunc(a.Labels, b.Labels, func(a, b Label) int { return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Value, b.Value)) }), slices.Compare(a.Stack, b.Stack))
	})
	return list
}

// Derive returns Samples without samples that have the same stacks, under the same
// numbers. It is of use as long as s has no more stacks.
func (s *Samples) Derive() *Samples {
	d := *s
	d.rows, d.open = rows{rest: Rest{CutStacks: s.rest.CutStacks}}, nil
	d.ends, d.plainEnds, d.endIDs, d.outside, d.inside, d.untold, d.tells = nil, [2][]int32{}, nil, 0, 0, 0, nil
	return &d
}
