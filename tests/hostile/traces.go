package main

import (
	"fmt"
	"math/rand/v2"
	"runtime/metrics"
	"slices"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/hostile/mutate"
)

// traces mutates traces and reads them.
type traces struct {
	*campaign
	subjects  []*subject
	weights   []int // cumulative
	mutations []mutate.Mutation
	kept      keptTable
	dir       string // for mutants as files
	room      []byte
	seen      []int            // how often each record of the subject was delivered
	got       []int            // the numbers of what was delivered, -1 for unknown
	clones    []*etw.Record    // of some of them
	as        []uint64         // the digests that the clones had
	sample    []metrics.Sample // of the memory that was allocated
}

// newTraces reads the subjects.
func newTraces(c *campaign, files []*mutate.Trace, dir string) (*traces, error) {
	t := &traces{campaign: c, mutations: mutate.Mutations, dir: dir, kept: make(keptTable), sample: []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}}
	sum := 0
	for _, f := range files {
		s, err := newSubject(f)
		if err != nil {
			return nil, err
		}
		t.subjects = append(t.subjects, s)
		// Each file gets about the same time.
		sum += 1 + 1<<24/(len(f.Data)+1<<11)
		t.weights = append(t.weights, sum)
	}
	return t, nil
}

// one mutates one of the traces at random.
func (t *traces) one(r *rand.Rand) {
	w, _ := slices.BinarySearch(t.weights, 1+r.IntN(t.weights[len(t.weights)-1]))
	s := t.subjects[w]
	m := t.mutations[r.IntN(len(t.mutations))]
	sorted := r.IntN(2) == 0
	mutant := m.Apply(r, s.Trace, t.room)
	t.room = mutant.Data
	t.run(s, m, mutant, sorted)
}

// sweep flips every bit of every header, puts every extreme number at each of its places, and
// cuts every trace at many places. It stops if the campaign is over.
func (t *traces) sweep(cuts int) {
	flip, extreme, cut := mutate.Named(mutate.OneFlip), mutate.Named(mutate.Extreme), mutate.Named(mutate.Truncation)
	try := func(s *subject, m *mutate.Mutation, mutant mutate.Mutant, what string, odd int) {
		t.room = mutant.Data
		t.begin(s.Name+": "+what, mutant.Data)
		t.run(s, *m, mutant, odd%2 == 0)
	}
	flips, extremes, cutting := t.wants(flip), t.wants(extreme), t.wants(cut)
	for _, s := range t.subjects {
		for _, h := range s.Headers() {
			for bit := 8 * h.Start; bit < 8*h.End && flips && !t.over(); bit++ {
				try(s, flip, s.Flip(bit, t.room), fmt.Sprintf("bit %d of byte %d flipped", bit%8, bit/8), bit)
			}
			for at := h.Start; at < h.End && extremes; at++ {
				for i := 0; i < 2*mutate.Extremes && !t.over(); i++ {
					try(s, extreme, s.Extreme(at, i/2, t.room), fmt.Sprintf("extreme number %d at byte %d", i/2, at), i)
				}
			}
		}
		for i := 0; i < cuts && cutting && !t.over(); i++ {
			n := i * len(s.Data) / cuts
			try(s, cut, s.Cut(n, t.room), fmt.Sprintf("cut after %d bytes", n), i)
		}
	}
}

// wants reports whether a mutation is one of those that are tried.
func (t *traces) wants(m *mutate.Mutation) bool {
	return slices.ContainsFunc(t.mutations, func(x mutate.Mutation) bool { return x.Name == m.Name })
}

// run reads a mutant and holds it against the promises.
func (t *traces) run(s *subject, m mutate.Mutation, mutant mutate.Mutant, sorted bool) {
	t.at = fmt.Sprintf("%s: %s (sorted %t, touched %v)", s.Name, m.Name, sorted, mutant.Touched[:min(len(mutant.Touched), 3)])
	t.mutant = mutant.Data
	t.seen = slices.Grow(t.seen[:0], len(s.total))[:len(s.total)]
	clear(t.seen)
	t.got, t.clones, t.as = t.got[:0], t.clones[:0], t.as[:0]
	o, broken := t.read(s, mutant.Data, sorted)
	if broken != nil {
		t.find("promise", "%v", broken)
	}
	for i, c := range t.clones {
		if digest(c) != t.as[i] {
			t.find("clone", "a clone has changed")
			break
		}
	}
	if m.Name == mutate.Truncation {
		t.truncated(s, o, sorted)
	}
	t.account(s, m, mutant, o)
	if t.executions%64 == 32 {
		t.analyze(s, mutant.Data, sorted)
	}
	if t.executions%64 == 0 {
		if err := t.frontDoor(s, mutant.Data, o); err != nil {
			t.find("front door", "%v", err)
		}
	}
}

// read reads a mutant. Of some it also shows the records; of the others it checks
// how much memory reading takes.
func (t *traces) read(s *subject, data []byte, sorted bool) (outcome, error) {
	if t.executions%16 == 0 {
		v := newViewer()
		return read(s.Format, data, sorted, func(rec *etw.Record) {
			t.deliver(s, rec)
			t.show(v, rec)
		})
	}
	before := t.allocated()
	o, broken := read(s.Format, data, sorted, func(rec *etw.Record) { t.deliver(s, rec) })
	// The sum of allocations is more than the memory held at once.
	most := uint64(16<<20 + 16*len(s.Data))
	if s.Format == mutate.PerfPacked {
		most += 2 * 8 << 20 // of a frame of zstd, whose beginning is unpacked before
	}
	if used := t.allocated() - before; used > most {
		t.find("memory", "%d MiB allocated for %d bytes", used>>20, len(data))
	}
	return o, broken
}

// deliver notes a record.
func (t *traces) deliver(s *subject, rec *etw.Record) {
	d := digest(rec)
	n, known := s.numbers[d]
	if known {
		t.seen[n]++
	} else {
		n = -1
	}
	t.got = append(t.got, n)
	if len(t.got)%5 == 1 && len(t.clones) < 8 {
		t.clones, t.as = append(t.clones, rec.Clone()), append(t.as, d)
	}
}

// truncated checks that the records that are delivered of a trace that is cut off are part of
// it, and of a stream in file order the beginning. A log of Windows goes round.
func (t *traces) truncated(s *subject, o outcome, sorted bool) {
	for n, times := range t.seen {
		if times > s.total[n] {
			t.find("invented", "a record is delivered %d times, the trace has it %d times", times, s.total[n])
			return
		}
	}
	if s.Format.IsPerf() {
		return // names are behind the records, which say less without them
	}
	if slices.Contains(t.got, -1) {
		t.find("invented", "a record is delivered that the trace does not have")
	}
	if !s.Format.IsETL() && s.Format != mutate.EVTX && !sorted && !slices.Equal(t.got, s.order[:min(len(t.got), len(s.order))]) {
		t.find("order", "what is delivered is not the beginning of the stream")
	}
}

// account counts the records kept of the parts that were not touched, and whether a loss was
// reported.
func (t *traces) account(s *subject, m mutate.Mutation, mutant mutate.Mutant, o outcome) {
	want, kept := 0, 0
	row := t.kept.row(m.Name, s)
	foremost := true
	for i, p := range s.Parts {
		if p.Touches(mutant.Touched) {
			if foremost && want > 0 {
				row.foremost++
				row.before += float64(kept) / float64(want)
			}
			foremost = false
			continue
		}
		want += len(s.parts[i])
		for _, n := range s.parts[i] {
			if t.seen[n] > 0 {
				t.seen[n]--
				kept++
			}
		}
	}
	row.executions++
	if want > 0 {
		row.measured++
		row.kept += float64(kept) / float64(want)
	}
	if len(t.got) >= len(s.order) || !s.clean() {
		return
	}
	row.lossy++
	if !o.reports(s.intact) {
		row.unsaid++
		// A record of perf has nothing to tell that its type is as it was.
		if m.Announced && (!s.Format.IsPerf() || m.Name == mutate.Truncation) {
			t.find("unsaid", "%d of %d records, and no word of it", len(t.got), len(s.order))
		}
	}
}

// allocated returns how many bytes have been allocated so far.
func (t *traces) allocated() uint64 {
	metrics.Read(t.sample)
	return t.sample[0].Value.Uint64()
}

// alarms returns the messages about traces that are intact.
func (t *traces) alarms() []string {
	var names []string
	for _, s := range t.subjects {
		if !s.clean() {
			names = append(names, fmt.Sprintf("%s: %v", s.Name, s.intact.err))
		}
	}
	return names
}
